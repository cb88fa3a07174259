// Writes the manifests that clients and registries read; `prepack` builds what goes into the package of npm, and nothing
// older; `mcpb` makes the bundle for Claude Desktop in .cache.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildBundle } from './bundle.mjs'
import { buildDashboard } from './dashboard.mjs'
import { manifests, readPackage } from './packages/manifests.ts'

const root = join(import.meta.dirname, '..')
const packer = '@anthropic-ai/mcpb@2.1.2'

const [what] = process.argv.slice(2)
if (what === undefined) writeManifests()
else if (what === 'prepack') process.exitCode = buildAlone() ? 0 : 1
else if (what === 'mcpb') process.exitCode = makeMcpb() ? 0 : 1
else {
  console.error(`packages: There is no "${what}". Say nothing, prepack or mcpb.`)
  process.exitCode = 2
}

function writeManifests(): void {
  for (const [path, text] of manifests(readPackage())) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}

function buildAlone(): boolean {
  return buildBundle(process.execPath, { alone: true }) && buildDashboard(process.execPath, { alone: true })
}

/** Everything the server needs in one file: it runs where neither npm nor a compiler is. */
function makeMcpb(): boolean {
  if (!buildAlone()) return false
  const folder = join(root, '.cache', 'mcpb')
  rmSync(folder, { recursive: true, force: true })
  for (const part of ['bin', 'dist', 'processes', 'package.json', 'LICENSE'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  for (const part of ['lib', 'prebuilds', 'package.json', 'LICENSE']) {
    const within = join('node_modules', 'better-sqlite3', part)
    cpSync(join(root, within), join(folder, within), { recursive: true })
  }
  cpSync(join(root, 'mcpb', 'manifest.json'), join(folder, 'manifest.json'))
  cpSync(join(root, 'plugin', 'icon.png'), join(folder, 'icon.png'))
  const file = join(root, '.cache', `waymark-${readPackage().version}.mcpb`)
  const words = ['--yes', packer, 'pack', folder, file]
  return spawnSync('npx', words, { stdio: 'inherit', shell: process.platform === 'win32' }).status === 0
}
