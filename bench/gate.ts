import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { closeContext, openContext } from '../src/app/open-context.ts'
import { catalog } from '../src/kernel/operations/catalog.ts'
import { invoke } from '../src/kernel/operations/invoke.ts'
import { type Answer, agentActor } from '../test/support/project.ts'
import { serverEnvironment } from '../test/support/stdio-project.ts'
import { lengthen } from './gate/long-run.ts'
import { benchProcess } from './gate/process.ts'
import { bareInsert } from './plan/bare-insert.ts'
import { type Timing, timings } from './plan/timing.ts'
import { type BenchedProcess, handshake, startProcess } from './stdio/server-process.ts'

// What a run costs over stdio and in process, beside a bare JSON-RPC loop and a bare durable insert in the same run.
// node bench/gate.ts [rounds] [events]. Needs a build.
// state_gate 0.3 over stdio, measured once: get_state 0.9 to 2.2 ms, an emit 1.4 to 7.5 ms, 22,000 ms at 1,000 artifacts.

const rounds = Number(process.argv[2] ?? 300)
const events = Number(process.argv[3] ?? 10_000)
const waymark = [join(import.meta.dirname, '..', 'bin', 'waymark.js'), 'mcp']
const bareLoop = [join(import.meta.dirname, 'stdio', 'bare-loop.mjs')]

/** Calls a tool; fails where it is refused. */
type Call = (name: string, input: object) => Promise<Answer>

function show(what: string, { median, p95, least }: Timing, aim: string): void {
  const cells = [median, p95, least].map((value) => value.toFixed(2))
  console.log(`| ${what} | ${cells.join(' | ')} | ${aim} |`)
}

function put(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  const folder = join(home, 'tree')
  execFileSync('git', ['init', '-q', folder])
  put(folder, '.waymark/processes/bench.yaml', benchProcess)
  try {
    await work(folder)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function serverIn(folder: string, words: readonly string[]): Promise<BenchedProcess> {
  const server = startProcess(words, { cwd: folder, env: serverEnvironment(join(folder, '..')) })
  await server.ask('initialize', handshake)
  return server
}

function callerOf(server: BenchedProcess): Call {
  return async (name, input) => {
    const { result } = await server.ask('tools/call', { name, arguments: input })
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`)
    return result.structuredContent
  }
}

/** Measures the calls on one run, whatever it holds. */
async function measure(title: string, call: Call, runId: string): Promise<void> {
  let { revision } = await call('state_gate_get_state', { run_id: runId })
  const emit = async (event_name: string, more: object = {}) => {
    const idempotency_key = `${event_name}-${revision}`
    const input = { run_id: runId, event_name, expected_revision: revision, idempotency_key, ...more }
    revision = (await call('state_gate_emit_event', input)).result.new_revision
  }
  const long = title.includes('1,000 artifacts')
  const few = long ? Math.ceil(rounds / 5) : rounds
  const state = () => call('state_gate_get_state', { run_id: runId })
  show(`${title}: get_state`, await timings(few, state), long ? '' : '0.5')
  const say = (round: number) => emit('say', { payload: { note: `Note ${round}` } })
  show(`${title}: emit_event, assigns`, await timings(few, say), long ? '20' : '1.5')
  show(`${title}: emit_event, counts evidence`, await timings(few, () => emit('finish')), long ? '20' : '1.5')
  const list = () => call('state_gate_list_events', { run_id: runId, include_blocked: true })
  show(`${title}: list_events`, await timings(few, list), '')
  const dry = () => ({ run_id: runId, event_name: 'finish', expected_revision: revision, dry_run: true })
  const asked = (round: number) =>
    call('state_gate_emit_event', { ...dry(), idempotency_key: `dry-${title}-${round}` })
  show(`${title}: emit_event, dry run`, await timings(few, asked), '')
}

async function begin(call: Call): Promise<string> {
  return (await call('state_gate_create_run', { process_id: 'bench' })).run_id
}

/** Hands in so many files, a hundred in an event. */
async function handIn(folder: string, call: Call, { run, files }: { run: string; files: number }) {
  for (let made = 0; made < files; made += 100) {
    const paths = Array.from({ length: Math.min(100, files - made) }, (_, at) => `evidence/${made + at}.json`)
    for (const path of paths) put(folder, path, JSON.stringify({ findings: [path] }))
    const { revision } = await call('state_gate_get_state', { run_id: run })
    await call('state_gate_emit_event', {
      run_id: run,
      event_name: 'observe',
      expected_revision: revision,
      idempotency_key: `observe-${made}`,
      artifact_paths: paths,
    })
  }
}

async function everySize(folder: string, way: string, call: Call): Promise<void> {
  const fresh = await begin(call)
  await measure(`${way}, fresh`, call, fresh)
  const long = await begin(call)
  await lengthen(folder, long, { from: 1, events })
  await measure(`${way}, ${events.toLocaleString('en')} events`, call, long)
  for (const files of [10, 1000]) {
    const run = await begin(call)
    await handIn(folder, call, { run, files })
    await measure(`${way}, ${files.toLocaleString('en')} artifacts`, call, run)
  }
  show(`${way}: create_run`, await timings(rounds, () => begin(call)), '')
}

async function overStdio(folder: string): Promise<void> {
  const bare = await serverIn(folder, bareLoop)
  show('bare JSON-RPC loop', await timings(rounds, () => bare.ask('ping', {})), '')
  await bare.end()
  const { insert, close } = bareInsert(join(folder, '..'))
  show('bare insert and commit', await timings(rounds, insert), '')
  close()
  const server = await serverIn(folder, waymark)
  show('stdio: ping', await timings(rounds, () => server.ask('ping', {})), '')
  await everySize(folder, 'stdio', callerOf(server))
  console.log(`| memory, MiB | ${server.usage().memory.toFixed(0)} | | | |`)
  await server.end()
}

async function inProcess(folder: string): Promise<void> {
  const environment = serverEnvironment(join(folder, '..'))
  const context = openContext({ actor: agentActor, environment, workingFolder: folder })
  await everySize(folder, 'in process', (name, input) => {
    const operation = catalog.find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`no operation ${name}`)
    return invoke(operation, context, input)
  })
  await closeContext(context)
}

console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}\n`)
console.log('| what, ms | median | 95 % | least | at most |\n|---|---|---|---|---|')
await inFolder(overStdio)
await inFolder(inProcess)
