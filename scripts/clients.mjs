// Fetches the coding agents that the tests set up and talk to, into .cache/clients: a gigabyte, so only when it is asked
// for. They are no dependencies. Plain ESM, as everything that sets up.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const clients = join(root, '.cache', 'clients')
const versions = JSON.parse(readFileSync(join(root, 'scripts', 'clients.json'), 'utf8'))

fetchInto(clients, versions)
// OpenCode asks the registry for this one wherever a project has a plugin, and waits for it: there is none to ask in a test.
fetchInto(join(clients, 'opencode'), { '@opencode-ai/plugin': versions['opencode-ai'] })

function fetchInto(folder, dependencies) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }, null, 2))
  console.error(`clients: Fetching ${Object.keys(dependencies).join(', ')} into ${folder}.`)
  // Their scripts only link binaries that are in the packages already.
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', words, {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}
