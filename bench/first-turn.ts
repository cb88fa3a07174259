import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { prepareHome, type RealClient, realClients, talk, whyNot } from '../test/clients/real-client.ts'

// From the file that npm packs to the first recorded turn, step by step, as a new user goes: an empty home, npm's cache empty,
// a repository with nothing in it, a real client with a scripted model. Asks the npm registry for what Waymark needs.
// node bench/first-turn.ts [client] [rounds]. Needs a build, and npm run clients.

const [name = 'claude', rounds = '3'] = process.argv.slice(2)
const client = clientNamed(name)
const missing = whyNot(client)
if (missing !== null) throw new Error(missing)

const root = join(import.meta.dirname, '..')
const around = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-first-turn-')))
const spent = new Map<string, number[]>()

try {
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', around]
  const [{ filename }] = JSON.parse(ran('npm', packing, { cwd: root, env: process.env }))
  for (let round = 1; round <= Number(rounds); round += 1) walk(join(around, String(round)), filename)
  let total = 0
  for (const [step, times] of spent) {
    const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
    total += median
    console.log(`${step.padEnd(60)} ${(median / 1000).toFixed(1)} s`)
  }
  const load = loadavg()[0]?.toFixed(1)
  console.log(`${spent.size} steps, ${(total / 1000).toFixed(0)} s (medians of ${rounds}, load ${load})`)
} finally {
  rmSync(around, { recursive: true, force: true })
}

function walk(home: string, packed: string): void {
  const folder = join(home, 'project')
  const installed = join(home, '.npm-global')
  mkdirSync(folder, { recursive: true })
  const path = [join(installed, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)
  const env = { HOME: home, PATH: path }
  // What this machine needs to reach the registry is its own.
  const npm = { ...process.env, ...env, npm_config_prefix: installed, npm_config_cache: join(home, '.npm') }
  const inProject = { cwd: folder, env }
  ran('git', ['init', '--quiet'], inProject)
  prepareHome({ home, folder }, client)
  step(`npm install --global ${packed}`, () =>
    ran('npm', ['install', '--global', join(around, packed)], { cwd: folder, env: npm }),
  )
  const words = ['setup', name, ...client.setup, '--allow', '--hooks']
  step(['waymark', ...words].join(' '), () => ran('waymark', [...words, '--yes'], inProject))
  step(`a prompt in ${name}, in which it writes a file`, () => {
    const { tool, input } = client.write
    const script = [{ tool, input: input(join(folder, 'made.txt'), 'made by an agent\n') }]
    const talked = talk(client, { folder, environment: env, script })
    if (talked.code !== 0) throw new Error(`${name} ended with ${talked.code}: ${talked.out}${talked.error}`)
  })
  step('waymark sessions', () => {
    const { sessions } = JSON.parse(ran('waymark', ['sessions', '--json'], inProject))
    const [one] = sessions
    if (sessions.length === 1 && one.turns === 1 && one.files === 1) return
    throw new Error(`No turn with one file was recorded: ${JSON.stringify(sessions)}`)
  })
}

function clientNamed(id: string): RealClient {
  const found = realClients.find((one) => one.id === id)
  if (found) return found
  throw new Error(`There is no client ${id}: ${realClients.map((one) => one.id).join(', ')}.`)
}

function step(what: string, run: () => void): void {
  const start = performance.now()
  run()
  spent.set(what, [...(spent.get(what) ?? []), performance.now() - start])
}

function ran(
  program: string,
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd, env, encoding: 'utf8' })
  if (status === 0) return stdout
  throw error ?? new Error(`${[program, ...words].join(' ')} ended with ${status}: ${stderr}`)
}
