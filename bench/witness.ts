import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../test/support/project.ts'
import { serverEnvironment } from '../test/support/stdio-project.ts'
import { type BenchedProcess, handshake, startProcess } from './stdio/server-process.ts'

// What start_task and complete_task cost beside one `git status` of the same tree, whole calls over stdio:
// node bench/witness.ts [name of a case …]. Needs a build.

interface Case {
  readonly name: string
  readonly files: number
  /** Edited, added, removed and renamed while the task is open. */
  readonly changed?: number
  /** Megabytes of untracked files that no task touches. */
  readonly untracked?: number
  /** Attempts of others that stay open. */
  readonly open?: number
  /** At most this many times as long as `git status`, and so many milliseconds more. */
  readonly limit: { readonly times: number; readonly more: number }
}

const small = { times: 1.2, more: 8 }
const large = { times: 1.15, more: 8 }
const dirty = { times: 1.5, more: 40 }

const cases: readonly Case[] = [
  { name: 'clean-100', files: 100, limit: small },
  { name: 'clean-2000', files: 2_000, limit: small },
  { name: 'clean-10000', files: 10_000, limit: large },
  { name: 'clean-100000', files: 100_000, limit: large },
  { name: 'changed-2000', files: 2_000, changed: 200, limit: dirty },
  { name: 'changed-10000', files: 10_000, changed: 200, limit: dirty },
  { name: 'untracked-2000', files: 2_000, untracked: 50, limit: small },
  { name: 'open-2000', files: 2_000, open: 3, limit: small },
]

const waymark = [join(import.meta.dirname, '..', 'bin', 'waymark.js'), 'mcp']
const filesPerFolder = 50

interface Bench {
  readonly top: string
  readonly server: BenchedProcess
  readonly mission: string
}

function git(top: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0']
  execFileSync('git', [...who, ...args], { cwd: top, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 })
}

function fileName(at: number): string {
  const folder = Math.floor(at / filesPerFolder)
  return `packages/p${folder % 40}/src/folder${folder}/module-${at}.ts`
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function makeTree(top: string, { files, untracked = 0 }: Case): void {
  for (let at = 0; at < files; at += 1) {
    const lines = Array.from({ length: 20 }, (_, line) => `export const value${line} = ${at * line}\n`)
    write(join(top, fileName(at)), lines.join(''))
  }
  write(join(top, '.gitignore'), '.waymark/\n')
  git(top, 'init', '-q')
  git(top, 'add', '.')
  git(top, 'commit', '-qm', 'Base')
  for (let at = 0; at < untracked * 10; at += 1) {
    write(join(top, `data/part-${at}.csv`), `${at},${'x'.repeat(98)}\n`.repeat(1_000))
  }
}

// Six in ten edited, two in ten new, one in ten removed, one in ten renamed.
function change(top: string, files: number, changed: number): void {
  for (let at = 0; at < changed; at += 1) {
    const path = join(top, fileName(Math.floor((at * files) / changed)))
    const kind = at % 10
    if (kind < 6) appendFileSync(path, 'export const more = 1\n')
    else if (kind < 8) writeFileSync(`${path}.new.ts`, `export const fresh = ${at}\n`)
    else if (kind < 9) rmSync(path)
    else renameSync(path, `${path}.moved.ts`)
  }
}

function restore(top: string): void {
  git(top, 'checkout', '-q', '.')
  git(top, 'clean', '-fdq', '-e', 'data')
}

/** One `git status` as a program would read it. */
function bareStatus(cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const words = ['status', '--porcelain=v2', '-z', '--untracked-files=all']
    const child = spawn('git', words, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    child.on('error', reject)
    child.on('close', () => resolve())
  })
}

async function call(server: BenchedProcess, name: string, input: object): Promise<Answer> {
  const { result } = await server.ask('tools/call', { name, arguments: input })
  if (result.isError) throw new Error(result.content[0].text)
  return result.structuredContent
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** In turns, so that what else the machine does weighs on all alike. */
async function measure({ top, server, mission }: Bench, wanted: Case) {
  const spent = { status: [] as number[], start: [] as number[], complete: [] as number[] }
  const rounds = wanted.files > 50_000 ? 9 : 25
  // The first ones are not counted: what is kept between calls is not there yet.
  for (let round = -3; round < rounds; round += 1) {
    let task = ''
    const start = await timed(async () => {
      const started = await call(server, 'start_task', { mission_id: mission, name: `Task ${round}` })
      task = started.task_id
    })
    if (wanted.changed !== undefined) change(top, wanted.files, wanted.changed)
    const status = await timed(() => bareStatus(top))
    const outcome = { summary: 'Done.' }
    const complete = await timed(() =>
      call(server, 'complete_task', { task_id: task, status: 'success', outcome }),
    )
    if (wanted.changed !== undefined) restore(top)
    if (round < 0) continue
    spent.status.push(status)
    spent.start.push(start)
    spent.complete.push(complete)
  }
  return { status: median(spent.status), start: median(spent.start), complete: median(spent.complete) }
}

async function bench(wanted: Case): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  const top = join(folder, 'project')
  mkdirSync(top)
  makeTree(top, wanted)
  // git compares what is as old as its index by content.
  await pause(2_500)
  git(top, 'status')
  const server = startProcess(waymark, { cwd: top, env: serverEnvironment(join(folder, 'state')) })
  try {
    await server.ask('initialize', handshake)
    const { mission_id } = await call(server, 'start_mission', { name: 'Bench', objective: 'Measure' })
    for (let at = 0; at < (wanted.open ?? 0); at += 1)
      await call(server, 'start_task', { mission_id, name: `Open ${at}` })
    return row(wanted, await measure({ top, server, mission: mission_id }, wanted))
  } finally {
    await server.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

function row(
  { name, limit }: Case,
  { status, start, complete }: Awaited<ReturnType<typeof measure>>,
): string {
  const most = limit.times * status + limit.more
  const cell = (spent: number) => `${spent.toFixed(1)}${spent > most ? ' (over)' : ''}`
  const words = `${limit.times} × + ${limit.more} ms = ${most.toFixed(1)}`
  return `| ${name} | ${status.toFixed(1)} | ${cell(start)} | ${cell(complete)} | ${words} |`
}

const named = process.argv.slice(2)
console.log('| case | git status, ms | start_task, ms | complete_task, ms | at most |')
console.log('|---|---|---|---|---|')
for (const wanted of cases.filter(({ name }) => named.length === 0 || named.includes(name)))
  console.log(await bench(wanted))
