import { z } from 'zod'
import { itemKinds } from '../../inbox/domain/inbox-item.ts'
import { instantOrNull, isDay } from '../../kernel/instant.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { choice, count, identifier } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { verdictRules } from '../../track/domain/verdict.ts'
import { type FigureName, figureDefinitions } from '../domain/figures.ts'
import {
  type Distribution,
  type Figures,
  type Grouping,
  groupings,
  type StatsGroup,
  statsOf,
  type WaitDistribution,
} from '../domain/stats.ts'
import { mondayOf, weeksIn } from '../domain/weeks.ts'

const n = z.int().describe('What the figure is counted from')
const real = z.number().nullable()
const whole = z.int().nullable()
const measured = z.literal('measured')
const claimed = z.literal('claimed')

const SpreadFigure = z.object({ basis: measured, n, median_seconds: real, p90_seconds: real })
const WaitFigure = SpreadFigure.extend({ total_seconds: real })
const ReportedSum = z.object({ n, sum: whole })

/** Null is unknown: there was no data. */
const figures = {
  task_time: SpreadFigure,
  attempt_time: SpreadFigure,
  mission_time: SpreadFigure,
  first_pass: z.object({ basis: claimed, n, passed: whole, share: real }),
  verdicts: z.object({
    basis: measured,
    n,
    proven: whole,
    unproven: whole,
    contradicted: whole,
    explained: whole,
    by_rule: list(z.object({ rule: z.enum(verdictRules), n })),
  }),
  landed: z.object({
    basis: measured,
    n,
    landed: whole,
    share: real,
    reverted: whole,
    lost: whole,
    after: list(z.object({ days: z.int(), n, landed: whole, share: real })),
  }),
  waiting: WaitFigure.extend({ by_kind: list(WaitFigure.extend({ kind: z.enum(itemKinds) })) }),
  out_of_scope: z.object({ basis: measured, n, files: whole, attempts: whole }),
  retries: z.object({ basis: measured, n, attempts: whole, per_task: real, tried_again: whole }),
  refused_events: z.object({ basis: measured, n, refused: whole, share: real }),
  lines: z.object({ basis: measured, n, added: whole, deleted: whole, files_without_lines: whole }),
  tokens: z.object({ basis: claimed, ended_attempts: n, input: ReportedSum, output: ReportedSum }),
  turn_tokens: z.object({ basis: claimed, ended_turns: n, input: ReportedSum, output: ReportedSum }),
} as const satisfies Record<FigureName, z.ZodType>

const FiguresEntry = z.object(figures)

const GroupEntry = FiguresEntry.extend({
  /** A mission's id, an agent's name, a role, a week; null without one. */
  key: z.string().nullable(),
  name: z.string(),
})

const DefinitionEntry = z.object({
  figure: z.string(),
  title: z.string(),
  basis: z.enum(['measured', 'claimed']),
  unit: z.string(),
  definition: z.string(),
})

/** The maximum of rows of each kind. */
const maxRows = 100_000

const sinceField = z
  .string()
  .max(40)
  .refine(
    isPeriodText,
    'it is not all, not an age such as 30d or 12w, and not an ISO 8601 date or time such as 2026-01-15',
  )
  .describe(
    'Only work that ended since: an age such as 30d or 12w, an ISO date or time (UTC), or all, which reads the whole record. Default: 30d; with mission: all',
  )

export const stats = defineOperation({
  name: 'stats',
  command: 'stats',
  toolset: 'track',
  audience: 'both',
  title: 'Show durations, rework and waiting times',
  description:
    'Show how long work took, how much was right at the first attempt, and how long it waited for people. Each figure has its count, and says if it was measured or claimed.',
  kind: 'query',
  input: z.strictObject({
    group_by: choice(groupings, 'Group the figures by this').optional(),
    since: sinceField.optional(),
    mission: identifier('Only this mission or workflow (m-…, w-…)').optional(),
    zone: z
      .string()
      .max(60)
      .describe("Time zone of the weeks, such as Europe/Berlin; default: this machine's")
      .optional(),
    limit: count('How many groups; default 100. Of weeks and missions, the newest', 1000).optional(),
    explain: z.boolean().describe('Also explain the figures, in text').optional(),
  }),
  output: z.object({
    group_by: z.enum(groupings).nullable(),
    since: z.string().nullable(),
    mission_id: z.string().nullable(),
    zone: z.string(),
    all: FiguresEntry,
    groups: list(GroupEntry),
    groups_total: z.int(),
    definitions: list(DefinitionEntry),
    notes: strings,
  }),
}).handler(async ({ store, clock }, input) => {
  const zone = input.zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  const weekOf = weeksIn(zone)
  const since = periodStart(input.since ?? (input.mission === undefined ? '30d' : 'all'), clock.now())
  const by = input.group_by ?? null
  const limit = input.limit ?? 100
  return store.view(async (reads) => {
    const missionId = input.mission === undefined ? null : (await findMission(reads, input.mission)).id
    const filter = { since, missionId, hasModels: by === 'model', limit: maxRows }
    const { records, isCut } = await reads.stats.records(filter)
    const { all, groups } = statsOf(records, { since, missionId, groupBy: by, weekOf, now: clock.now() })
    const shownGroups = by === 'week' || by === 'mission' ? groups.slice(-limit) : groups.slice(0, limit)
    const names = by === 'mission' ? await missionNames(reads, shownGroups) : new Map<string, string>()
    return {
      group_by: by,
      since: instantOrNull(since),
      mission_id: missionId,
      zone,
      all: figuresEntry(all),
      groups: shownGroups.map((group) => ({
        key: group.key,
        name: nameOf(by, group.key, names),
        ...figuresEntry(group),
      })),
      groups_total: groups.length,
      definitions: [...figureDefinitions],
      notes: isCut
        ? [
            `Only the newest ${maxRows.toLocaleString('en')} attempts, answers or events are counted; --since narrows it.`,
          ]
        : [],
    }
  })
})

const ages = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

function isPeriodText(text: string): boolean {
  return /^(?:all|\d{1,5}[hdw])$/.test(text) || (isDay(text.slice(0, 10)) && !Number.isNaN(timeOf(text)))
}

/** Null for all time. */
function periodStart(text: string, now: number): number | null {
  if (text === 'all') return null
  const [, amount, unit] = /^(\d+)([hdw])$/.exec(text) ?? []
  if (amount === undefined) return timeOf(text)
  return now - Number(amount) * ages[unit as keyof typeof ages] // the pattern allows only these
}

/** A time without a zone is UTC, so that the answer is the same on every machine. */
function timeOf(text: string): number {
  const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10))
  return Date.parse(text.length === 10 || hasZone ? text : `${text}Z`)
}

async function missionNames(
  reads: Reads,
  groups: readonly StatsGroup[],
): Promise<ReadonlyMap<string, string>> {
  const ids = groups.flatMap(({ key }) => (key === null ? [] : [key as never])) // the keys of missions are their ids
  const names = new Map<string, string>()
  for (let at = 0; at < ids.length; at += 200) {
    for (const [id, name] of await reads.missions.names(ids.slice(at, at + 200))) names.set(id, name)
  }
  return names
}

const nameless = {
  mission: 'no mission',
  agent: 'people, or no known agent',
  model: 'no recorded model',
  role: 'no role',
  week: 'no week',
} as const satisfies Record<Grouping, string>

function nameOf(by: Grouping | null, key: string | null, names: ReadonlyMap<string, string>): string {
  if (by === null) return key ?? ''
  if (key === null) return nameless[by]
  if (by === 'week') return `${key}, from ${mondayOf(key)}`
  return excerpt(names.get(key) ?? key, 120)
}

function figuresEntry(figures: Figures): z.output<typeof FiguresEntry> {
  const { firstPass, outOfScope, retries, refusedEvents, lines, tokens, turnTokens, waitingByKind } = figures
  const { verdicts, landed } = figures
  return {
    task_time: spreadEntry(figures.taskTime),
    attempt_time: spreadEntry(figures.attemptTime),
    mission_time: spreadEntry(figures.missionTime),
    first_pass: { basis: 'claimed', ...firstPass, share: ratio(firstPass.passed, firstPass.n) },
    verdicts: {
      basis: 'measured',
      n: verdicts.n,
      proven: verdicts.counts?.proven ?? null,
      unproven: verdicts.counts?.unproven ?? null,
      contradicted: verdicts.counts?.contradicted ?? null,
      explained: verdicts.counts?.explained ?? null,
      by_rule: [...verdicts.byRule],
    },
    landed: {
      basis: 'measured',
      ...landed,
      share: ratio(landed.landed, landed.n),
      after: landed.after.map((one) => ({ ...one, share: ratio(one.landed, one.n) })),
    },
    waiting: {
      ...waitEntry(figures.waiting),
      by_kind: waitingByKind.map(({ kind, ...wait }) => ({ kind, ...waitEntry(wait) })),
    },
    out_of_scope: { basis: 'measured', ...outOfScope },
    retries: {
      basis: 'measured',
      n: retries.n,
      attempts: retries.attempts,
      per_task: attemptsPerTask(retries.attempts, retries.n),
      tried_again: retries.again,
    },
    refused_events: {
      basis: 'measured',
      ...refusedEvents,
      share: ratio(refusedEvents.refused, refusedEvents.n),
    },
    lines: {
      basis: 'measured',
      n: lines.n,
      added: lines.added,
      deleted: lines.deleted,
      files_without_lines: lines.withoutLines,
    },
    tokens: { basis: 'claimed', ended_attempts: tokens.ended, input: tokens.input, output: tokens.output },
    turn_tokens: {
      basis: 'claimed',
      ended_turns: turnTokens.ended,
      input: turnTokens.input,
      output: turnTokens.output,
    },
  }
}

function spreadEntry({ n: from, median, p90 }: Distribution): z.output<typeof SpreadFigure> {
  return {
    basis: 'measured',
    n: from,
    median_seconds: toSecondsOrNull(median),
    p90_seconds: toSecondsOrNull(p90),
  }
}

function waitEntry(wait: WaitDistribution): z.output<typeof WaitFigure> {
  return { ...spreadEntry(wait), total_seconds: toSecondsOrNull(wait.total) }
}

function toSecondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds) / 1000
}

/** Rounded in the answer itself, so that every surface shows the same number. */
function attemptsPerTask(attempts: number | null, tasks: number): number | null {
  return attempts === null || tasks === 0 ? null : Math.round((attempts / tasks) * 10) / 10
}

/** Four decimals, so that equal records give equal text. */
function ratio(part: number | null, total: number): number | null {
  return part === null || total === 0 ? null : Math.round((part / total) * 10_000) / 10_000
}
