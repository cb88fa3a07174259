import { execFileSync } from 'node:child_process'
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
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createWitness } from '../src/git/witness.ts'
import type { SnapshotRef, WorkTreeWitness } from '../src/ports/work-tree.ts'

// What the witness costs beside one `git status` of the same tree: node bench/evidence.ts [files …]

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 2_000, 10_000, 100_000]
const filesPerFolder = 50
const changedFiles = 200

interface Row {
  readonly files: number
  readonly changed: number
  readonly status: number
  readonly start: number
  readonly complete: number
}

interface Bench {
  readonly top: string
  readonly witness: WorkTreeWitness
  readonly rounds: number
}

function git(top: string, ...args: string[]): void {
  const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0']
  execFileSync('git', [...who, ...args], { cwd: top, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 })
}

function fileName(at: number): string {
  const folder = Math.floor(at / filesPerFolder)
  return `packages/p${folder % 40}/src/folder${folder}/module-${at}.ts`
}

function makeTree(top: string, files: number): void {
  for (let at = 0; at < files; at += 1) {
    const path = join(top, fileName(at))
    if (at % filesPerFolder === 0) mkdirSync(join(path, '..'), { recursive: true })
    const lines = Array.from({ length: 20 }, (_, line) => `export const value${line} = ${at * line}\n`)
    writeFileSync(path, lines.join(''))
  }
  git(top, 'init', '-q')
  git(top, 'add', '.')
  git(top, 'commit', '-qm', 'Base')
}

// Six in ten edited, two in ten new, one in ten removed, one in ten renamed.
function change(top: string, files: number): number {
  const changed = Math.min(changedFiles, files)
  for (let at = 0; at < changed; at += 1) {
    const path = join(top, fileName(Math.floor((at * files) / changed)))
    const kind = at % 10
    if (kind < 6) appendFileSync(path, 'export const more = 1\n')
    else if (kind < 8) writeFileSync(`${path}.new.ts`, `export const fresh = ${at}\n`)
    else if (kind < 9) rmSync(path)
    else renameSync(path, `${path}.moved.ts`)
  }
  return changed
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** One `git status`, one snapshot and one completion per round, in turn. */
async function measure({ top, witness, rounds }: Bench, from: SnapshotRef, name: string) {
  const status: number[] = []
  const start: number[] = []
  const complete: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    status.push(await timed(() => git(top, 'status', '--porcelain=v2', '-z', '--untracked-files=all')))
    start.push(await timed(() => witness.snapshot({ folder: top, name: `${name}-start-${round}` })))
    await witness.settle()
    complete.push(
      await timed(async () => {
        const { ref } = await witness.snapshot({ folder: top, name: `${name}-end-${round}` })
        await witness.changes(from, ref)
      }),
    )
    await witness.settle()
  }
  return { status: median(status), start: median(start), complete: median(complete) }
}

async function bench(files: number): Promise<Row[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
  const top = join(folder, 'project')
  mkdirSync(top)
  try {
    makeTree(top, files)
    const witness = createWitness({ stateFolder: join(folder, 'state'), clock: { now: () => Date.now() } })
    const rounds = files > 50_000 ? 7 : 15
    const { ref } = await witness.snapshot({ folder: top, name: 'base' })
    await witness.settle()
    const clean = await measure({ top, witness, rounds }, ref, 'clean')
    const changed = change(top, files)
    const dirty = await measure({ top, witness, rounds }, ref, 'dirty')
    return [
      { files, changed: 0, ...clean },
      { files, changed, ...dirty },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function show({ files, changed, status, start, complete }: Row): string {
  const cells = [
    files.toLocaleString('en'),
    changed,
    status.toFixed(1),
    start.toFixed(1),
    `${(start / status).toFixed(2)}x + ${Math.max(0, start - 1.2 * status).toFixed(0)}`,
    complete.toFixed(1),
    `${(complete / status).toFixed(2)}x + ${Math.max(0, complete - 1.5 * status).toFixed(0)}`,
  ]
  return `| ${cells.join(' | ')} |`
}

console.log(
  '| files | changed | git status ms | start ms | start: ratio, ms over 1.2x | complete ms | complete: ratio, ms over 1.5x |',
)
console.log('|---|---|---|---|---|---|---|')
for (const files of sizes) {
  for (const row of await bench(files)) console.log(show(row))
}
