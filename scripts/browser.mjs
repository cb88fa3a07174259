// Finds the browser of the tests, or brings one. Plain ESM without packages, but for the last way.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { presentBrowser } from './browser-places.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, '.cache')
const remembered = join(cache, 'browser-of-tests.json')
const packed = join(cache, 'chromium')

/**
 * The program of a Chromium, and the folder of libraries it is run with where the system may lack them: the one that
 * comes as a package where the system has fonts for it, because it has no windows and takes half of the time; else a
 * present one, else Debian's. Says what it installs. Fails with the ways on where none runs.
 */
export async function bringBrowser() {
  const named = process.env.CHROMIUM
  if (named) {
    if (runs({ path: named })) return { path: named }
    throw new Error(`CHROMIUM is ${named}, which does not run. Name another one, or unset it.`)
  }
  const known = readJson(remembered)
  if (known && existsSync(known.path)) return known
  const light = existsSync('/etc/fonts/fonts.conf') ? await packedBrowser() : null
  const found = light ?? presentBrowser(runs) ?? debianBrowser() ?? (await packedBrowser())
  if (found === null) {
    throw new Error(
      'The tests of the dashboard need a Chromium, and none runs here. Install Chromium or Chrome, ' +
        'or set CHROMIUM to the path of one, and run this again.',
    )
  }
  mkdirSync(cache, { recursive: true })
  writeFileSync(remembered, JSON.stringify(found))
  return found
}

/** Debian's package, for its administrator; null elsewhere. */
function debianBrowser() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  if (process.getuid?.() !== 0 || !/^ID=debian$/m.test(release)) return null
  say('Installing Debian’s package chromium for the tests of the dashboard.')
  const install = ['install', '-y', '-qq', '--no-install-recommends', 'chromium']
  if (!aptGet(install) && !(aptGet(['update', '-qq']) && aptGet(install))) {
    say('Debian’s package could not be installed.')
    return null
  }
  return presentBrowser(runs)
}

function aptGet(words) {
  const options = ['-o', 'DPkg::Lock::Timeout=300']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return (
    spawnSync('apt-get', [...options, ...words], { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0
  )
}

/** The Chromium for Linux in @sparticuz/chromium, with the libraries that come with it where they are missing. */
async function packedBrowser() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const path = join(packed, 'chromium')
  if (!existsSync(path)) await unpack()
  return [{ path }, { path, libraries: join(packed, 'al2023', 'lib') }].find(runs) ?? null
}

async function unpack() {
  say('Unpacking the Chromium of @sparticuz/chromium into .cache/chromium.')
  const made = `${packed}-${process.pid}`
  mkdirSync(made, { recursive: true })
  const archives = join(root, 'node_modules', '@sparticuz', 'chromium', 'bin')
  // It unpacks into the folder for temporary files, where anybody may have put something of that name.
  const before = process.env.TMPDIR
  process.env.TMPDIR = made
  try {
    const { inflate } = await import('@sparticuz/chromium')
    for (const name of ['al2023.tar.br', 'chromium.br']) await inflate(join(archives, name))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  rmSync(packed, { recursive: true, force: true })
  renameSync(made, packed)
}

/** Whether it starts at all: the name may be that of a script which only says where to get it. */
function runs({ path, libraries }) {
  // On Windows it would open a window instead of printing its version.
  if (process.platform === 'win32') return existsSync(path)
  const env = { ...process.env, ...environmentOf({ libraries }) }
  return spawnSync(path, ['--version'], { stdio: 'ignore', env, timeout: 60_000 }).status === 0
}

/** What a browser is started with besides the environment. */
export function environmentOf({ libraries }) {
  if (libraries === undefined) return {}
  const others = process.env.LD_LIBRARY_PATH
  return { LD_LIBRARY_PATH: others ? `${libraries}${delimiter}${others}` : libraries }
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

function say(sentence) {
  process.stderr.write(`setup: ${sentence}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await bringBrowser()
  } catch (error) {
    say(error.message)
    process.exitCode = 1
  }
}
