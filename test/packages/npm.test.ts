import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPackage } from '../../scripts/packages/manifests.ts'
import { runAlone } from '../support/program.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'packed-'))
const files = packed()

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the package holds what runs and its guide, and nothing of its sources and tests', () => {
  const tops = new Set(files.map((path) => path.split('/')[0] ?? ''))
  expect([...tops].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    'CHANGELOG.md LICENSE README.md bin demo dist docs package.json plugin processes'.split(' '),
  )
  expect(
    files.filter(
      (path) => path.startsWith('docs/') && !/^docs\/(?:guide\/[\w-]+|README|glossary)\.md$/.test(path),
    ),
  ).toEqual([])
  expect(files.filter((path) => /\.tsx?$|\.map$/.test(path))).toEqual([])
  expect(files).toContain('dist/third-party-licences.txt')
  expect(files).toContain('dist/web/third-party-licences.txt')
})

test('it is at most 5 MB, and 32 MB when it is installed with what it needs', () => {
  const current = files.filter(isOfLastBuild)
  const alone = join(folder, 'alone.tar.gz')
  execFileSync('tar', ['-czf', alone, '-C', root, ...current])
  expect(statSync(alone).size).toBeLessThanOrEqual(5e6)
  const needed = ['better-sqlite3', 'node-addon-api'].map((name) => sizeOf(join(root, 'node_modules', name)))
  const own = current.map((path) => statSync(join(root, path)).size)
  const installed = [...needed, ...own].reduce((sum, bytes) => sum + bytes, 0)
  expect(installed / 2 ** 20).toBeLessThanOrEqual(32)
})

test('it needs one package of npm beside Node', () => {
  expect(Object.keys(packageJson().dependencies)).toEqual(['better-sqlite3'])
})

test('unpacked in an empty folder it tells its version and answers a client', () => {
  execFileSync('tar', ['-xzf', join(folder, tarball()), '-C', folder])
  const program = join(folder, 'package', 'bin', 'waymark.js')
  mkdirSync(join(folder, 'package', 'node_modules'))
  symlinkSync(
    join(root, 'node_modules', 'better-sqlite3'),
    join(folder, 'package', 'node_modules', 'better-sqlite3'),
    'junction',
  )
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  const environment = { PATH: process.env['PATH'] ?? '', HOME: folder }
  const version = runAlone([program, '--version'], { folder: empty, environment })
  expect(version).toEqual({ code: 0, out: `${readPackage().version}\n`, error: '' })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const calls = [
    { id: 1, method: 'initialize', params },
    { id: 2, method: 'tools/call', params: { name: 'list_missions', arguments: {} } },
  ]
  const input = calls.map((call) => `${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`).join('')
  const { out } = runAlone([program, 'mcp', '--project', empty], { folder: empty, environment, input })
  const [first, second] = out.trim().split('\n')
  expect(JSON.parse(first ?? '')).toMatchObject({ id: 1, result: { serverInfo: { name: 'waymark' } } })
  expect(JSON.parse(second ?? '')).toMatchObject({ id: 2, result: { structuredContent: { missions: [] } } })
})

/** Packs as `npm pack` does, without building: tests beside this one run what is built. */
function packed(): readonly string[] {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const said = execFileSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  })
  const [one] = JSON.parse(said)
  return one.files.map(({ path }: { path: string }) => path)
}

// Builds of the last hour stay in dist/ for the servers that run them; a package that is published is built alone.
function isOfLastBuild(path: string): boolean {
  if (!path.startsWith('dist/')) return true
  const stamp = path.startsWith('dist/web/') ? 'built-dashboard' : 'bundled'
  return statSync(join(root, path)).mtimeMs >= statSync(join(root, '.cache', stamp)).mtimeMs
}

function tarball(): string {
  const name = readdirSync(folder).find((one) => one.endsWith('.tgz'))
  if (name === undefined) throw new Error(`npm packed nothing into ${folder}.`)
  return name
}

function packageJson(): { readonly dependencies: Record<string, string> } {
  return JSON.parse(
    execFileSync('tar', ['-xzOf', join(folder, tarball()), 'package/package.json'], { encoding: 'utf8' }),
  )
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
