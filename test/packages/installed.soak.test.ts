import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

// Asks the npm registry for the programs that install, and for the versions of Node.
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'installed-'))
const tarball = join(
  folder,
  JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder))[0].filename,
)
const installers = { npm: ['npm'], pnpm: ['npx', '--yes', 'pnpm@12.21.0'] } as const

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['22.14.0', '24.21.0', '26'].flatMap((node) => [['npm', node] as const, ['pnpm', node] as const]))(
  'installed with %s into an empty folder it works on Node %s',
  (installer, node) => {
    const empty = join(folder, `${installer}-${node}`)
    mkdirSync(join(empty, 'home'), { recursive: true })
    writeFileSync(join(empty, 'package.json'), '{ "name": "empty", "private": true }')
    const [program, ...words] = installers[installer]
    execFileSync(program, [...words, 'add', tarball], { cwd: empty, stdio: 'pipe' })
    execFileSync('git', ['init', '--quiet'], { cwd: empty })
    const waymark = join(empty, 'node_modules', 'waymark', 'bin', 'waymark.js')
    const run = (...rest: readonly string[]): string => {
      const environment = { ...process.env, HOME: join(empty, 'home') }
      const options = { cwd: empty, env: environment, encoding: 'utf8' } as const
      return execFileSync('npx', ['--yes', '--package', `node@${node}`, 'node', waymark, ...rest], options)
    }
    expect(run('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(JSON.parse(run('task', 'add', '--title', 'First', '--json')).title).toBe('First')
    expect(JSON.parse(run('plan', 'show', '--json')).tasks).toBe(1)
  },
  180_000,
)

function npm(cwd: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
