import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bin } from '../../support/program.ts'
import { openCommandLine } from './command-line.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a-client', version: '1' },
  },
}

test('TM-001 waymark mcp reads JSON-RPC on stdin, answers on stdout, and ends with its input', () => {
  const { folder, environment } = openCommandLine()
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'mcp'], {
    cwd: folder,
    env: { ...environment },
    input: `${JSON.stringify(initialize)}\n`,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const lines = stdout.trim().split('\n')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 1, result: { serverInfo: { name: 'waymark' } } })
})

test.each([
  [['--toolset', 'plan'], 'mcp does not take --toolset.', 'Did you mean --toolsets?'],
  [['--toolsets', 'plan,all'], 'There is no toolset "all".', 'plan, track, gate'],
  [['--tool-names', 'long'], '--tool-names cannot be "long": choose plain or dotted.', 'Usage:'],
  [['now'], 'mcp does not take now.', 'Usage:'],
])('a server that is not understood does not start: %j', (words, message, hint) => {
  const { run } = openCommandLine()
  const { code, out, error } = run('mcp', ...words)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(error.split('\n')[0]).toBe(`waymark: ${message}`)
  expect(error).toContain(hint)
})
