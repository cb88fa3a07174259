// Builds dist/ when a source is newer than the last build. Plain ESM for Node 20 without packages.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, '.cache', 'bundled')
const inputs = ['src', 'package.json', 'package-lock.json', 'rolldown.config.ts']

/** Builds with the given Node, unless nothing changed since the last build. */
export function buildBundle(node = process.execPath) {
  const built = modifiedAt(stamp)
  const entry = modifiedAt(join(root, 'dist', 'waymark.js'))
  if (entry > 0 && inputs.every((input) => newestIn(join(root, input)) < built)) return
  process.stderr.write('setup: Building dist/.\n')
  const startedAt = new Date()
  const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  const build = spawnSync(node, [rolldown, '--config', 'rolldown.config.ts', '--logLevel', 'warn'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (build.status !== 0) {
    process.stderr.write(`${build.stdout}setup: dist/ could not be built; the message is above.\n`)
    process.exit(1)
  }
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(stamp, startedAt.toISOString())
}

/** The newest modification in a folder; its folders count, because a removed file changes only its folder. */
function newestIn(path) {
  const own = modifiedAt(path)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return own
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !name.endsWith('.test.ts'))
    .reduce((newest, { name }) => Math.max(newest, newestIn(join(path, name))), own)
}

/** Milliseconds since the epoch; 0 when there is no such file. */
function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
