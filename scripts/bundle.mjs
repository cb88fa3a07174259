// Builds dist/ when a source is newer than the last build. Plain ESM for Node 20 without packages.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modifiedAt, newestIn } from './modified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, '.cache', 'bundled')
const dist = join(root, 'dist')
// Chunks of earlier builds stay for the servers that still run them, in milliseconds.
const keptFor = 60 * 60 * 1000
const inputs = ['src', 'package.json', 'package-lock.json', 'rolldown.config.ts']

/** Builds with the given Node, unless nothing changed since the last build. False when it could not be built. */
export function buildBundle(node = process.execPath) {
  const built = modifiedAt(stamp)
  const entry = modifiedAt(join(dist, 'waymark.js'))
  if (entry > 0 && inputs.every((input) => newestIn(join(root, input)) < built)) return true
  process.stderr.write('setup: Building dist/.\n')
  const startedAt = new Date()
  const made = join(root, '.cache', `build-${process.pid}`)
  const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  const words = [rolldown, '--config', 'rolldown.config.ts', '--logLevel', 'warn', '--dir', made]
  const build = spawnSync(node, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  if (build.status !== 0) {
    rmSync(made, { recursive: true, force: true })
    process.stderr.write(`${build.stdout}setup: dist/ could not be built; the message is above.\n`)
    return false
  }
  publish(made)
  writeFileSync(stamp, startedAt.toISOString())
  utimesSync(stamp, startedAt, startedAt)
  return true
}

/** Puts a build in its place, file by file and the entries last, so that whoever starts meanwhile finds one that works. */
function publish(made) {
  const names = readdirSync(made).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))
  mkdirSync(dist, { recursive: true })
  for (const name of names) renameSync(join(made, name), join(dist, name))
  rmSync(made, { recursive: true })
  for (const old of readdirSync(dist).filter((name) => name.endsWith('.js') && !names.includes(name))) {
    if (Date.now() - modifiedAt(join(dist, old)) > keptFor) rmSync(join(dist, old))
  }
}

function isEntry(name) {
  return !/-[\w-]{8}\.js$/.test(name)
}
