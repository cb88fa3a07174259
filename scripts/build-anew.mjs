// Builds something when one of its inputs is newer than the last build. Plain ESM for Node 20 without packages.
import { spawnSync } from 'node:child_process'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modifiedAt, newestIn } from './modified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs `words(folder)` with the given Node, where `folder` is a new one, and publishes what is in it. Does nothing where
 * `entry` is there and newer than all inputs, unless `always`. False when it could not be built.
 */
export function buildAnew(node, { name, stamp, entry, inputs, words, publish, always = false }) {
  const stampFile = join(root, '.cache', stamp)
  const built = modifiedAt(stampFile)
  if (!always && modifiedAt(entry) > 0 && inputs.every((input) => newestIn(join(root, input)) < built))
    return true
  process.stderr.write(`setup: Building ${name}.\n`)
  const startedAt = new Date()
  const made = join(root, '.cache', `${stamp}-${process.pid}`)
  const build = spawnSync(node, words(made), {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  if (build.status !== 0) {
    rmSync(made, { recursive: true, force: true })
    process.stderr.write(`${build.stdout}${build.stderr}setup: ${name} could not be built; see above.\n`)
    return false
  }
  publish(made)
  writeFileSync(stampFile, startedAt.toISOString())
  utimesSync(stampFile, startedAt, startedAt)
  return true
}
