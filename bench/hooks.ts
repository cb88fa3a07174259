import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { recorderOf } from '../src/app/capture/ingest-for.ts'
import { closeContext, openContext } from '../src/app/open-context.ts'
import { capture } from '../src/sessions/capture/hook/capture-hook.ts'
import { queueOf } from '../src/sessions/capture/hook-queue.ts'
import { ingestQueue } from '../src/sessions/capture/ingest.ts'
import { writeSettings } from '../src/sessions/capture/settings-file.ts'

// What the hooks of one session cost beside an empty process: 69 calls of tools, 25 of which write. And what it costs to
// read and to record what they told, with git and SQLite. Needs a build.

const calls = 69
const writing = 25
const bin = join(import.meta.dirname, '..', 'bin', 'waymark-capture.cjs')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const folder = join(home, 'project')
const env = { PATH: process.env['PATH'] ?? '', HOME: home }

function spent(words: readonly string[], input: string): number {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: folder,
    env,
    input,
    encoding: 'utf8',
  })
  const time = performance.now() - start
  if (status !== 0 || stdout + stderr !== '')
    throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`)
  return time
}

function payload(event: string, n: number): string {
  const file_path = join(folder, 'src', `file${n % 10}.ts`)
  const isEdit = n % 2 === 0
  const tool = isEdit
    ? { tool_name: 'Edit', tool_input: { file_path, old_string: 'a', new_string: 'b' } }
    : { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const ids = {
    session_id: 's',
    prompt_id: 'p',
    tool_use_id: `t${n}`,
    cwd: folder,
    transcript_path: `${home}/.claude/x.jsonl`,
  }
  return JSON.stringify({
    ...ids,
    hook_event_name: event,
    ...tool,
    ...(event === 'PostToolUse' && { tool_response: {} }),
  })
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}

/** Turns of 100 events, each recorded when it is over: in a process that has just begun, and in one that goes on. */
async function recordedTurns(): Promise<readonly number[]> {
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=b', '-c', 'user.email=b', 'commit', '-qm', 'b'],
  ])
    execFileSync('git', words, { cwd: folder, env })
  const place = { word: 'claude', environment: env, workingFolder: folder, program: bin }
  const tell = (said: object) => {
    writeFileSync(join(queueOf(folder, env).folder, 'ingest.lock'), 'held')
    const payload = { session_id: 'turns', cwd: folder, ...said }
    capture(JSON.stringify(payload), { ...place, at: Date.now() })
  }
  const actor = { name: 'bench', kind: 'agent', role: null, channel: 'cli' } as const
  const context = openContext({ actor, environment: env, workingFolder: folder })
  const record = recorderOf(context)
  const times: number[] = []
  const ingested = async () => {
    const start = performance.now()
    await ingestQueue(queueOf(folder, env), { record })
    return performance.now() - start
  }
  for (let turn = 0; turn < 6; turn += 1) {
    const ids = { prompt_id: `turn ${turn}` }
    tell({ ...ids, hook_event_name: 'UserPromptSubmit', prompt: `turn ${turn}` })
    await ingested()
    for (let n = 0; n < 49; n += 1) {
      const file_path = join(folder, 'src', `file${1 + (n % 9)}.ts`)
      const call = { ...ids, tool_use_id: `turn ${turn}, ${n}` }
      const content = `${turn} ${n}\n`.repeat(1000)
      const tool =
        n % 2 === 0
          ? { tool_name: 'Write', tool_input: { file_path, content } }
          : { tool_name: 'Bash', tool_input: { command: 'npm test' } }
      tell({ ...call, ...tool, hook_event_name: 'PreToolUse' })
      if (n % 2 === 0) writeFileSync(file_path, content)
      tell({ ...call, ...tool, hook_event_name: 'PostToolUse', tool_response: {} })
    }
    tell({ ...ids, hook_event_name: 'Stop', turn })
    times.push(await ingested())
  }
  await closeContext(context)
  return times
}

const limit = (value: number, most: number) => `${most.toFixed(0)}${value > most ? ', **over**' : ''}`

try {
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeSettings(folder, env, { on: true, prompts: 'off', commands: 'program', secret: [] })
  for (let n = 0; n < 10; n += 1)
    writeFileSync(join(folder, 'src', `file${n}.ts`), 'a'.repeat(n === 0 ? 90_000 : 9000))
  const floor: number[] = []
  const hook: number[] = []
  spent([bin, 'claude', 'PreToolUse'], payload('PreToolUse', 0))
  // In turns, so that what else the machine does weighs on both alike. Calls that only read start no hook.
  for (let n = 0; n < writing; n += 1) {
    for (const event of ['PreToolUse', 'PostToolUse']) {
      floor.push(spent(['-e', '0'], ''))
      hook.push(spent([bin, 'claude', event], payload(event, n)))
    }
  }
  // Claude Code waits for the hook before a call, and not for the one after it.
  const waited = hook.filter((_, n) => n % 2 === 0).reduce((sum, one) => sum + one, 0)
  const [cold = Number.NaN, ...warm] = await recordedTurns()
  const size = readFileSync(join(import.meta.dirname, '..', 'dist', 'waymark-capture.cjs')).length
  const rows = [
    ['`node -e 0`, the least that a process costs', at(floor, 0), at(floor, 0.5), ''],
    [
      'a hook that writes an event and a copy',
      at(hook, 0),
      at(hook, 0.5),
      limit(at(hook, 0.5), at(floor, 0.5) + 30),
    ],
    [
      `all that a client waits for in a session of ${calls} calls, ${writing} of them writing`,
      waited,
      waited,
      limit(waited, 3000),
    ],
    [
      'recording a turn of 100 events at its end, with git and SQLite',
      at(warm, 0),
      at(warm, 0.5),
      limit(at(warm, 0.5), 200),
    ],
    ['the same as the first thing that a process does', cold, cold, ''],
  ] as const
  console.log('| what | least ms | median ms | limit |\n|---|---|---|---|')
  for (const [what, least, median, most] of rows)
    console.log(`| ${what} | ${least.toFixed(0)} | ${median.toFixed(0)} | ${most} |`)
  console.log(`\nThe program that clients run is one file of ${size} bytes.`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
