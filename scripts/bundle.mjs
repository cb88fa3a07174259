// Builds dist/ when a source is newer than the last build. Plain ESM for Node 20 without packages.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAnew } from './build-anew.mjs'
import { modifiedAt } from './modified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
// Chunks of earlier builds stay for the servers that still run them, in milliseconds.
const keptFor = 60 * 60 * 1000
const inputs = ['src', 'package.json', 'package-lock.json', 'rolldown.config.ts']

/** Builds with the given Node, unless nothing changed since the last build. False when it could not be built. */
export function buildBundle(node = process.execPath) {
  const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  return buildAnew(node, {
    name: 'dist/',
    stamp: 'bundled',
    entry: join(dist, 'waymark.js'),
    inputs,
    words: (made) => [rolldown, '--config', 'rolldown.config.ts', '--logLevel', 'warn', '--dir', made],
    publish,
  })
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
