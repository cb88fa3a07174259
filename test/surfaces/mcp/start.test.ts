import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../support/git-repository.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

const root = join(import.meta.dirname, '..', '..', '..')

interface Loaded {
  readonly modules: readonly string[]
  readonly builtins: readonly string[]
}

/** What a server has loaded by the time it answers `initialize`. */
async function loadedAtFirstAnswer(): Promise<Loaded> {
  const home = temporaryFolder()
  const list = join(home, 'loaded.json')
  const server = spawn(process.execPath, [join(root, 'bin/waymark.js'), 'mcp'], {
    cwd: home,
    env: {
      ...serverEnvironment(home),
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'what-loads.mjs')}`,
      WHAT_LOADS: list,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void server.kill())
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  }
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  await once(server.stdout, 'data')
  server.stdin.end()
  return JSON.parse(readFileSync(list, 'utf8'))
}

test('before its first answer a server loads what answers it, and no SDK', async () => {
  const { modules, builtins } = await loadedAtFirstAnswer()
  const own = modules.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url))
  const bytes = own.map((path) => statSync(path).size).reduce((sum, size) => sum + size, 0)
  expect(bytes).toBeGreaterThan(5_000)
  expect(bytes, own.join('\n')).toBeLessThan(60_000)
  for (const name of ['child_process', 'sqlite', 'zlib', 'http']) {
    expect(builtins).not.toContain(name)
  }
})
