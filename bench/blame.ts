import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { lineHasher } from '../src/git/line-hash.ts'
import { createWitness } from '../src/git/witness.ts'
import type { AttemptId, TaskId } from '../src/kernel/id.ts'
import { localMeasurer } from '../src/kernel/operations/measurement-protocol.ts'
import { type ChangedHunk, measuredSteps } from '../src/lines/domain/lines-of-change.ts'
import { blame } from '../src/lines/operations/blame.ts'
import { forgetFindings } from '../src/lines/operations/line-origins.ts'
import { fingerprint } from '../src/store/fingerprint.ts'
import { randomIds } from '../src/store/random-ids.ts'
import { agent, aMission, anAttempt, aTask } from '../test/support/entities.ts'
import { temporaryStore } from '../test/support/store.ts'

// What a look-up of a file's lines costs beside `git blame` of the same file in the same run:
// node bench/blame.ts [lines] [attempts] [rounds]. The record is made of log entries and the history by one import: each
// attempt changes 10 lines, and every second one is committed. The limit: three times git.

const lines = Number(process.argv[2] ?? 5_000)
const attempts = Number(process.argv[3] ?? 500)
const rounds = Number(process.argv[4] ?? 15)
const limit = 3
const path = 'module.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const git = (words: readonly string[], input?: Buffer) =>
  execFileSync('git', words, { cwd: top, input, stdio: ['pipe', 'pipe', 'ignore'], maxBuffer: 2 ** 28 })

await using temporary = await temporaryStore()
const { store } = temporary
const begin = Date.UTC(2026, 0, 5)
const at = (attempt: number) => begin + attempt * 60_000
const content = Array.from({ length: lines }, (_, line) => `export const value${line} = compute(${line * 7})`)
const whole = () => Buffer.from(`${content.join('\n')}\n`)
const oidOf = (bytes: Buffer) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
const history: Buffer[] = []
const commit = (time: number) => {
  const bytes = whole()
  const head = `commit refs/heads/main\ncommitter Bench <bench@example.com> ${Math.round(time / 1000)} +0000\n`
  history.push(
    Buffer.from(`${head}data 4\nStep\nM 100644 inline ${path}\ndata ${bytes.length}\n`),
    bytes,
    Buffer.from('\n'),
  )
}

commit(at(-1))
await store.record({
  actor: agent,
  at: at(0),
  decide: async () => ({
    events: [{ kind: 'mission.started', mission: aMission() }],
    answer: null,
  }),
})
const salt = await store.view((reads) => reads.lines.salt())
const hashOf = lineHasher(salt)
for (let number = 0; number < attempts; number += 1) {
  const before = oidOf(whole())
  const wanted = new Set(Array.from({ length: 10 }, (_, more) => (number * 97 + more * 499) % lines))
  const changed = [...wanted].sort((a, b) => a - b)
  const old = changed.map((line) => content[line] ?? '')
  for (const line of changed) content[line] = `export const value${line} = changed(${number})`
  const hunks = changed.map((line, index): ChangedHunk => {
    const around = [line - 1, line + 1].filter(
      (beside) => beside >= 0 && beside < lines && !wanted.has(beside),
    )
    return {
      before: line + 1,
      after: line + 1,
      removed: [old[index] ?? ''],
      added: [content[line] ?? ''],
      around: around.map((beside) => [beside + 1, content[beside] ?? '']),
    }
  })
  const file = { path, before, after: oidOf(whole()), origin: 'task', hunks, isPlain: false } as const
  const [step] = measuredSteps([file], { hashOf, originOfLine: () => null })
  if (step === undefined) throw new Error('nothing changed')
  const id = `a-${number}` as AttemptId
  const taskId = `t-${number}` as TaskId
  const attempt = anAttempt({
    id,
    taskId,
    agentName: `agent-${number % 9}`,
    openedAt: at(number),
  })
  const span = {
    tree: top,
    since: at(number),
    until: at(number) + 30_000,
    headBefore: null,
    headAfter: null,
    stashMoved: false,
    ran: number % 2 === 1,
    broughtFrom: [],
    steps: [{ ...step, owners: [id], certainty: 'certain' as const }],
  }
  await store.record({
    actor: agent,
    at: at(number) + 30_000,
    decide: async () => ({
      events: [
        { kind: 'task.planned', task: aTask({ id: taskId, status: 'to_do' }) },
        { kind: 'attempt.opened', attempt },
        { kind: 'lines.recorded', span },
      ],
      answer: null,
    }),
  })
  if (number % 2 === 1) commit(at(number) + 45_000)
}
git(['init', '-q', '-b', 'main'])
git(['fast-import', '--quiet'], Buffer.concat(history))
git(['reset', '-q', '--hard', 'main'])

const witness = createWitness({ stateFolder: join(top, '.git', 'state'), clock: { now: () => Date.now() } })
const spent = { git: [] as number[], cold: [] as number[], warm: [] as number[] }
const timed = async (into: number[], work: () => unknown) => {
  const start = performance.now()
  await work()
  into.push(performance.now() - start)
}
// Only these parts are asked.
const context = { store, witness, folder: top, fingerprint, ids: randomIds, clock: { now: () => Date.now() } }
const lookUp = () =>
  blame.handle({ ...context, measurer: localMeasurer(context as never) } as never, {
    file: join(top, path),
  })
const found = await lookUp()
for (let round = 0; round < rounds; round += 1) {
  await timed(spent.git, () => git(['blame', '-M', '--porcelain', path]))
  forgetFindings()
  await timed(spent.cold, () => lookUp())
  await timed(spent.warm, () => lookUp())
}
const known = found.ranges.reduce(
  (sum, { kind, start, end }) => sum + (kind === 'agent' ? end - start + 1 : 0),
  0,
)
console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}`)
console.log(
  `${lines} lines, ${attempts} attempts, ${Math.floor(attempts / 2)} commits; ${known} lines of agents\n`,
)
console.log('| what | median ms | least ms | times git | limit |\n|---|---|---|---|---|')
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const base = median(spent.git)
for (const [what, values, most] of [
  ['git blame -M', spent.git, null],
  ['waymark, cold', spent.cold, limit],
  ['waymark, remembered', spent.warm, limit],
] as const) {
  const times = median(values) / base
  const said = most === null ? '' : `${most}${times > most ? ', **over**' : ''}`
  const figures = [median(values).toFixed(1), Math.min(...values).toFixed(1), times.toFixed(2)]
  console.log(`| ${what} | ${[...figures, said].join(' | ')} |`)
}
rmSync(top, { recursive: true, force: true })
