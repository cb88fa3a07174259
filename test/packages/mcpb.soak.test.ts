import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPackage } from '../../scripts/packages/manifests.ts'
import { runAlone } from '../support/program.ts'

// Packs and unpacks with the vendor's program, which npx asks the npm registry for.
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'mcpb-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the bundle for Claude Desktop runs where only Node is', { timeout: 400_000 }, () => {
  execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/packages.ts', 'mcpb'], {
    cwd: root,
    stdio: 'pipe',
  })
  const bundle = join(root, '.cache', `waymark-${readPackage().version}.mcpb`)
  const unpacked = join(folder, 'un packed')
  execFileSync('npx', ['--yes', '@anthropic-ai/mcpb@2.1.2', 'unpack', bundle, unpacked], { stdio: 'pipe' })

  const project = join(folder, 'my project')
  mkdirSync(project)
  const { server } = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))
  const places: Readonly<Record<string, string>> = { __dirname: unpacked, 'user_config.project': project }
  const words = server.mcp_config.args.map((word: string) =>
    word.replaceAll(/\$\{([\w.]+)\}/g, (whole, name: string) => places[name] ?? whole),
  )
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const mission = { name: 'From a bundle', objective: 'Be recorded.' }
  const calls = [
    { id: 1, method: 'initialize', params },
    { id: 2, method: 'tools/call', params: { name: 'start_mission', arguments: mission } },
    { id: 3, method: 'tools/call', params: { name: 'list_missions', arguments: {} } },
  ]
  const input = calls.map((call) => `${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`).join('')
  const { out } = runAlone(words, { folder: '/', environment: { HOME: folder }, input })
  const answers = out.trim().split('\n')
  expect(JSON.parse(answers[0] ?? '')).toMatchObject({ id: 1, result: { serverInfo: { name: 'waymark' } } })
  expect(JSON.parse(answers.at(-1) ?? '')).toMatchObject({
    id: 3,
    result: { structuredContent: { missions: [{ name: 'From a bundle' }] } },
  })
})
