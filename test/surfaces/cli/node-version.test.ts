import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { complaintAbout } from '../../../bin/node-version.js'
import { bin, runAlone } from '../../support/program.ts'

test.each(['22.14.0', '22.20.1', '24.0.0', '30.1.2'])('Node %s is new enough', (version) => {
  expect(complaintAbout(version)).toBeNull()
})

test.each(['22.13.9', '20.20.2', '18.0.0', '0.12.1'])('Node %s is too old, and is told so', (version) => {
  expect(complaintAbout(version)).toMatch(
    new RegExp(`needs Node 22\\.14 or newer, and this is Node ${version}`),
  )
  expect(complaintAbout(version)).toContain(`npx -p node@24 node ${bin}`)
})

/** The first Node of this machine that is too old, or null: then the tests of an old one cannot be run. */
const oldNode =
  ['/usr/bin/node', '/usr/local/bin/node'].find(
    (node) => existsSync(node) && complaintAbout(versionOf(node)) !== null,
  ) ?? null

function versionOf(node: string): string {
  return runAlone(['--version'], { folder: tmpdir(), environment: { PATH: '/usr/bin' }, node })
    .out.trim()
    .slice(1)
}

/** The program by itself in a folder, as where it was installed without a Node of its own. */
function installedAlone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-alone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(bin), join(folder, 'bin'), { recursive: true })
  cpSync(join(dirname(bin), '..', 'package.json'), join(folder, 'package.json'))
  return join(folder, 'bin', 'waymark.js')
}

test.skipIf(oldNode === null)('an old Node starts the program with the Node that came with it', () => {
  const surroundings = {
    folder: tmpdir(),
    environment: { PATH: '/usr/bin', XDG_CACHE_HOME: tmpdir() },
    node: oldNode ?? '',
  }
  const { code, out, error } = runAlone([bin, '--version'], surroundings)
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(runAlone([bin, 'no-such-command'], surroundings).code).toBe(2)
})

test.skipIf(oldNode === null)(
  'an old Node answers MCP over the one that came with it, and ends with its client',
  () => {
    const initialize = request(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    const { status, stdout } = spawnSync(oldNode ?? '', [bin, 'mcp'], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], XDG_CACHE_HOME: tmpdir(), HOME: tmpdir() },
      input: `${initialize}\n`,
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'waymark' } } })
  },
)

test.skipIf(oldNode === null)(
  'without another Node, each request of a client is answered with what to do',
  () => {
    const program = installedAlone()
    const { status, stdout, stderr } = spawnSync(oldNode ?? '', [program, 'mcp'], {
      cwd: tmpdir(),
      env: { PATH: '/usr/bin' },
      input: `${request(1, 'initialize', {})}\nnot JSON\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n${request('b', 'tools/list', {})}\n`,
      encoding: 'utf8',
    })
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const message = expect.stringMatching(
      /^Waymark needs Node 22\.14 or newer, and this is Node .*npx -p node@24/,
    )
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32000, message } },
      { jsonrpc: '2.0', id: 'b', error: { code: -32000, message } },
    ])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^waymark: Waymark needs Node 22\.14/)
  },
)

test.skipIf(oldNode === null)('without another Node, a command ends with one sentence', () => {
  const { code, out, error } = runAlone([installedAlone(), 'status'], {
    folder: tmpdir(),
    environment: { PATH: '/usr/bin' },
    node: oldNode ?? '',
  })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(error).toMatch(/^waymark: Waymark needs Node 22\.14 or newer.*\n$/)
})

function request(id: number | string, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

test('a program that was not built says how to build it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-unbuilt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(bin), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const surroundings = { folder, environment: { PATH: '/usr/bin', XDG_CACHE_HOME: folder } }
  const { code, error } = runAlone([join(folder, 'bin', 'waymark.js'), 'status'], surroundings)
  expect({ code, error }).toMatchObject({
    code: 1,
    error: expect.stringMatching(/is not built yet.*\nRun: npm run build\n$/),
  })
  const { stdout } = spawnSync(process.execPath, [join(folder, 'bin', 'waymark.js'), 'mcp'], {
    cwd: folder,
    env: surroundings.environment,
    input: `${request(7, 'initialize', {})}\n`,
    encoding: 'utf8',
  })
  expect(JSON.parse(stdout)).toMatchObject({
    id: 7,
    error: { message: expect.stringMatching(/is not built yet.* Run: npm run build$/) },
  })
})
