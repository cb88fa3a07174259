import { z } from 'zod'
import type { UndoPlan, UndoRequest } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { names, path, place, measuredList as upTo, words } from '../../kernel/operations/fields.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named, strings } from '../../kernel/operations/list-answer.ts'
import { waitingHooks, workTreePlace } from '../../kernel/operations/local-work-tree.ts'
import {
  measurement,
  prepareSteps,
  type Readable,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import { conflictReasons, conflictWords, stayReasons, stayWords } from '../../lines/domain/undo-file.ts'
import { changedLines } from '../../lines/operations/record-lines.ts'
import { fileStates } from '../../review/operations/measure-files.ts'
import type { Reads } from '../../store/ports/store.ts'
import { treeOf } from '../domain/task.ts'
import { undoActions } from '../domain/undo.ts'
import { maxShownDiff } from './attempt-answer.ts'
import { attemptEnds } from './measure-attempt.ts'
import { reopenMissions } from './reopen-missions.ts'
import {
  isWanted,
  lineMeasurements,
  linesUntil,
  linesUntilWrite,
  missionAfterWrite,
  missionStart,
  sinceMission,
  treeWritten,
  writeFields,
  writeQuestion,
  writtenLines,
} from './tree-write.ts'
import { withdrawnQuestions } from './undone-questions.ts'
import { findUndoneWork, type UndoneWork, undoneStates, undoneWindow, undoneWindows } from './undone-work.ts'

const maxWindows = 2_000
const maxEntries = 10_000
const maxListed = 200

const request = z.strictObject({
  windows: upTo(undoneWindow, maxWindows),
  now: place,
  /** The name of the undone work at the marks of conflicts; null to mark none. */
  marked: z.string().max(200).nullable(),
})

const entry = z.strictObject({
  path,
  action: z.enum(undoActions),
  marked: z.literal(true).exactOptional(),
})

const planned = z.strictObject({
  files: upTo(entry, maxEntries),
  conflicts: upTo(
    z.strictObject({ path, reason: z.enum(conflictReasons), isMarked: z.boolean() }),
    maxEntries,
  ),
  stays: upTo(
    z.strictObject({ path, reason: z.enum(stayReasons), lines: z.int().min(0).nullable() }),
    maxEntries,
  ),
  missing: z.int().min(0),
  diff: z.string().max(maxShownDiff),
  cut: z.boolean(),
  hash: z.string().max(100),
})

/** What an undo would write; the contents stay on the machine that has the files. */
const undoPlan = measurement({
  brief: request,
  measured: planned,
  measure: async ({ workUndo, folder }, brief) =>
    measuredPlan(await workUndo.plan(undoRequest(folder, brief))),
})

type MeasuredPlan = Readable<z.output<typeof planned>>

function undoRequest(
  folder: string,
  { windows, now, marked }: Readable<z.output<typeof request>>,
): UndoRequest {
  const marks = marked === null ? null : { now: 'now', base: `end of ${marked}`, undone: `without ${marked}` }
  return { folder, windows, now, marks }
}

function measuredPlan({ files, conflicts, stays, missing, diff, hash }: UndoPlan): z.output<typeof planned> {
  return {
    files: files.map((one) => ({ ...one })),
    conflicts: conflicts.map((one) => ({ ...one })),
    stays: stays.map((one) => ({ ...one })),
    missing,
    diff: diff.slice(0, maxShownDiff),
    cut: diff.length > maxShownDiff,
    hash,
  }
}

export const undo = defineOperation({
  name: 'undo',
  command: 'undo',
  toolset: 'track',
  audience: 'person',
  title: 'Undo one task or turn',
  description:
    'Undo what one task with its subtasks, or one turn, changed in this work tree. Lines that others wrote stay. Committed work is undone in the files only; nothing is committed. Shows the difference, then asks.',
  kind: 'command',
  destructive: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A task or a turn (t-…, tn-…)'),
    ...writeFields,
    conflicts: z
      .boolean()
      .describe('Write conflicts into the files with git’s conflict markers, instead of writing nothing')
      .optional(),
    reopen: z.boolean().describe('Also set the task to do again').optional(),
  }),
  output: z.object({
    id: z.string(),
    title: z.string(),
    written: z.boolean(),
    work_tree: z.string(),
    files: list(
      z.object({ path: z.string(), action: z.enum(undoActions), marked: z.literal(true).optional() }),
    ),
    files_total: z.int(),
    conflicts: list(z.object({ path: z.string(), reason: z.enum(conflictReasons), marked: z.boolean() })),
    conflicts_total: z.int(),
    /** Lines that are not certainly its own, or that others wrote; `lines` is null for a whole file. */
    stays: list(z.object({ path: z.string(), reason: z.enum(stayReasons), lines: z.int().nullable() })),
    stays_total: z.int(),
    /** Tasks that depend on it, and are not undone. */
    dependents: list(Named),
    /** The work tree before, which people can restore; null if nothing was written. */
    snapshot_id: z.string().nullable(),
    reopened: z.boolean(),
    notes: strings,
    /** Identifies this difference. */
    content: z.string(),
    diff: z.string(),
    truncated: z.boolean(),
  }),
  confirm: (answer) => {
    const { written, files_total: total, conflicts, work_tree: tree } = answer
    const isBlocked = (conflicts as readonly { readonly marked: boolean }[]).some((one) => !one.marked)
    return written === true || total === 0 || isBlocked ? null : writeQuestion(Number(total), String(tree))
  },
})
  .measure({
    hooks: waitingHooks,
    tree: workTreePlace,
    states: fileStates,
    now: attemptEnds,
    plan: undoPlan,
    ...lineMeasurements,
  })
  .prepare((reads, input, context, measured) =>
    prepareSteps(measured, async (measure) => {
      if (context.ingest) await measure({ hooks: {} })
      const work = await findUndoneWork(reads, context, input.id)
      const { tree } = await measure({ tree: {} })
      if (tree === null || tree.engine !== 'git') throw noGitFailure(work, tree?.reason)
      const { paths, brief } = await undoneStates(reads, work)
      const { states } = await measure({ states: brief })
      const windows = await undoneWindows(reads, work, { paths, states })
      const { now } = await measure({ now: [{ id: 'undo', top: tree.top, prefix: '', engine: 'git' }] })
      const [end] = now
      const before = end?.place
      if (!before) throw unmeasuredFailure(work, end?.error ?? null)
      const request = {
        windows: [...windows],
        now: before,
        marked: input.conflicts === true ? work.id : null,
      }
      const { plan } = await measure({ plan: request })
      const boundary = { at: end.takenAt, place: withMachine(context, before) }
      const until = isWanted(input) ? await linesUntilWrite(reads, boundary, measure) : null
      const missionFrom = isWanted(input) ? await missionStart(reads, work.missionId, boundary.place) : null
      return { work, top: tree.top, request, plan, until, missionFrom }
    }),
  )
  .apply({
    plan: z.strictObject({
      request,
      hash: z.string().max(100),
      top: path,
      isWanted: z.boolean(),
      work: z.strictObject({
        id: z.string().max(100),
        title: z.string().max(1_000),
        taskId: z.string().max(100).nullable(),
        missionId: z.string().max(100).nullable(),
        subtasks: names,
        intervals: z.int(),
      }),
      /** The lines that changed since the last recorded state of the work tree; null where none are recorded. */
      until: linesUntil.nullable(),
      /** The work tree when the task's mission began there. */
      missionFrom: place.nullable(),
    }),
    applied: planned.extend({
      written: names,
      refused: upTo(z.strictObject({ path, problem: words }), maxEntries),
      after: place.nullable(),
      /** The lines that the undo changed. */
      lines: changedLines.measured,
      mission: sinceMission,
    }),
    decide: async ({ found: { work, top, request: wanted, plan, until, missionFrom } }, input) => {
      if (plan.missing === work.spans.length) throw notKeptFailure(work)
      if (plan.files.length + plan.conflicts.length === 0) throw nothingFailure(work, top, plan)
      const writes = isWanted(input)
      if (writes && input.conflicts !== true && plan.conflicts.length > 0) throw conflictFailure(work, plan)
      if (writes && input.content !== undefined && input.content !== plan.hash)
        throw changedFailure(work.id, top)
      const { id, title, taskId, missionId, subtasks, spans } = work
      return structuredClone({
        request: wanted,
        hash: plan.hash,
        top,
        isWanted: writes,
        work: { id, title, taskId, missionId, subtasks: [...subtasks], intervals: spans.length },
        until: until as z.output<typeof linesUntil> | null, // without its readonly marks
        missionFrom,
      })
    },
    apply: async (
      { workUndo, witness, snapshotName, folder },
      { request: wanted, hash, top, isWanted: writes, until, missionFrom },
      { id },
    ) => {
      const asked = undoRequest(folder, wanted)
      if (!writes) {
        const nothing = { written: [], refused: [], after: null, lines: null, mission: null }
        return { ...measuredPlan(await workUndo.plan(asked)), ...nothing }
      }
      const applied = await workUndo.apply(asked, hash)
      if (applied === null) throw changedFailure(id, top)
      const [first] = applied.refused
      if (first !== undefined && applied.written.length === 0) throw refusedFailure(id, applied.refused)
      const { written, refused } = applied
      // What was written is recorded in any case.
      const after = await witness
        .snapshot({ folder: top, name: snapshotName(), engine: 'git', top })
        .then(({ ref }) => ref)
        .catch(() => null)
      const lines =
        until === null || after === null
          ? null
          : await witness.lines(wanted.now, after, { salt: until.salt, during: 'gap' })
      return structuredClone({
        ...measuredPlan(applied),
        written: [...written],
        refused: refused.map((one) => ({ ...one })),
        after,
        lines: lines as z.output<typeof changedLines.measured>, // without its readonly marks
        mission: missionFrom && after && (await witness.changes(missionFrom, after).catch(() => null)),
      })
    },
  })
  .record(async ({ reads, plan, applied, context, setting }, input) => {
    const { work, top, isWanted: writes, until, request: wanted } = plan
    const answer = {
      id: work.id,
      title: work.title,
      written: writes,
      work_tree: top,
      files: applied.files.slice(0, maxListed),
      files_total: applied.files.length,
      conflicts: applied.conflicts.slice(0, maxListed).map(conflictEntry),
      conflicts_total: applied.conflicts.length,
      stays: applied.stays.slice(0, maxListed),
      stays_total: applied.stays.length,
      dependents: await dependentsOf(reads, work, setting.at),
      snapshot_id: null,
      reopened: false,
      notes: [...notesOf(work, applied), ...(await othersAtWork(reads, { context, top, at: setting.at }))],
      content: applied.hash,
      diff: applied.diff,
      truncated: applied.cut,
    }
    if (!writes) return { events: [], answer }
    const { id } = work
    const task = work.taskId === null ? null : await reads.tasks.find(work.taskId)
    const reopens = input.reopen === true && task?.status === 'done'
    const about = {
      taskId: task?.id ?? null,
      missionId: task?.missionId ?? null,
      files: applied.written,
      before: wanted.now,
      after: applied.after,
    }
    const missions =
      reopens && task
        ? await reopenMissions(reads, [task], context.actor.name, setting)
        : { events: [], notes: [] }
    const write = treeWritten(
      { ...about, cause: 'undo', subject: id },
      { context, setting, mission: await missionAfterWrite(reads, context, about, applied.mission) },
    )
    return {
      events: [
        ...(until === null ? [] : await writtenLines(reads, write, { until, lines: applied.lines })),
        write,
        ...(await withdrawnQuestions(reads, work)),
        ...(reopens && task
          ? [{ kind: 'task.marked' as const, taskId: task.id, status: 'to_do' as const }]
          : []),
        ...missions.events,
      ],
      answer: {
        ...answer,
        notes: [...answer.notes, ...missions.notes],
        snapshot_id: write.write.id,
        reopened: reopens,
      },
    }
  })

function conflictEntry({ path: name, reason, isMarked }: MeasuredPlan['conflicts'][number]) {
  return { path: name, reason, marked: isMarked }
}

/** The tasks that depend on an undone one, and are not undone with it. */
async function dependentsOf(
  { plan }: Reads,
  {
    taskId,
    subtasks,
    missionId,
  }: { readonly [Name in 'taskId' | 'missionId']: string | null } & {
    readonly subtasks: readonly string[]
  },
  now: number,
): Promise<readonly z.output<typeof Named>[]> {
  if (taskId === null) return []
  const undone = new Set<string>([taskId, ...subtasks])
  const owner = missionId as MissionId | null // a brand
  const near = [
    ...(await plan.graph(owner, maxEntries, now)),
    ...(await plan.neighbors(owner, maxEntries, now)),
  ]
  return near
    .filter(({ id, dependsOn }) => !undone.has(id) && dependsOn.some((one) => undone.has(one)))
    .slice(0, maxListed)
    .map(({ id, name }) => ({ id, name: excerpt(name, 120) }))
}

function notesOf(
  { intervals }: { readonly intervals: number },
  { missing, refused }: Pick<MeasuredPlan, 'missing'> & { readonly refused: readonly RefusedFile[] },
): readonly string[] {
  return [
    ...(missing > 0
      ? [`The contents of ${missing} of ${intervals} attempts are no longer kept: their changes stay.`]
      : []),
    ...refused.slice(0, maxNamed).map((one) => `${one.path} ${one.problem}: it was not written.`),
  ]
}

/** Agents do not see that a person writes beside them. */
async function othersAtWork(
  { tasks }: Reads,
  { context, top, at }: { readonly context: RecordContext; readonly top: string; readonly at: number },
): Promise<readonly string[]> {
  const { machine } = context
  const here = await tasks.attemptsInTree(treeOf({ top, ...(machine && { machineId: machine.id }) }), at)
  const open = here.filter(({ status }) => status === 'open')
  if (open.length === 0) return []
  const names = open.slice(0, maxNamed).map((attempt) => `${displayName(attempt)} (${attempt.taskId})`)
  return [
    `At work here: ${names.join(', ')}. This undo does not count as theirs: tell them that these files changed.`,
  ]
}

interface RefusedFile {
  readonly path: string
  readonly problem: string
}

function noGitFailure({ id }: UndoneWork, reason = ''): Failure {
  return new Failure('UNAVAILABLE', `Cannot undo ${id} here: there is no git work tree. ${reason}`.trim(), {
    reason: 'no_git_repository',
    hint: `Run it in the work tree of the project: waymark undo ${id}`,
  })
}

function unmeasuredFailure({ id }: UndoneWork, error: string | null): Failure {
  return new Failure(
    'UNAVAILABLE',
    `Cannot undo ${id}: the work tree could not be measured. ${error ?? ''}`.trim(),
    {
      reason: 'work_tree_not_measured',
      hint: 'Check the work tree with git status, and call again.',
    },
  )
}

function notKeptFailure({ id }: UndoneWork): Failure {
  return new Failure('UNAVAILABLE', `Cannot undo ${id}: the contents of its files are no longer kept.`, {
    reason: 'contents_not_kept',
    hint: 'Snapshots are kept for 30 days. For committed work, use git revert.',
  })
}

function nothingFailure({ id, spans }: UndoneWork, top: string, plan: MeasuredPlan): Failure {
  const trees = [...new Set(spans.map(({ to }) => to.place.top))].filter((tree) => tree !== top)
  const isUnsure = plan.stays.length > 0
  const message = isUnsure
    ? `Nothing of ${id} in ${top} is undone: ${listEntries(plan.stays, stayWords)}.`
    : `Nothing that ${id} changed is left in ${top}.`
  const here = isUnsure
    ? `To take back all that it changed, also what others may have written: waymark diff ${id} | git apply -R`
    : `waymark changes ${id} lists what it changed.`
  return new Failure('CONFLICT', message, {
    reason: 'nothing_to_undo',
    hint: trees.length > 0 ? `It worked in ${trees.join(', ')}: run waymark undo ${id} there.` : here,
    details: { stays: plan.stays.slice(0, maxListed) },
  })
}

function conflictFailure({ id }: UndoneWork, { conflicts, stays }: MeasuredPlan): Failure {
  const files = formatCount(conflicts.length, 'file')
  const message = `Cannot undo ${id} without conflicts in ${files}: ${listEntries(conflicts, conflictWords)}. Nothing was written.`
  return new Failure('CONFLICT', message, {
    reason: 'undo_conflicts',
    hint: `Look at the difference with waymark undo ${id} --dry-run, or write the conflicts into the files: waymark undo ${id} --yes --conflicts`,
    details: {
      conflicts: conflicts.slice(0, maxListed).map(conflictEntry),
      stays: stays.slice(0, maxListed),
    },
  })
}

function changedFailure(id: string, top: string): Failure {
  return new Failure('CONFLICT', `Files in ${top} changed meanwhile: nothing was written.`, {
    reason: 'files_changed_meanwhile',
    hint: `Look at the difference again: waymark undo ${id} --dry-run`,
  })
}

function refusedFailure(id: string, refused: readonly RefusedFile[]): Failure {
  const all = refused.slice(0, maxNamed).map((one) => `${one.path} ${one.problem}`)
  return new Failure('CONFLICT', `Cannot undo ${id}: ${all.join('; ')}. Nothing was written.`, {
    reason: 'files_not_writable',
    hint: `Correct that, and call again: waymark undo ${id}`,
  })
}

const maxNamed = 10

function listEntries<Entry extends { readonly path: string; readonly reason: string }>(
  entries: readonly Entry[],
  reasons: Readonly<Record<Entry['reason'], string>>,
): string {
  const some = entries
    .slice(0, maxNamed)
    .map((one) => `${one.path} (${reasons[one.reason as Entry['reason']]})`)
  const more = entries.length - some.length
  return more > 0 ? `${some.join(', ')} and ${more} more` : some.join(', ')
}
