import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { findAttempt, findMission, findTask } from '../../kernel/operations/find.ts'
import { count, identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { countChanges, sortOutOfScopeFirst } from '../domain/changes.ts'
import { type Attempt, attemptStatuses } from '../domain/task.ts'
import {
  ChangeCounts,
  ChangeEntry,
  changeEntry,
  diffAnswer,
  measurement,
  noDiff,
  sharedTree,
  sharedTreeFields,
  truncationFields,
  unexpectedFiles,
  Verification,
} from './attempt-answer.ts'
import { endOf, measure, measureAttempt } from './measure.ts'

export const changes = defineOperation({
  name: 'changes',
  command: 'changes',
  toolset: 'track',
  audience: 'both',
  title: 'List the changes of a task',
  description: 'Every file that a task changed, out of scope first. For an open task: measured now.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A task, or one attempt at it (t-…, a-…)'),
    limit: count('How many; default 50', 1000).optional(),
    offset: z.int().min(0).describe('How many to skip').optional(),
  }),
  output: z.object({
    task_id: z.string(),
    attempt_id: z.string(),
    status: z.enum(attemptStatuses),
    measurement,
    verification: Verification,
    changes: list(ChangeEntry),
    counts: ChangeCounts,
    ...sharedTreeFields,
    total: z.int(),
    next_offset: z.int().nullable(),
  }),
}).handler(async (handling, input) => {
  const limit = input.limit ?? 50
  const offset = input.offset ?? 0
  const attempt = await handling.store.view((reads) => attemptOf(reads, input.id))
  const read = attempt.status === 'open' ? measureCurrentChanges : storedChanges
  const found = await read(handling, attempt, { limit, offset })
  const total = found.counts.added + found.counts.modified + found.counts.deleted + found.counts.renamed
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    status: attempt.status,
    ...found,
    changes: found.changes.map(changeEntry),
    counts: found.counts,
    total,
    next_offset: offset + found.changes.length < total ? offset + found.changes.length : null,
  }
})

interface ChangesSlice {
  readonly limit: number
  readonly offset: number
}

async function measureCurrentChanges(
  handling: QueryContext,
  attempt: Attempt,
  { limit, offset }: ChangesSlice,
) {
  const evidence = await measure(handling, attempt)
  return {
    measurement: evidence.measurement,
    verification: verificationOf(evidence),
    ...sharedTree(evidence),
    changes: sortOutOfScopeFirst(evidence.changes).slice(offset, offset + limit),
    counts: countChanges(evidence.changes),
  }
}

async function storedChanges({ store }: QueryContext, attempt: Attempt, part: ChangesSlice) {
  return store.view(async ({ tasks }) => {
    const end = await tasks.end(attempt.id)
    return {
      measurement: end === null ? ('unknown' as const) : end.evidence.measurement,
      verification: end === null ? unmeasured : verificationOf(end.evidence),
      ...(end !== null && sharedTree(end.evidence)),
      changes: await tasks.changes(attempt.id, part),
      counts: end?.counts ?? { added: 0, modified: 0, deleted: 0, renamed: 0 },
    }
  })
}

const unmeasured: z.output<typeof Verification> = {
  scope_match: null,
  unexpected_files: [],
  warnings: ['The attempt was abandoned: its end was not measured.'],
}

function verificationOf({
  scope,
  warnings,
}: Omit<AttemptMeasurement, 'changes'>): z.output<typeof Verification> {
  return {
    scope_match: scope.matches,
    ...unexpectedFiles(scope.unexpected, scope.unexpected.slice(0, 50)),
    warnings: warnings.slice(0, 20),
  }
}

export const diff = defineOperation({
  name: 'diff',
  command: 'diff',
  toolset: 'track',
  audience: 'both',
  title: 'The unified diff of a task or mission',
  description:
    'What a task changed, line by line, between its snapshots; for an open task up to now. Of a mission: from the state at its first attempt to the state at its last end, the files of its attempts.',
  kind: 'query',
  positional: ['id', 'path'],
  input: z.strictObject({
    id: identifier('A task, one attempt at it, or a mission (t-…, a-…, m-…, w-…)'),
    path: text('Only this file, from the top of the work tree').optional(),
  }),
  output: z.object({
    task_id: z.string().optional(),
    attempt_id: z.string().optional(),
    mission_id: z.string().optional(),
    diff: z.string(),
    ...truncationFields,
    /** Files of it that are probably others', and are not counted as the task's. */
    contested_files: sharedTreeFields.contested_files,
    contested_files_total: sharedTreeFields.contested_files_total,
  }),
}).handler(async (handling, input) => {
  const mission = await handling.store.view((reads) => reads.missions.find(input.id))
  if (mission !== null) return diffOfMission(handling, mission.id, input.path)
  const attempt = await handling.store.view((reads) => attemptOf(reads, input.id))
  if (attempt.snapshot.edge !== handling.edge?.id) {
    const kept = await handling.store.view(({ tasks }) => tasks.end(attempt.id))
    return {
      ...(await storedDiff(handling, attempt, input.path)),
      ...contestedFields(kept?.evidence, input.path),
    }
  }
  const { end, evidence } = await endOfAttempt(handling, attempt)
  if (end === null) {
    throw new Failure(
      'UNAVAILABLE',
      `The end of attempt ${attempt.id} was not measured (${attempt.status}).`,
      { reason: 'attempt_not_measured', hint: `waymark show ${attempt.taskId} tells what is known.` },
    )
  }
  const unified = await handling.witness.unifiedDiff(
    attempt.snapshot,
    end,
    input.path === undefined ? undefined : [input.path],
  )
  if (unified === null) {
    throw new Failure(
      'UNAVAILABLE',
      `The snapshots of attempt ${attempt.id} are gone or cannot be compared.`,
      {
        reason: 'attempt_snapshots_unavailable',
        hint: `waymark changes ${attempt.taskId} still lists the files; snapshots are kept for 30 days.`,
      },
    )
  }
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    ...diffAnswer([unified]),
    ...contestedFields(evidence, input.path),
  }
})

/** How an attempt ended, and what was found of it; of an open one as it is now. */
async function endOfAttempt(handling: QueryContext, attempt: Attempt) {
  if (attempt.status !== 'open') {
    const kept = await handling.store.view(({ tasks }) => tasks.end(attempt.id))
    return { end: attempt.endSnapshot, evidence: kept?.evidence }
  }
  const now = await endOf(handling, attempt)
  const evidence = await measureAttempt(handling, now)
  if (now.end?.place) return { end: now.end.place, evidence }
  throw new Failure(
    'UNAVAILABLE',
    evidence.warnings[0] ?? `The state of attempt ${attempt.id} is not known.`,
    { reason: 'attempt_not_measured' },
  )
}

/** What others probably changed in the time of an attempt, of one file or of all. */
function contestedFields(
  evidence: Omit<AttemptMeasurement, 'changes'> | undefined,
  path: string | undefined,
) {
  const contested = evidence?.contested?.filter((file) => path === undefined || file.path === path) ?? []
  if (evidence === undefined || contested.length === 0) return {}
  const { contested_files, contested_files_total } = sharedTree({ ...evidence, contested })
  return { contested_files, ...(contested_files_total !== undefined && { contested_files_total }) }
}

/** Of an attempt on another machine there is what that one sent. */
async function storedDiff({ store }: QueryContext, attempt: Attempt, path: string | undefined) {
  const { machine = 'the machine that keeps the record', top } = attempt.snapshot
  const kept = await store.view(({ edges }) => edges.diff(attempt.id))
  if (kept === null) {
    const why = attempt.status === 'open' ? 'they are sent when the task is completed' : 'they were not sent'
    throw new Failure(
      'UNAVAILABLE',
      `The changes of attempt ${attempt.id} are on ${machine}, in ${top}: ${why}.`,
      {
        reason: 'attempt_on_other_machine',
        hint: `waymark changes ${attempt.taskId} lists what is known of them here.`,
      },
    )
  }
  if (kept.text === null) {
    throw new Failure(
      'UNAVAILABLE',
      `What attempt ${attempt.id} changed, line by line, was removed when its time was over: ${kept.bytes} bytes, sha-256 ${kept.sha256}.`,
      {
        reason: 'diff_removed',
        hint: `waymark changes ${attempt.taskId} lists the files; waymark setting list says how long such texts are kept (retention_days).`,
      },
    )
  }
  const text = path === undefined ? kept.text : partOf(kept.text, path)
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    ...diffAnswer([{ text, leftOut: [] }], kept.cut),
  }
}

/** The part of a diff that is about one file, by its old or its new name. */
function partOf(diff: string, path: string): string {
  const parts = diff.split(/^(?=diff --git )/m)
  return parts.filter((part) => diffFileNames(part).includes(path)).join('')
}

function diffFileNames(part: string): readonly string[] {
  const lines = part.split('\n@@', 1)[0]?.split('\n') ?? []
  return lines.flatMap((line) => {
    const [, name] = /^(?:--- a\/|\+\+\+ b\/|rename from |rename to )(.*?)\t?$/.exec(line) ?? []
    const [, old, now] = /^diff --git a\/(.*) b\/(.*)$/.exec(line) ?? []
    return [name, old, now].filter((one) => one !== undefined)
  })
}

/** The work trees one after the other, each with the files that attempts of the mission changed there. */
async function diffOfMission(
  { store, witness, edge }: QueryContext,
  missionId: MissionId,
  path: string | undefined,
) {
  const trees = await store.view(async ({ missions }) => {
    const tops = await missions.treesOf(missionId)
    return Promise.all(tops.map((top) => missions.tree(missionId, top)))
  })
  const parts = await Promise.all(
    trees.map(async ({ first, lastEnded, recorded }) => {
      if (first === null || lastEnded?.endSnapshot == null) return noDiff
      if (first.snapshot.edge !== edge?.id) throw changesElsewhereFailure(missionId, first)
      const changed = recorded.filter(({ change, origin }) => change !== 'none' && origin !== 'imported')
      const paths = changed.flatMap((one) => (one.from === undefined ? [one.path] : [one.path, one.from]))
      const wanted = path === undefined ? paths : paths.filter((known) => known === path)
      return wanted.length === 0 ? noDiff : witness.unifiedDiff(first.snapshot, lastEnded.endSnapshot, wanted)
    }),
  )
  const found = parts.filter((part) => part !== null)
  if (found.length < parts.length) {
    throw new Failure('UNAVAILABLE', `Snapshots of mission ${missionId} are gone or cannot be compared.`, {
      reason: 'mission_snapshots_unavailable',
      hint: `waymark mission changes ${missionId} still lists the files; snapshots are kept for 30 days after the last task.`,
    })
  }
  return { mission_id: missionId, ...diffAnswer(found) }
}

function changesElsewhereFailure(missionId: MissionId, { snapshot }: Attempt): Failure {
  const { machine = 'the machine that keeps the record', top } = snapshot
  return new Failure(
    'UNAVAILABLE',
    `Mission ${missionId} was worked on on ${machine}, in ${top}: its states can only be compared there.`,
    { reason: 'mission_on_other_machine', hint: 'Look at its tasks one by one: waymark diff <task>.' },
  )
}

export const missionChanges = defineOperation({
  name: 'mission_changes',
  command: 'mission changes',
  toolset: 'track',
  audience: 'both',
  title: 'List the changes of a mission',
  description:
    'Every file that the attempts in a mission changed, out of scope first: the difference of the state at its first attempt and the state at its last end.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission or workflow (m-…, w-…)'),
    limit: count('How many files; default 500', 10_000).optional(),
  }),
  output: z.object({
    id: z.string(),
    files: list(
      z.object({
        path: z.string(),
        change: ChangeEntry.shape.change,
        scope: z.enum(['in', 'out']).nullable(),
        added_lines: z.int().nullable(),
        deleted_lines: z.int().nullable(),
        others: z.boolean(),
        attempts: z.int(),
        task_id: z.string().nullable(),
      }),
    ),
    added_lines: z.int().nullable(),
    deleted_lines: z.int().nullable(),
    total: z.int(),
  }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const mission = await findMission(reads, input.id)
    const files = await reads.timeline.files(mission.id, input.limit ?? 500)
    const lines = await reads.missions.lines(mission.id)
    return {
      id: mission.id,
      files: files.map((file) => ({
        path: file.path,
        change: file.change,
        scope: file.scope,
        added_lines: file.addedLines,
        deleted_lines: file.deletedLines,
        others: file.others,
        attempts: file.attempts,
        task_id: file.taskId,
      })),
      added_lines: lines.added,
      deleted_lines: lines.deleted,
      total: lines.files,
    }
  }),
)

/** The attempt that an id speaks of: itself, or the last one at a task. */
async function attemptOf(reads: Reads, id: string): Promise<Attempt> {
  if (id.startsWith('a-')) return findAttempt(reads, id)
  const task = await findTask(reads, id)
  const attempt = await reads.tasks.lastAttempt(task.id)
  if (attempt) return attempt
  throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started: nothing was measured.`, {
    reason: 'task_not_started',
    hint: hintOf`Use ${callTo('start_task', { planned_task_id: task.id })} to begin.`,
  })
}
