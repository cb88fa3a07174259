// Builds dist/web when a source is newer than the last build. Plain ESM for Node 20 without packages.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAnew } from './build-anew.mjs'
import { modifiedAt } from './modified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist', 'web')
// Parts of earlier builds stay for the pages that are open, in milliseconds.
const keptOtherwise = 60 * 60 * 1000
const inputs = ['web', 'src', 'package-lock.json', 'vite.config.ts']

/**
 * Builds with the given Node, unless nothing changed since the last build. False when it could not be built.
 * `alone`, for a package: builds in any case, and leaves nothing of an earlier build.
 */
export function buildDashboard(node = process.execPath, { alone = false } = {}) {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  return buildAnew(node, {
    name: 'dist/web/',
    stamp: 'built-dashboard',
    entry: join(dist, 'index.html'),
    inputs,
    words: (made) => [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'],
    publish: (made) => publish(made, alone ? 0 : keptOtherwise),
    always: alone,
  })
}

/** Puts a build in its place, the page last, so that whoever opens it meanwhile finds all of its parts. */
function publish(made, keptFor) {
  const names = filesOf(made).sort(
    (a, b) => Number(a.startsWith('index.html')) - Number(b.startsWith('index.html')),
  )
  for (const name of names) {
    mkdirSync(dirname(join(dist, name)), { recursive: true })
    renameSync(join(made, name), join(dist, name))
  }
  rmSync(made, { recursive: true })
  for (const old of filesOf(dist).filter((name) => !names.includes(name))) {
    if (Date.now() - modifiedAt(join(dist, old)) > keptFor) rmSync(join(dist, old))
  }
}

function filesOf(folder, below = '') {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name)
    return entry.isDirectory() ? filesOf(folder, path) : [path]
  })
}
