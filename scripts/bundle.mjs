// Builds dist/ when a source is newer than the last build. Plain ESM for Node 20 without packages.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAnew } from './build-anew.mjs'
import { modifiedAt } from './modified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
// Chunks of earlier builds stay for the servers that still run them, in milliseconds.
const keptOtherwise = 60 * 60 * 1000
const inputs = ['src', 'package.json', 'package-lock.json', 'rolldown.config.ts']

/**
 * Builds with the given Node, unless nothing changed since the last build. False when it could not be built.
 * `alone`, for a package: builds in any case, and leaves nothing of an earlier build.
 */
export function buildBundle(node = process.execPath, { alone = false } = {}) {
  const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  return buildAnew(node, {
    name: 'dist/',
    stamp: 'bundled',
    entry: join(dist, 'waymark-hook.cjs'),
    inputs,
    words: (made) => [rolldown, '--config', 'rolldown.config.ts', '--logLevel', 'warn', '--dir', made],
    publish: (made) => publish(made, alone ? 0 : keptOtherwise),
    always: alone,
  })
}

/** Puts a build in its place, file by file and the entries last, so that whoever starts meanwhile finds one that works. */
function publish(made, keptFor) {
  const names = readdirSync(made).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))
  mkdirSync(dist, { recursive: true })
  for (const name of names) renameSync(join(made, name), join(dist, name))
  rmSync(made, { recursive: true })
  for (const old of readdirSync(dist).filter((name) => /\.c?js$/.test(name) && !names.includes(name))) {
    if (Date.now() - modifiedAt(join(dist, old)) > keptFor) rmSync(join(dist, old))
  }
}

function isEntry(name) {
  return !/-[\w-]{8}\.c?js$/.test(name)
}
