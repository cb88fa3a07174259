import type { AttemptId, MissionId, TaskId } from '../src/kernel/id.ts'
import { groupings, statsOf } from '../src/reports/domain/stats.ts'
import { weeksIn } from '../src/reports/domain/weeks.ts'
import { aChange, closing } from '../test/store/events.ts'
import { agent, aMission, anAttempt, aTask } from '../test/support/entities.ts'
import { temporaryStore } from '../test/support/store.ts'
import { timings } from './plan/timing.ts'

// What the statistics of many attempts cost: read from SQLite, and computed.
// node bench/stats.ts [attempts] [rounds].

const attempts = Number(process.argv[2] ?? 10_000)
const rounds = Number(process.argv[3] ?? 20)
const mission = 'm-1' as MissionId
const hour = 3_600_000
const begin = Date.UTC(2026, 0, 5)

await using temporary = await temporaryStore()
const { store } = temporary
await store.record({
  actor: agent,
  at: begin,
  decide: async () => ({ events: [{ kind: 'mission.started', mission: aMission() }], answer: null }),
})
const atOnce = 250
for (let from = 0; from < attempts; from += atOnce) {
  const events = Array.from({ length: Math.min(atOnce, attempts - from) }, (_, index) => {
    const number = from + index
    const taskId = `t-${number}` as TaskId
    const attempt = anAttempt({
      id: `a-${number}` as AttemptId,
      taskId,
      missionId: mission,
      agentName: `agent-${number % 20}`,
      openedAt: begin + number * (hour / 4),
    })
    const changes = Array.from({ length: 5 }, (__, file) => aChange(`src/file-${number % 500}-${file}.ts`))
    return [
      { kind: 'task.planned', task: aTask({ id: taskId, status: 'to_do', role: 'developer' }) } as const,
      { kind: 'attempt.opened', attempt } as const,
      closing(attempt, changes),
    ]
  }).flat()
  await store.record({
    actor: agent,
    at: begin + (from * hour) / 4 + hour,
    decide: async () => ({ events, answer: null }),
  })
}

const everything = { since: null, missionId: null, limit: 100_000 }
const read = () => store.view(({ stats }) => stats.records(everything))
const { records } = await read()
const question = { since: null, missionId: null, now: begin } as const
console.log(`${records.attempts.length} attempts with 5 changes each\n`)
console.log('| what, ms | median | 95 % | least | at most |\n|---|---|---|---|---|')
const measured = [
  ['read', read, ''],
  ...groupings.map((by) => {
    return [
      `figures by ${by}`,
      () => statsOf(records, { ...question, groupBy: by, weekOf: weeksIn('Europe/Berlin') }),
      '',
    ] as const
  }),
  [
    'read, and figures by week',
    async () =>
      statsOf((await read()).records, { ...question, groupBy: 'week', weekOf: weeksIn('Europe/Berlin') }),
    '300',
  ],
] as const
for (const [what, work, aim] of measured) {
  const { median, p95, least } = await timings(rounds, async () => void (await work()))
  console.log(`| ${what} | ${[median, p95, least].map((value) => value.toFixed(1)).join(' | ')} | ${aim} |`)
}
