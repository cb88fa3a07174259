import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { findAttempt, findMission, findTask } from '../../kernel/operations/find.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import type { MeasurementValues, PreparedOperation } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { ListPart } from '../../kernel/page.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { countChanges, namesOf, type ReportedChange, sortOutOfScopeFirst } from '../domain/changes.ts'
import type { Mission } from '../domain/mission.ts'
import { type Attempt, attemptStatuses, type SnapshotLocation } from '../domain/task.ts'
import {
  ChangeCounts,
  ChangeEntry,
  changeEntry,
  diffAnswer,
  maxShownDiff,
  measurementLevel,
  sharedTree,
  sharedTreeFields,
  truncationFields,
  unexpectedFiles,
  Verification,
} from './attempt-answer.ts'
import { measuredOpenAttempts, openAttemptMeasurements } from './measure-attempt.ts'
import { unifiedDiffs } from './measure-diff.ts'

export const changes = defineOperation({
  name: 'changes',
  command: 'changes',
  toolset: 'track',
  audience: 'both',
  title: 'List the files that a task changed',
  description: 'List every file that a task changed, out of scope first. An open task is measured now.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier(
      'A task or an attempt (t-…, a-…), or a title; a command without one takes the task in progress',
    ),
    ...pageFields(1000, 'How many; default 50'),
  }),
  output: z.object({
    task_id: z.string(),
    task_name: z.string(),
    attempt_id: z.string(),
    status: z.enum(attemptStatuses),
    measurement: measurementLevel,
    verification: Verification,
    changes: list(ChangeEntry),
    counts: ChangeCounts,
    ...sharedTreeFields,
    ...page,
  }),
})
  .measure(openAttemptMeasurements)
  .prepare(async (reads, input, context, measured) => {
    const attempt = await attemptOf(reads, input.id)
    const open = attempt.status === 'open' ? [attempt] : []
    const { briefs, found } = await measuredOpenAttempts(reads, context, open, measured)
    return { briefs, found: { attempt, evidence: found?.get(attempt.id)?.evidence } }
  })
  .answer(async ({ reads, found: { attempt, evidence }, context }, input) => {
    const paging = new Paging('changes', input, context.actor, 50)
    const part = { limit: paging.limit, offset: paging.offset() }
    const measuredOrStored = evidence
      ? measuredChanges(evidence, part)
      : await storedChanges(reads, attempt, part)
    const entries = paging.fit(measuredOrStored.changes.map(changeEntry))
    const { added, modified, deleted, renamed } = measuredOrStored.counts
    const total = added + modified + deleted + renamed
    const names = await reads.tasks.names([attempt.taskId])
    return {
      task_id: attempt.taskId,
      task_name: excerpt(names.get(attempt.taskId) ?? attempt.taskId, 120),
      attempt_id: attempt.id,
      status: attempt.status,
      ...measuredOrStored,
      changes: entries,
      total,
      next_cursor: paging.nextOffset(entries.length, total),
    }
  })

function measuredChanges(evidence: AttemptMeasurement, { limit, offset }: ListPart) {
  return {
    measurement: evidence.measurement,
    verification: verificationOf(evidence),
    ...sharedTree(evidence),
    changes: sortOutOfScopeFirst(evidence.changes).slice(offset, offset + limit),
    counts: countChanges(evidence.changes),
  }
}

async function storedChanges({ tasks }: Reads, attempt: Attempt, part: ListPart) {
  const end = await tasks.end(attempt.id)
  return {
    measurement: end === null ? ('unknown' as const) : end.evidence.measurement,
    verification: end === null ? unmeasured : verificationOf(end.evidence),
    ...(end !== null && sharedTree(end.evidence)),
    changes: await tasks.changes(attempt.id, part),
    counts: end?.counts ?? { added: 0, modified: 0, deleted: 0, renamed: 0 },
  }
}

const unmeasured: z.output<typeof Verification> = {
  scope_match: null,
  unexpected_files: [],
  warnings: ['The attempt was abandoned, so its end was not measured.'],
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

const diffMeasurements = { ...openAttemptMeasurements, diff: unifiedDiffs }

export const diff = defineOperation({
  name: 'diff',
  command: 'diff',
  toolset: 'track',
  audience: 'both',
  title: 'Show the diff of a task or mission',
  description:
    'Show what the last attempt at a task changed, line by line, between its snapshots: the files that count as its own. An open one is measured now. All attempts together: waymark review. For a mission: the files of its attempts, from the start of the first to the end of the last.',
  kind: 'query',
  positional: ['id', 'path'],
  input: z.strictObject({
    id: identifier(
      'A task, attempt or mission (t-…, a-…, m-…, w-…), or a title; a command without one takes the task in progress',
    ),
    path: text('Only this file, from the top of the work tree').optional(),
  }),
  output: z.object({
    task_id: z.string().optional(),
    attempt_id: z.string().optional(),
    mission_id: z.string().optional(),
    diff: z.string(),
    ...truncationFields,
    /** Files that others probably changed meanwhile. They are in `diff` only if `path` names one. */
    contested_files: sharedTreeFields.contested_files,
    contested_files_total: sharedTreeFields.contested_files_total,
  }),
})
  .measure(diffMeasurements)
  .prepare(async (reads, input, context, measured): Promise<DiffSource> => {
    const mission = await reads.missions.find(input.id)
    if (mission) return missionDiffSource(reads, context, { mission, path: input.path })
    return attemptDiffSource(reads, await attemptOf(reads, input.id), { context, measured, path: input.path })
  })
  .answer(async ({ reads, found, measured }, input) => {
    if (found.kind === 'mission') {
      const parts = (measured.diff ?? []).filter((part) => part !== null)
      if (parts.length < (measured.diff ?? []).length) throw missionSnapshotsFailure(found.missionId)
      return { mission_id: found.missionId, ...diffAnswer(parts) }
    }
    const { attempt, evidence } = found
    const [unified] = measured.diff ?? [await storedDiff(reads, attempt, input.path)]
    if (!unified) throw attemptSnapshotsFailure(attempt)
    return {
      task_id: attempt.taskId,
      attempt_id: attempt.id,
      ...diffAnswer([unified]),
      ...contestedFields(evidence, input.path),
    }
  })

type DiffSource = PreparedOperation<
  typeof diffMeasurements,
  | { readonly kind: 'mission'; readonly missionId: MissionId }
  | { readonly kind: 'attempt'; readonly attempt: Attempt; readonly evidence?: MeasuredEvidence | undefined }
>

type MeasuredEvidence = Omit<AttemptMeasurement, 'changes'>

/** For an open attempt its current state; for one on another machine what that machine sent. */
async function attemptDiffSource(
  reads: Reads,
  attempt: Attempt,
  {
    context,
    measured,
    path,
  }: {
    readonly context: RecordContext
    readonly measured: MeasurementValues<typeof diffMeasurements>
    readonly path: string | undefined
  },
): Promise<DiffSource> {
  const kind = 'attempt' as const
  const isHere = attempt.snapshot.machineId === context.machine?.id
  // Several agents may work between the same two snapshots: only the files that count as this attempt's.
  const diffTo = (to: SnapshotLocation, changes: readonly ReportedChange[]) => {
    const paths = path === undefined ? changes.flatMap(namesOf) : [path]
    return { maxLength: maxShownDiff, parts: [{ from: attempt.snapshot, to, paths }] }
  }
  if (attempt.status !== 'open' || !isHere) {
    const evidence = (await reads.tasks.end(attempt.id))?.evidence
    if (isHere && attempt.endSnapshot === null) throw endNotMeasuredFailure(attempt)
    if (!isHere || attempt.endSnapshot === null) return { briefs: {}, found: { kind, attempt, evidence } }
    const changes = await reads.tasks.changes(attempt.id, { limit: 200_000, offset: 0 })
    return { briefs: { diff: diffTo(attempt.endSnapshot, changes) }, found: { kind, attempt, evidence } }
  }
  const { briefs, found } = await measuredOpenAttempts(reads, context, [attempt], measured)
  const current = found?.get(attempt.id)
  if (current === undefined) return { briefs, found: { kind, attempt } }
  const { end, evidence } = current
  if (end?.place)
    return {
      briefs: { ...briefs, diff: diffTo(end.place, evidence.changes) },
      found: { kind, attempt, evidence },
    }
  throw new Failure(
    'UNAVAILABLE',
    evidence.warnings[0] ?? `The state of attempt ${attempt.id} is not known.`,
    { reason: 'attempt_not_measured' },
  )
}

function endNotMeasuredFailure({ id, status, taskId }: Attempt): Failure {
  return new Failure('UNAVAILABLE', `The end of attempt ${id} was not measured (${status}).`, {
    reason: 'attempt_not_measured',
    hint: `waymark show ${taskId} shows what is recorded.`,
  })
}

function attemptSnapshotsFailure({ id, taskId }: Attempt): Failure {
  return new Failure('UNAVAILABLE', `The snapshots of attempt ${id} are gone or cannot be compared.`, {
    reason: 'attempt_snapshots_unavailable',
    hint: `waymark changes ${taskId} still lists the files; snapshots are kept for 30 days.`,
  })
}

/** Changes probably made by others during an attempt, for one file or for all. */
function contestedFields(evidence: MeasuredEvidence | undefined, path: string | undefined) {
  const contested = evidence?.contested?.filter((file) => path === undefined || file.path === path) ?? []
  if (evidence === undefined || contested.length === 0) return {}
  const { contested_files, contested_files_total } = sharedTree({ ...evidence, contested })
  return { contested_files, ...(contested_files_total !== undefined && { contested_files_total }) }
}

/** For an attempt on another machine, the diff that it sent. */
async function storedDiff({ machines }: Reads, attempt: Attempt, path: string | undefined) {
  const { machineName: machine = 'the machine that keeps the record', top } = attempt.snapshot
  const stored = await machines.diff(attempt.id)
  if (stored === null) {
    const reason =
      attempt.status === 'open' ? 'they are sent when the task is completed' : 'they were not sent'
    throw new Failure(
      'UNAVAILABLE',
      `The changes of attempt ${attempt.id} are on ${machine}, in ${top}: ${reason}.`,
      {
        reason: 'attempt_on_other_machine',
        hint: `waymark changes ${attempt.taskId} lists the known files.`,
      },
    )
  }
  if (stored.text === null) {
    throw new Failure(
      'UNAVAILABLE',
      `The diff of attempt ${attempt.id} has expired and was removed: ${stored.bytes} bytes, sha-256 ${stored.sha256}.`,
      {
        reason: 'diff_removed',
        hint: `waymark changes ${attempt.taskId} lists the files. The setting retention_days says how long diffs are kept: waymark setting list`,
      },
    )
  }
  return { text: path === undefined ? stored.text : partOf(stored.text, path), leftOut: [], cut: stored.cut }
}

/** The part of a diff about one file, by its old or new name. */
function partOf(diff: string, path: string): string {
  const parts = diff.split(/^(?=diff --git )/m)
  return parts.filter((part) => diffFileNames(part).includes(path)).join('')
}

function diffFileNames(part: string): readonly string[] {
  const lines = part.split('\n@@', 1)[0]?.split('\n') ?? []
  return lines.flatMap((line) => {
    const [, name] = /^(?:--- a\/|\+\+\+ b\/|rename from |rename to )(.*?)\t?$/.exec(line) ?? []
    const [, old, current] = /^diff --git a\/(.*) b\/(.*)$/.exec(line) ?? []
    return [name, old, current].filter((one) => one !== undefined)
  })
}

/** The work trees one after the other, each with the files that attempts of the mission changed there. */
async function missionDiffSource(
  { missions }: Reads,
  { machine }: Pick<RecordContext, 'machine'>,
  { mission: { id }, path }: { readonly mission: Mission; readonly path: string | undefined },
): Promise<DiffSource> {
  const tops = await missions.treesOf(id)
  const trees = await Promise.all(tops.map((top) => missions.tree(id, top)))
  const parts = trees.flatMap(({ first, lastEnded, recorded }) => {
    if (first === null || lastEnded?.endSnapshot == null) return []
    if (first.snapshot.machineId !== machine?.id) throw changesElsewhereFailure(id, first)
    const changed = recorded.filter(({ change, origin }) => change !== 'none' && origin !== 'imported')
    const all = changed.flatMap(namesOf)
    const paths = path === undefined ? all : all.filter((changed) => changed === path)
    return paths.length === 0 ? [] : [{ from: first.snapshot, to: lastEnded.endSnapshot, paths }]
  })
  const briefs = parts.length === 0 ? {} : { diff: { maxLength: maxShownDiff, parts } }
  return { briefs, found: { kind: 'mission', missionId: id } }
}

function missionSnapshotsFailure(missionId: MissionId): Failure {
  return new Failure('UNAVAILABLE', `Snapshots of mission ${missionId} are gone or cannot be compared.`, {
    reason: 'mission_snapshots_unavailable',
    hint: `waymark mission changes ${missionId} still lists the files; snapshots are kept for 30 days after the last task.`,
  })
}

function changesElsewhereFailure(missionId: MissionId, { snapshot }: Attempt): Failure {
  const { machineName: machine = 'the machine that keeps the record', top } = snapshot
  return new Failure(
    'UNAVAILABLE',
    `Cannot compare mission ${missionId} here: its work was done on ${machine}, in ${top}.`,
    { reason: 'mission_on_other_machine', hint: 'Show the diff of each task: waymark diff <task>' },
  )
}

export const missionChanges = defineOperation({
  name: 'mission_changes',
  command: 'mission changes',
  toolset: 'track',
  audience: 'both',
  title: 'List the files that a mission changed',
  description:
    'List every file that the attempts of a mission changed, out of scope first. Compares the start of the first attempt with the end of the last.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission or workflow (m-…, w-…)'),
    ...pageFields(10_000, 'How many files; default 500'),
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
    ...page,
  }),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const paging = new Paging('mission_changes', input, actor, 500)
    const mission = await findMission(reads, input.id)
    const files = await reads.timeline.files(mission.id, { limit: paging.limit, offset: paging.offset() })
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
      next_cursor: paging.nextOffset(files.length, lines.files),
    }
  }),
)

/** The attempt with this id, or the last one at a task. */
async function attemptOf(reads: Reads, id: string): Promise<Attempt> {
  if (id.startsWith('a-')) return findAttempt(reads, id)
  const task = await findTask(reads, id)
  const attempt = await reads.tasks.lastAttempt(task.id)
  if (attempt) return attempt
  throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started: nothing was measured.`, {
    reason: 'task_not_started',
    hint: hintOf`Start it with ${callTo('start_task', { planned_task_id: task.id })}.`,
  })
}
