import type { InboxItemKind } from '../../inbox/domain/inbox-item.ts'
import type { AttemptId, MissionId, TaskId } from '../../kernel/id.ts'
import type { LandedState } from '../../track/domain/landed.ts'
import type { AttemptStatus, Resolution } from '../../track/domain/task.ts'
import type { VerdictRule, VerdictValue } from '../../track/domain/verdict.ts'
import { weekAfter } from './weeks.ts'

export const groupings = ['mission', 'agent', 'model', 'role', 'week'] as const
export type Grouping = (typeof groupings)[number]

/** An attempt with its measurement and claims. Times are in milliseconds. */
export interface CountedAttempt {
  readonly id: AttemptId
  readonly taskId: TaskId
  readonly missionId: MissionId | null
  /** Null for a person's own work: people are not distinguished. */
  readonly agent: string | null
  /** As its client reports it; null if it was not recorded. */
  readonly model: string | null
  readonly number: number
  readonly status: AttemptStatus
  readonly openedAt: number
  readonly closedAt: number | null
  /** Null before the measurement, and where it failed. */
  readonly measured: {
    /** Null where no areas were declared. */
    readonly scopeMatches: boolean | null
    readonly outOfScope: number
    readonly addedLines: number
    readonly deletedLines: number
    /** Files whose lines cannot be counted. */
    readonly withoutLines: number
  } | null
  /** The first verdict with its rules, and the one that counts now. Null where nothing was claimed. */
  readonly verdict: {
    readonly first: VerdictValue
    readonly rules: readonly VerdictRule[]
    readonly last: VerdictValue
  } | null
  /** As reported by the agent; null if it reported nothing. */
  readonly tokensInput: number | null
  readonly tokensOutput: number | null
  readonly role: string | null
  readonly resolution: Resolution | null
  /** Where the lines of its task are; null before they were measured. */
  readonly landing: { readonly is: LandedState; readonly landedAt: number | null } | null
}

/** An inbox item that a person answered. */
export interface CountedAnswer {
  readonly kind: InboxItemKind
  readonly missionId: MissionId | null
  /** The agent whose work waited. */
  readonly agent: string | null
  readonly role: string | null
  readonly openedAt: number
  readonly closedAt: number
}

/** An event sent to a run. */
export interface CountedEvent {
  readonly missionId: MissionId | null
  readonly author: string
  readonly role: string | null
  readonly at: number
  readonly isRefused: boolean
}

/** An ended turn. */
export interface CountedTurn {
  readonly client: string
  readonly model: string | null
  readonly closedAt: number
  /** As reported by the client; null if it reports nothing. */
  readonly tokensInput: number | null
  readonly tokensOutput: number | null
}

/** A mission that was completed. */
export interface CountedMission {
  readonly id: MissionId
  readonly startedAt: number
  readonly completedAt: number
}

/** The records that figures are computed from. */
export interface StatRecords {
  /** At least every attempt at a task with an attempt that ended in the requested time. */
  readonly attempts: readonly CountedAttempt[]
  readonly answers: readonly CountedAnswer[]
  readonly events: readonly CountedEvent[]
  readonly missions: readonly CountedMission[]
  readonly turns: readonly CountedTurn[]
  /** Tasks that a person rejected, or whose run returned to an earlier state. */
  readonly setBack: ReadonlySet<TaskId>
}

export interface StatsQuery {
  /** Only what ended at or after this time, in milliseconds. */
  readonly since: number | null
  readonly missionId: MissionId | null
  readonly groupBy: Grouping | null
  readonly weekOf: (at: number) => string
  /** The present time, in milliseconds. */
  readonly now: number
}

/** In milliseconds. Null without data. */
export interface Distribution {
  readonly n: number
  /** For an even number, the mean of the two in the middle. */
  readonly median: number | null
  /** The smallest value that nine of ten do not exceed. */
  readonly p90: number | null
}

export interface WaitDistribution extends Distribution {
  readonly total: number | null
}

export interface Figures {
  readonly taskTime: Distribution
  readonly attemptTime: Distribution
  readonly missionTime: Distribution
  readonly firstPass: { readonly n: number; readonly passed: number | null }
  readonly verdicts: VerdictCounts
  readonly landed: LandedCounts
  readonly waiting: WaitDistribution
  /** Only kinds that were answered. */
  readonly waitingByKind: readonly (WaitDistribution & { readonly kind: InboxItemKind })[]
  readonly outOfScope: { readonly n: number; readonly files: number | null; readonly attempts: number | null }
  readonly retries: { readonly n: number; readonly attempts: number | null; readonly again: number | null }
  readonly refusedEvents: { readonly n: number; readonly refused: number | null }
  readonly lines: {
    readonly n: number
    readonly added: number | null
    readonly deleted: number | null
    readonly withoutLines: number | null
  }
  readonly tokens: ReportedTokens
  /** The same figures for turns. */
  readonly turnTokens: ReportedTokens
}

/** First verdicts. `explained` contradictions were cleared for the same work, by other words or a later check. */
interface VerdictCounts {
  readonly n: number
  readonly counts: Readonly<Record<VerdictValue | 'explained', number>> | null
  /** How many completions each rule of a first verdict concerned. */
  readonly byRule: readonly { readonly rule: VerdictRule; readonly n: number }[]
}

/** Completed tasks whose lines were followed. */
interface LandedCounts {
  readonly n: number
  readonly landed: number | null
  readonly reverted: number | null
  readonly lost: number | null
  /** Of the tasks that were completed so many days ago or earlier, those that had landed by then. */
  readonly after: readonly { readonly days: number; readonly n: number; readonly landed: number | null }[]
}

/** `ended` attempts could have reported a number; the ones that did are counted for each. */
export interface ReportedTokens {
  readonly ended: number
  readonly input: { readonly n: number; readonly sum: number | null }
  readonly output: { readonly n: number; readonly sum: number | null }
}

export interface StatsGroup extends Figures {
  /** A mission's id, an agent's name, a role, a week; null without one. */
  readonly key: string | null
}

export interface Stats {
  readonly all: Figures
  /** Weeks in order of time, other groups by key: no figure ranks anyone. */
  readonly groups: readonly StatsGroup[]
}

/** A task with an attempt, summarized from all its attempts. */
interface CountedTask {
  readonly attempts: readonly CountedAttempt[]
  /** The last ended attempt; for a completed task, the last one that completed it. */
  readonly last: CountedAttempt
  readonly completed: CountedAttempt | null
}

interface StatsInput {
  readonly attempts: CountedAttempt[]
  readonly tasks: CountedTask[]
  readonly completed: CountedTask[]
  readonly missions: CountedMission[]
  readonly answers: CountedAnswer[]
  readonly events: CountedEvent[]
  readonly turns: CountedTurn[]
}

/** All figures, in total and for each group. Equal records give equal figures. */
export function statsOf(records: StatRecords, question: StatsQuery): Stats {
  const counted = partsOf(records, question)
  const { groupBy } = question
  const known = { setBack: records.setBack, now: question.now }
  const all = figuresOf(counted, known)
  if (groupBy === null) return { all, groups: [] }
  const keys = keysOf[groupBy](records, question)
  const groups = new Map<string | null, StatsInput>()
  for (const kind of kindsOfParts) {
    for (const part of counted[kind]) {
      const key = keys[kind](part as never) // each function takes parts of its kind
      if (key === undefined) continue
      const group = groups.get(key) ?? emptyParts()
      ;(group[kind] as (typeof part)[]).push(part) // of the same kind
      groups.set(key, group)
    }
  }
  const order =
    groupBy === 'week' ? weeksBetween([...groups.keys()]) : [...groups.keys()].toSorted(compareKeys)
  return {
    all,
    groups: order.map((key) => ({ key, ...figuresOf(groups.get(key) ?? emptyParts(), known) })),
  }
}

const kindsOfParts = ['attempts', 'tasks', 'completed', 'missions', 'answers', 'events', 'turns'] as const

function emptyParts(): StatsInput {
  return { attempts: [], tasks: [], completed: [], missions: [], answers: [], events: [], turns: [] }
}

/** Groups without a key come last. */
function compareKeys(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : Number(one > other)
}

/** Two years: no chart shows a longer gap. */
const maxWeeks = 104

/** All weeks from the first to the last, also empty ones. */
function weeksBetween(found: readonly (string | null)[]): readonly string[] {
  const weeks = found.filter((week) => week !== null).toSorted()
  const last = weeks.at(-1)
  if (last === undefined) return []
  const whole: string[] = []
  for (let week = weeks[0] ?? last; week <= last; week = weekAfter(week)) {
    if (whole.length >= maxWeeks) return weeks
    whole.push(week)
  }
  return whole
}

function partsOf(
  { attempts, answers, events, missions, turns }: StatRecords,
  { since, missionId }: StatsQuery,
): StatsInput {
  const isIn = (at: number | null): at is number => at !== null && (since === null || at >= since)
  const isOf = (mission: MissionId | null) => missionId === null || mission === missionId
  const ended = attempts.filter((attempt) => isIn(attempt.closedAt) && isOf(attempt.missionId))
  const tasks = [...Map.groupBy(attempts, ({ taskId }) => taskId).values()].flatMap(taskOf)
  return {
    attempts: ended,
    tasks: tasks.filter(({ last }) => isIn(last.closedAt) && isOf(last.missionId)),
    completed: tasks.filter(
      ({ completed }) => completed !== null && isIn(completed.closedAt) && isOf(completed.missionId),
    ),
    missions: missions.filter(({ id, completedAt }) => isIn(completedAt) && isOf(id)),
    answers: answers.filter(({ closedAt, missionId: mission }) => isIn(closedAt) && isOf(mission)),
    events: events.filter(({ at, missionId: mission }) => isIn(at) && isOf(mission)),
    turns: turns.filter(({ closedAt }) => isIn(closedAt) && missionId === null),
  }
}

function taskOf(attempts: readonly CountedAttempt[]): readonly CountedTask[] {
  const closed = attempts.filter(({ closedAt }) => closedAt !== null)
  const ended = closed.length > 1 ? closed.toSorted((one, other) => one.number - other.number) : closed
  const last = ended.at(-1)
  if (last === undefined) return []
  // A dropped task is neither a success nor a failure.
  const completed = last.resolution === 'dropped' ? undefined : ended.findLast(isCompletion)
  return [{ attempts, last, completed: completed ?? null }]
}

function isCompletion({ status }: CountedAttempt): boolean {
  return status === 'success' || status === 'partial_success'
}

/** The group of a part; undefined if it belongs to no group. */
type GroupKeys = {
  readonly [Kind in keyof StatsInput]: (part: StatsInput[Kind][number]) => string | null | undefined
}

const keysOf = {
  mission: () => ({
    attempts: ({ missionId }) => missionId,
    tasks: ({ last }) => last.missionId,
    completed: ({ completed }) => completed?.missionId,
    missions: ({ id }) => id,
    answers: ({ missionId }) => missionId,
    events: ({ missionId }) => missionId,
    turns: () => undefined,
  }),
  agent: ({ attempts }) => {
    const agents = new Set(attempts.map(({ agent }) => agent))
    return {
      attempts: ({ agent }) => agent,
      tasks: ({ last }) => last.agent,
      completed: ({ completed }) => completed?.agent,
      missions: () => undefined,
      answers: ({ agent }) => agent,
      events: ({ author }) => (agents.has(author) ? author : null),
      turns: ({ client }) => client,
    }
  },
  model: () => ({
    attempts: ({ model }) => model,
    tasks: ({ last }) => last.model,
    completed: ({ completed }) => completed?.model,
    missions: () => undefined,
    answers: () => undefined,
    events: () => undefined,
    turns: ({ model }) => model,
  }),
  role: () => ({
    attempts: ({ role }) => role,
    tasks: ({ last }) => last.role,
    completed: ({ completed }) => completed?.role,
    missions: () => undefined,
    answers: ({ role }) => role,
    events: ({ role }) => role,
    turns: () => undefined,
  }),
  week: (_records, { weekOf }) => {
    const weekOrNone = (at: number | null | undefined) =>
      at === null || at === undefined ? undefined : weekOf(at)
    return {
      attempts: ({ closedAt }) => weekOrNone(closedAt),
      tasks: ({ last }) => weekOrNone(last.closedAt),
      completed: ({ completed }) => weekOrNone(completed?.closedAt),
      missions: ({ completedAt }) => weekOf(completedAt),
      answers: ({ closedAt }) => weekOf(closedAt),
      events: ({ at }) => weekOf(at),
      turns: ({ closedAt }) => weekOf(closedAt),
    }
  },
} as const satisfies Record<Grouping, (records: StatRecords, question: StatsQuery) => GroupKeys>

function figuresOf(
  parts: StatsInput,
  { setBack, now }: { readonly setBack: ReadonlySet<TaskId>; readonly now: number },
): Figures {
  const { attempts, tasks, completed, missions, answers, events, turns } = parts
  const done = completed.filter(isDone)
  const judged = attempts.flatMap(({ measured }) =>
    measured === null || measured.scopeMatches === null ? [] : [measured],
  )
  const measured = attempts.flatMap((attempt) => attempt.measured ?? [])
  const worked = attempts.filter(({ status }) => status !== 'abandoned')
  return {
    taskTime: spreadOf(done.map(timeOf)),
    attemptTime: spreadOf(worked.map(({ openedAt, closedAt }) => durationBetween(openedAt, closedAt))),
    missionTime: spreadOf(
      missions.map(({ startedAt, completedAt }) => durationBetween(startedAt, completedAt)),
    ),
    firstPass: {
      n: completed.length,
      passed: whenAny(completed, () =>
        count(
          completed,
          (task) => isDone(task) && task.attempts.length === 1 && !setBack.has(task.last.taskId),
        ),
      ),
    },
    verdicts: verdictCounts(attempts),
    landed: landedCounts(completed, now),
    waiting: waitStats(answers),
    waitingByKind: [...Map.groupBy(answers, ({ kind }) => kind)]
      .map(([kind, ofKind]) => ({ kind, ...waitStats(ofKind) }))
      .toSorted((one, other) => compareKeys(one.kind, other.kind)),
    outOfScope: {
      n: judged.length,
      files: whenAny(judged, () => sum(judged.map(({ outOfScope }) => outOfScope))),
      attempts: whenAny(judged, () => count(judged, ({ outOfScope }) => outOfScope > 0)),
    },
    retries: {
      n: tasks.length,
      attempts: whenAny(tasks, () => sum(tasks.map((task) => task.attempts.length))),
      again: whenAny(tasks, () => count(tasks, (task) => task.attempts.length > 1)),
    },
    refusedEvents: {
      n: events.length,
      refused: whenAny(events, () => count(events, ({ isRefused }) => isRefused)),
    },
    lines: {
      n: measured.length,
      added: whenAny(measured, () => sum(measured.map(({ addedLines }) => addedLines))),
      deleted: whenAny(measured, () => sum(measured.map(({ deletedLines }) => deletedLines))),
      withoutLines: whenAny(measured, () => sum(measured.map(({ withoutLines }) => withoutLines))),
    },
    tokens: tokensOf(worked),
    turnTokens: tokensOf(turns),
  }
}

function verdictCounts(attempts: readonly CountedAttempt[]): VerdictCounts {
  const verdicts = attempts.flatMap(({ verdict }) => verdict ?? [])
  const isExplained = ({ first, last }: (typeof verdicts)[number]) =>
    first === 'contradicted' && last !== 'contradicted'
  const countOf = (is: VerdictValue) =>
    count(verdicts, (verdict) => verdict.first === is && !isExplained(verdict))
  const counts = {
    proven: countOf('proven'),
    unproven: countOf('unproven'),
    contradicted: countOf('contradicted'),
    explained: count(verdicts, isExplained),
  }
  const byRule = [
    ...Map.groupBy(
      verdicts.flatMap(({ rules }) => rules),
      (rule) => rule,
    ),
  ]
  return {
    n: verdicts.length,
    counts: verdicts.length === 0 ? null : counts,
    byRule: byRule
      .map(([rule, { length: n }]) => ({ rule, n }))
      .toSorted((one, other) => other.n - one.n || compareKeys(one.rule, other.rule)),
  }
}

const day = 86_400_000
const landedDays = [1, 7, 30] as const

function landedCounts(completed: readonly CountedTask[], now: number): LandedCounts {
  const followed = completed.flatMap(({ completed: attempt }) => {
    const { landing = null, closedAt = null } = attempt ?? {}
    return landing === null || closedAt === null || landing.is === 'none' || landing.is === 'unknown'
      ? []
      : [{ ...landing, closedAt }]
  })
  const countOf = (is: LandedState) => whenAny(followed, () => count(followed, (task) => task.is === is))
  return {
    n: followed.length,
    landed: countOf('landed'),
    reverted: countOf('reverted'),
    lost: countOf('lost'),
    after: landedDays.map((days) => {
      const old = followed.filter(({ closedAt }) => now - closedAt >= days * day)
      const isInTime = ({ landedAt, closedAt }: (typeof old)[number]) =>
        landedAt !== null && landedAt - closedAt <= days * day
      return { days, n: old.length, landed: whenAny(old, () => count(old, isInTime)) }
    }),
  }
}

/** Completed, and not reopened since. */
function isDone({ last }: CountedTask): boolean {
  return last.resolution === 'success' || last.resolution === 'partial_success'
}

function timeOf({ attempts, completed, last }: CountedTask): number {
  const began = Math.min(...attempts.map(({ openedAt }) => openedAt))
  return durationBetween(began, (completed ?? last).closedAt)
}

/** Never negative, although clocks of machines differ. */
function durationBetween(from: number, to: number | null): number {
  return Math.max(0, (to ?? from) - from)
}

function waitStats(answers: readonly CountedAnswer[]): WaitDistribution {
  const times = answers.map(({ openedAt, closedAt }) => durationBetween(openedAt, closedAt))
  return { ...spreadOf(times), total: whenAny(times, () => sum(times)) }
}

export function spreadOf(times: readonly number[]): Distribution {
  const n = times.length
  if (n === 0) return { n, median: null, p90: null }
  const sorted = times.toSorted((one, other) => one - other)
  const at = (place: number) => sorted[place] ?? 0
  const median = n % 2 === 1 ? at((n - 1) / 2) : (at(n / 2 - 1) + at(n / 2)) / 2
  return { n, median, p90: at(Math.ceil(n * 0.9) - 1) }
}

function tokensOf(ended: readonly Pick<CountedTurn, 'tokensInput' | 'tokensOutput'>[]): ReportedTokens {
  return {
    ended: ended.length,
    input: sumOfKnown(ended.map(({ tokensInput }) => tokensInput)),
    output: sumOfKnown(ended.map(({ tokensOutput }) => tokensOutput)),
  }
}

function sumOfKnown(numbers: readonly (number | null)[]): {
  readonly n: number
  readonly sum: number | null
} {
  const reported = numbers.filter((number) => number !== null)
  return { n: reported.length, sum: whenAny(reported, () => sum(reported)) }
}

/** Null without items, rather than 0. */
function whenAny(items: readonly unknown[], compute: () => number): number | null {
  return items.length === 0 ? null : compute()
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function count<Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number {
  return items.filter(isCounted).length
}
