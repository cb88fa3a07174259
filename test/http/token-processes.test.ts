import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TokenFile } from '../../src/surfaces/http/guard/tokens.ts'
import { temporaryFolder } from '../support/git-repository.ts'

const module = join(import.meta.dirname, '../../src/surfaces/http/guard/tokens.ts')

/** A process of its own that makes tokens as a server does that starts, and ten more. */
const script = `
import { TokenFile } from ${JSON.stringify(module)}
const [folder, name] = process.argv.slice(1)
const tokens = new TokenFile(folder)
const own = [tokens.ownToken('person', 'Tess'), tokens.ownToken('agent', 'agent')]
for (let at = 0; at < 10; at += 1) tokens.add({ name: name + at, kind: 'agent', role: null, explicit: true })
process.stdout.write(JSON.stringify(own))
`

test('processes that make tokens at the same time lose none, and agree on the two own ones', async () => {
  const folder = temporaryFolder()
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (name) => {
      const words = ['--input-type=module', '--eval', script, folder, name]
      const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      let out = ''
      child.stdout.on('data', (data: Buffer) => {
        out += data.toString()
      })
      await once(child, 'close')
      return out
    }),
  )
  expect(new Set(answers).size).toBe(1)
  const tokens = new TokenFile(folder)
  expect(JSON.parse(answers[0] ?? '')).toEqual([
    tokens.ownToken('person', 'Tess'),
    tokens.ownToken('agent', 'agent'),
  ])
  expect(tokens.entries()).toHaveLength(42)
})

test('the lock of a process that was killed holds nobody up', () => {
  const folder = temporaryFolder()
  const lock = join(folder, 'tokens.json.lock')
  writeFileSync(lock, '')
  const longAgo = Date.now() / 1000 - 3600
  utimesSync(lock, longAgo, longAgo)
  expect(new TokenFile(folder).ownToken('agent', 'agent')).toMatch(/^[\w-]{43}$/)
})
