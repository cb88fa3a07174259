import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { complaintAbout } from '../../bin/node-version.js'
import { bin, ran } from './command-line.ts'

test.each(['22.14.0', '22.20.1', '24.0.0', '30.1.2'])('Node %s is new enough', (version) => {
  expect(complaintAbout(version)).toBeNull()
})

test.each(['22.13.9', '20.20.2', '18.0.0', '0.12.1'])('Node %s is too old, and is told so', (version) => {
  expect(complaintAbout(version)).toMatch(
    new RegExp(`needs Node 22\\.14 or newer, and this is Node ${version}`),
  )
  expect(complaintAbout(version)).toContain(`npx -p node@24 node ${bin}`)
})

test('the Node of the system gets the program, or one sentence', () => {
  const node = existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath
  const surroundings = { folder: tmpdir(), environment: { PATH: '/usr/bin', XDG_CACHE_HOME: tmpdir() }, node }
  const version = ran(['--version'], surroundings).out.trim().slice(1)
  const complaint = complaintAbout(version)
  const { code, out, error } = ran([bin, '--version'], surroundings)
  expect({ code, error }).toEqual(complaint === null ? { code: 0, error: '' } : { code: 1, error: complaint })
  expect(out).toMatch(complaint === null ? /^\d+\.\d+\.\d+\n$/ : /^$/)
})

test('a program that was not built says how to build it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-unbuilt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(bin), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const surroundings = { folder, environment: { PATH: '/usr/bin', XDG_CACHE_HOME: folder } }
  const { code, error } = ran([join(folder, 'bin', 'waymark.js'), 'status'], surroundings)
  expect({ code, error }).toMatchObject({
    code: 1,
    error: expect.stringMatching(/is not built yet.*\nRun: npm run build\n$/),
  })
})
