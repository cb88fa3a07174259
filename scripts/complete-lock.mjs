// npm leaves a package for another platform out of package-lock.json where it could not look it up, and `npm ci` then
// refuses the file. This adds what is missing, by the exact versions that the packages themselves ask for.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const platforms = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const processors = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]

let added = 0
for (const [parent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (!/^\d+\.\d+\.\d+/.test(version) || foundFrom(parent, name)?.version === version) continue
    const beside = `${parent.slice(0, parent.lastIndexOf('node_modules/'))}node_modules/${name}`
    const path = lock.packages[beside] === undefined ? beside : `${parent}/node_modules/${name}`
    lock.packages[path] = { version, ...restrictions(name), ...(dev && { dev }), optional: true }
    added += 1
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
console.log(`${added} packages of other platforms added to package-lock.json.`)

/** The package that a name means inside another one: the nearest upwards. */
function foundFrom(parent, name) {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = lock.packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`]
    if (found !== undefined || folder === '') return found
  }
}

/** Where a package may be installed, as its name tells. */
function restrictions(name) {
  const words = name.split(/[-/]/)
  const libc = words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : []
  return {
    cpu: processors.filter((processor) => words.includes(processor)),
    os: platforms.filter((platform) => words.includes(platform)),
    ...(libc.length > 0 && { libc }),
  }
}
