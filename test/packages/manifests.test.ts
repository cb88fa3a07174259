import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { manifests, readPackage } from '../../scripts/packages/manifests.ts'

const root = join(import.meta.dirname, '..', '..')
const about = readPackage()
const made = manifests(about)
const published = manifests({
  ...about,
  homepage: 'https://example.org/waymark#readme',
  repository: { url: 'git+https://example.org/waymark.git' },
  mcpName: 'org.example/waymark',
})

test('the manifests that are kept are those of the present package: npm run packages writes them', () => {
  for (const [path, text] of made) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text)
})

test.each([
  ['plugin/portable/plugin.json', 'agent-plugin-1.0.0'],
  ['mcpb/manifest.json', 'mcpb-0.4'],
  ['server.json', 'mcp-server-2025-12-11'],
])('%s is valid by its published schema', (path, schema) => {
  const wanted = read(`test/packages/schemas/${schema}.json`)
  const Validator = JSON.stringify(wanted).includes('draft-07') ? Ajv : Ajv2020
  const ajv = new Validator({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(wanted)
  validate(JSON.parse(published.get(path) ?? ''))
  expect(validate.errors).toBeNull()
})

test('nothing names an address before the package does', () => {
  const addresses = Object.keys(about).filter((key) =>
    ['homepage', 'bugs', 'repository', 'mcpName'].includes(key),
  )
  expect(addresses).toEqual([])
  expect([...made.keys()]).not.toContain('server.json')
  expect([...made.values()].filter((text) => /"(?:homepage|repository|websiteUrl)"/.test(text))).toEqual([])
})

test('every path that a manifest of the plugin names is there', () => {
  const named = [...made].flatMap(([path, text]) =>
    path.startsWith('plugin/') && path.endsWith('.json')
      ? pathsIn(JSON.parse(text)).map((name) => join(path.replace(/(?:\.[a-z]+-plugin\/)?[^/]+$/, ''), name))
      : [],
  )
  expect(named.length).toBeGreaterThan(5)
  for (const path of named) expect(() => readFileSync(join(root, path)), path).not.toThrow(/ENOENT/)
})

test.each([
  ['plugin/hooks/hooks.json', 'claude', 'SessionEnd'],
  ['plugin/cursor/hooks.json', 'cursor', 'sessionEnd'],
  ['plugin/codex/hooks.json', 'codex', 'Interrupt'],
  ['plugin/gemini/hooks/hooks.json', 'gemini', 'SessionEnd'],
])('%s names its client in each command, and records as well as judges', (path, client, last) => {
  const text = made.get(path) ?? ''
  const commands = [...text.matchAll(/"command": "(waymark[^"]*)"/g)].map(([, command]) => command)
  expect(commands.filter((command) => !command?.split(' ').includes(client))).toEqual([])
  expect(commands).toContain(`waymark hook pre-tool-use ${client}`)
  expect(commands).toContain(`waymark-capture ${client} ${last}`)
})

const claude = join(
  process.env['WAYMARK_TEST_CLIENTS'] ?? join(root, '.cache', 'clients'),
  `node_modules/@anthropic-ai/claude-code-linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}/claude`,
)

test.skipIf(!existsSync(claude))(
  'Claude Code finds nothing wrong with its plugin and the marketplace',
  () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-plugin-')))
    try {
      for (const folder of ['plugin', '.']) {
        const { status, stdout } = spawnSync(claude, ['plugin', 'validate', join(root, folder)], {
          encoding: 'utf8',
          env: { ...process.env, HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        })
        expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('passed') })
      }
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
)

test('the icon is a square PNG of a size that directories take', () => {
  const png = readFileSync(join(root, 'plugin', 'icon.png'))
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 512])
})

function read(path: string): object {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

/** Every relative path in a manifest: what begins with `./`, and what Gemini and Cursor name without it. */
function pathsIn(manifest: object): readonly string[] {
  return Object.entries(manifest).flatMap(([key, value]) => {
    if (typeof value === 'object') return pathsIn(value)
    const isPath =
      typeof value === 'string' && (value.startsWith('./') || ['logo', 'contextFileName'].includes(key))
    return isPath ? [value] : []
  })
}
