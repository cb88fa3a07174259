import { z } from 'zod'
import { doneWhenOf } from '../../gate/domain/settings.ts'
import { instant } from '../../kernel/instant.ts'
import { texts, unlistedField } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Task } from '../../track/domain/task.ts'
import {
  addToDoneWhen,
  type DoneWhen,
  type DoneWhenChanges,
  doneWhenJson,
  isEmptyDoneWhen,
  mergeDoneWhen,
  noDoneWhen,
  type Promised,
  parseDoneWhen,
  promiseLists,
  promisesLeftOut,
} from '../domain/done-when.ts'

/** Checked by `parseDoneWhen`. Its own fields are not in the list of tools, which names them in one description. */
export function doneWhenField(description: string) {
  return z
    .strictObject({
      criteria: unlistedField(texts('Sentences that the outcome answers')).optional(),
      check: unlistedField(
        z.array(z.unknown()).max(20).describe('Commands that must pass, or { run, pinned, timeout }'),
      ).optional(),
      changes: unlistedField(texts('Paths: each must match a changed file. [] expects no change')).optional(),
      keeps: unlistedField(texts('Paths that must not change')).optional(),
      inherit: unlistedField(
        z.boolean().describe('false: leave out the promises of mission and project'),
      ).optional(),
    })
    .describe(description)
}

/** Two lists as flags of their own, for the command line. */
export const promiseFlags = {
  criterion: unlistedField(texts('A criterion that the outcome answers')).optional(),
  check: unlistedField(texts('A command that must pass')).optional(),
}

/** The promises that a call gives, in whole or as flags; null for none. */
export function givenDoneWhen(input: {
  readonly done_when?: unknown
  readonly criterion?: readonly string[] | undefined
  readonly check?: readonly string[] | undefined
}): DoneWhenChanges | null {
  const { done_when: whole, criterion, check } = input
  if (whole === undefined && criterion === undefined && check === undefined) return null
  const given = whole === undefined ? {} : parseDoneWhen(whole)
  if (criterion === undefined && check === undefined) return given
  const flags = parseDoneWhen({ criteria: criterion, check })
  const { criteria, check: checks } = addToDoneWhen({ ...noDoneWhen, ...given }, flags)
  return { ...given, ...(criterion && { criteria }), ...(check && { check: checks }) }
}

/** The promises of a task with those of its mission and project. */
export interface TaskPromises extends DoneWhen {
  /** Those of mission and project that an agent left out. */
  readonly leftOut: readonly Promised[]
}

export async function promisesOf(
  reads: Reads,
  { missionId, doneWhen }: Pick<Task, 'missionId' | 'doneWhen'>,
): Promise<TaskPromises> {
  const [settings, mission] = await Promise.all([
    reads.runs.settings(),
    missionId === null ? null : reads.missions.find(missionId),
  ])
  const levels = [doneWhenOf(settings), mission?.doneWhen ?? null, doneWhen ?? null] as const
  return { ...mergeDoneWhen(...levels), leftOut: promisesLeftOut(...levels) }
}

export const DoneWhenEntry = z.object({
  criteria: strings.optional(),
  check: list(
    z.union([
      z.string(),
      z.object({ run: z.string(), pinned: strings.optional(), timeout: z.string().optional() }),
    ]),
  ).optional(),
  changes: strings.optional(),
  keeps: strings.optional(),
  inherit: z.literal(false).optional(),
  /** What a person removed after the task had started. */
  removed: list(
    z.object({ list: z.enum(promiseLists), text: z.string(), author: z.string(), removed_at: z.string() }),
  ).optional(),
  /** What an agent left out of the promises of mission and project. */
  left_out: list(z.object({ list: z.enum(promiseLists), text: z.string() })).optional(),
})

/** Null if nothing is promised. */
export function doneWhenEntry(
  doneWhen: (DoneWhen & Partial<TaskPromises>) | undefined,
): z.output<typeof DoneWhenEntry> | null {
  if (doneWhen === undefined) return null
  const { leftOut = [] } = doneWhen
  if (isEmptyDoneWhen(doneWhen) && leftOut.length === 0) return null
  const removed = doneWhen.removed.map(({ list: from, text, author, removedAt }) => {
    return { list: from, text, author, removed_at: instant(removedAt) }
  })
  return {
    ...doneWhenJson(doneWhen),
    ...(removed.length > 0 && { removed }),
    ...(leftOut.length > 0 && { left_out: leftOut.map((one) => ({ ...one })) }),
  }
}
