import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { PlannedRestore, RestoreRequest } from '../../git/ports/work-tree.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TaskId } from '../../kernel/id.ts'
import { names, path, place, measuredList as upTo, words } from '../../kernel/operations/fields.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { waitingHooks } from '../../kernel/operations/local-work-tree.ts'
import { prepareSteps, type Readable, withMachine } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { pathBelow, resolvePath } from '../../kernel/path-below.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import type { RecordedStep } from '../../lines/domain/line-hashes.ts'
import { changedLines } from '../../lines/operations/record-lines.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import type { Reads } from '../../store/ports/store.ts'
import { restoreActions, restoreGaps } from '../domain/restore.ts'
import { type SnapshotLocation, treeOf } from '../domain/task.ts'
import { isOfNobodyAtWork, type TreeWrite } from '../domain/tree-write.ts'
import { maxShownDiff } from './attempt-answer.ts'
import { attemptEnds } from './measure-attempt.ts'
import { countTaskFiles, findRestorable, keptStates, type Restorable } from './restorable.ts'
import {
  isWanted,
  lineMeasurements,
  linesUntil,
  linesUntilWrite,
  missionAfterWrite,
  missionStart,
  nobody,
  sinceMission,
  treeWritten,
  writeFields,
  writeQuestion,
  writtenLines,
} from './tree-write.ts'
import { questionsAskedAgain } from './undone-questions.ts'
import { attemptsWithTurns, readChangesAround, withWork } from './work-tree-activity.ts'

const maxEntries = 20_000
const maxListed = 200

const request = z.strictObject({
  states: upTo(place, 20),
  base: place.nullable(),
  known: upTo(place, 20),
  files: names.nullable(),
  without: names,
  named: names.nullable(),
  force: z.boolean(),
  withCommits: z.boolean(),
}) satisfies z.ZodType<RestoreRequest, unknown>

const file = z.strictObject({ path, action: z.enum(restoreActions) })
const problem = z.strictObject({ path, problem: words })
const gap = z.strictObject({ path, why: z.enum(restoreGaps) })
const commit = z.strictObject({ commit: z.string().max(64), command: z.string().max(300) })

const applied = z.strictObject({
  top: path,
  before: place,
  files: upTo(file, maxEntries),
  newer: names,
  refused: upTo(problem, maxEntries),
  leftOut: upTo(gap, maxEntries),
  same: z.int().min(0),
  diff: z.string().max(maxShownDiff),
  truncated: z.boolean(),
  commits: upTo(commit, 100),
  hash: z.string().max(100),
  written: names,
  after: place.nullable(),
  /** The lines that the restore changed. */
  lines: changedLines.measured,
  mission: sinceMission,
})

type MeasuredRestore = Readable<z.output<typeof applied>>

function measuredRestore(
  { diff, files, newer, refused, leftOut, commits, top, before, same, hash }: PlannedRestore,
  { written, after, lines, mission }: Pick<MeasuredRestore, 'written' | 'after' | 'lines' | 'mission'>,
): z.output<typeof applied> {
  return {
    top,
    before,
    same,
    hash,
    files: files.map((one) => ({ ...one })),
    newer: [...newer],
    refused: refused.map((one) => ({ ...one })),
    leftOut: leftOut.map((one) => ({ ...one })),
    commits: commits.map((one) => ({ ...one })),
    diff: diff.slice(0, maxShownDiff),
    truncated: diff.length > maxShownDiff,
    written: [...written],
    after: after as SnapshotLocation | null, // without its readonly marks, as the lines
    lines: lines as z.output<typeof changedLines.measured>,
    mission: mission as z.output<typeof sinceMission>,
  }
}

export const restore = defineOperation({
  name: 'restore',
  command: 'restore',
  toolset: 'track',
  audience: 'person',
  title: 'Restore lost files of a task, turn or snapshot',
  description:
    'Restore file contents that Waymark kept: for an open task, from before they were lost; for an ended task or turn, from its end; for a snapshot, from before a guarded git command, a restore or an undo. Shows the difference, then asks.',
  kind: 'command',
  destructive: true,
  positional: ['id', 'paths'],
  paths: { paths: [] },
  input: z.strictObject({
    id: identifier('A task, turn, snapshot or loss (t-…, tn-…, sn-…, h-…)'),
    paths: z
      .array(z.string().min(1).max(4_000))
      .max(1_000)
      .describe('Only these files and folders')
      .optional(),
    ...writeFields,
    force: z.boolean().describe('Also overwrite newer content').optional(),
  }),
  output: z.object({
    id: z.string(),
    title: z.string(),
    /** Whether files were written; otherwise this is what would be. */
    written: z.boolean(),
    /** False if files are in the way, so that none is written. */
    success: z.boolean(),
    /** The commands for that case. */
    next_steps: strings,
    work_tree: z.string(),
    files: list(z.object({ path: z.string(), action: z.enum(restoreActions) })),
    files_total: z.int(),
    /** How many files are as they were kept. */
    same: z.int(),
    /** The files are back without a restore, and the undo of this work still counts, or no longer. */
    undo: z.enum(['counts', 'withdrawn']).nullable(),
    /** Files with newer content, which are not overwritten without `force`. */
    newer: strings,
    newer_total: z.int(),
    refused: list(z.object({ path: z.string(), problem: z.string() })),
    left_out: list(z.object({ path: z.string(), why: z.enum(restoreGaps) })),
    left_out_total: z.int(),
    /** Commits that no branch reaches any more, each with the git command that brings it back. */
    commits: list(z.object({ commit: z.string(), command: z.string() })),
    /** The snapshot of what was replaced: restore it to undo this. */
    snapshot_id: z.string().nullable(),
    /** Identifies this difference. */
    content: z.string(),
    diff: z.string(),
    truncated: z.boolean(),
  }),
  confirm: (answer) => {
    const { written, files_total: total, work_tree: tree, success, undo } = answer
    if (undo === 'counts') return 'Record that this work is back?'
    return written === true || total === 0 || success === false
      ? null
      : writeQuestion(Number(total), String(tree))
  },
})
  .measure({ hooks: waitingHooks, now: attemptEnds, ...lineMeasurements })
  .prepare((reads, input, context, measuredNow) =>
    prepareSteps(measuredNow, async (measure) => {
      if (context.ingest) await measure({ hooks: {} })
      const work = await findRestorable(reads, context, input.id)
      const [state] = work.states
      const nothing = { work, until: null, missionFrom: null }
      if (!isWanted(input) || state?.engine !== 'git') return nothing
      const { now } = await measure({ now: [{ id: 'restore', top: state.top, prefix: '', engine: 'git' }] })
      const [end] = now
      if (!end?.place) return nothing
      const boundary = { at: end.takenAt, place: withMachine(context, end.place) }
      const until = await linesUntilWrite(reads, boundary, measure)
      const missionFrom = await missionStart(reads, work.missionId, boundary.place)
      return { work, until: until && { ...until, place: end.place }, missionFrom }
    }),
  )
  .apply({
    plan: z.strictObject({
      request,
      isWanted: z.boolean(),
      content: z.string().max(100).nullable(),
      /** The snapshot that takes an undo of the same work back. */
      undone: z.string().max(100).nullable(),
      /** The lines that changed since the last recorded state of the work tree; null where none are recorded. */
      until: linesUntil.extend({ place }).nullable(),
      /** The work tree when the task's mission began there. */
      missionFrom: place.nullable(),
    }),
    applied,
    decide: async ({ found: { work, until, missionFrom } }, input) => ({
      missionFrom,
      request: requestOf(work, input.paths, input.force === true),
      isWanted: isWanted(input),
      content: input.content ?? null,
      undone: work.undone,
      until: until as (z.output<typeof linesUntil> & { place: SnapshotLocation }) | null, // without its readonly marks
    }),
    apply: async (
      { workRestore, witness },
      { request: wanted, isWanted: writes, content, undone, until, missionFrom },
      input,
    ) => {
      if (!writes)
        return measuredRestore(await workRestore.plan(wanted), {
          written: [],
          after: null,
          lines: null,
          mission: null,
        })
      const done = await workRestore.apply(wanted, content)
      if (done === null) throw changedFailure(input.id)
      const { written, after } = done
      if (written.length === 0 && done.newer.length + done.refused.length > 0)
        throw blockedFailure(input, done, { undone, states: wanted.states })
      const lines =
        until === null || after === null
          ? null
          : await witness.lines(until.place, after, { salt: until.salt, during: 'gap' })
      // What was written is recorded in any case.
      const mission = missionFrom && after && (await witness.changes(missionFrom, after).catch(() => null))
      return measuredRestore(done, { written, after, lines, mission })
    },
  })
  .record(async ({ reads, plan: { isWanted: writes, until }, applied: done, context, setting }, input) => {
    const { id, paths } = input
    const { taskId, missionId, title, states, undone } = await findRestorable(reads, context, id)
    const { written, before, after } = done
    const isAllThere = paths === undefined && done.same > 0 && done.files.length + done.newer.length === 0
    const isBack = isAllThere && written.length === 0 && undone !== null
    const event =
      written.length === 0 && !(isBack && writes)
        ? null
        : treeWritten(
            // The work of an undone task is back as with the snapshot of its undo.
            { cause: 'restore', subject: undone ?? id, taskId, missionId, files: written, before, after },
            {
              context,
              setting,
              mission: await missionAfterWrite(
                reads,
                context,
                { missionId, before, files: written },
                done.mission,
              ),
            },
          )
    const files = writes ? done.files.filter((one) => written.includes(one.path)) : done.files
    const closed =
      writes && (event !== null || isAllThere)
        ? await closedLosses(reads, id, { written, taskId, states, isAllThere })
        : []
    const lines =
      event === null || until === null
        ? []
        : await writtenLines(reads, event, {
            until,
            lines: done.lines,
            makers: await makersOfRestored(reads, event.write),
          })
    const success = writes || !isBlocked(input, done)
    return {
      events: [
        ...lines,
        ...(event === null
          ? []
          : [event, ...(await questionsAskedAgain(reads, event.write.subject, setting))]),
        ...closed,
      ],
      answer: {
        id,
        title,
        written: written.length > 0,
        success,
        next_steps: success ? [] : nextSteps(input, done, { undone, states }),
        work_tree: done.top,
        files: files.slice(0, maxListed),
        files_total: files.length,
        same: done.same,
        undo: isBack ? (writes ? ('withdrawn' as const) : ('counts' as const)) : null,
        newer: done.newer.slice(0, maxListed),
        newer_total: done.newer.length,
        refused: done.refused.slice(0, maxListed),
        left_out: done.leftOut.slice(0, maxListed),
        left_out_total: done.leftOut.length,
        commits: done.commits,
        snapshot_id: written.length === 0 ? null : (event?.write.id ?? null),
        content: done.hash,
        diff: done.diff,
        truncated: done.truncated,
      },
    }
  })

/** Who may have made what was restored, as far as it is not recorded already: nobody at work, or all of them. */
async function makersOfRestored(
  reads: Reads,
  write: TreeWrite,
): Promise<Pick<RecordedStep, 'owners' | 'certainty'>> {
  const tree = treeOf(write.before)
  const open = await reads.tasks.openInTree(tree)
  if (open.length === 0) return nobody
  const since = Math.min(...open.map(({ openedAt }) => openedAt))
  const activity = await readChangesAround(reads, { tree, since })
  const { taskId, subject } = write
  const atWork = attemptsWithTurns(
    activity,
    open.map(({ id }) => id),
  )
  const [there] = await withWork(reads, [write])
  if (there && isOfNobodyAtWork(there, atWork)) return nobody
  const own = atWork.filter((attempt) => attempt.taskId === taskId || attempt.turns.includes(subject))
  const makers = own.length > 0 ? own : atWork
  return { owners: makers.map(({ id }) => id), certainty: own.length === 1 ? 'certain' : 'probable' }
}

interface RestoreOutcome {
  readonly written: readonly string[]
  readonly taskId: TaskId | null
  readonly states: readonly SnapshotLocation[]
  /** Every file of what was restored is as it was kept. */
  readonly isAllThere: boolean
}

/** The inbox items about lost files that are restored now, each file by this restore or an earlier one. */
async function closedLosses(
  { fileLosses, treeWrites }: Reads,
  id: string,
  { written, taskId, states, isAllThere }: RestoreOutcome,
): Promise<readonly NewProjectEvent[]> {
  const closed: NewProjectEvent[] = []
  for (const item of await fileLosses.open()) {
    const loss = await fileLosses.byItem(item.id)
    if (loss === null) continue
    // Another state may have another content of the same file.
    const isFrom = states.some(({ directory }) => directory === loss.from.place.directory)
    if (item.id !== id && (taskId === null || item.taskId !== taskId) && !isFrom) continue
    const earlier = await treeWrites.since(loss.until, treeOf(loss.from.place))
    const restored = earlier.flatMap(({ cause, files }) => (cause === 'restore' ? files : []))
    const back = new Set([...written, ...restored])
    const isBack = (isAllThere && item.id === id) || loss.files.every((one) => back.has(one.path))
    if (!isBack) continue
    closed.push({
      kind: 'inbox.closed',
      itemId: item.id,
      missionId: item.missionId,
      taskId: item.taskId,
      status: 'resolved',
      answer: null,
      action: 'restored',
    })
  }
  return closed
}

/** Paths are named from the project's folder, and kept from the work tree's top. */
function requestOf(found: Restorable, paths: readonly string[] | undefined, force: boolean) {
  const { states, base, known, files, without, withCommits } = found
  const prefix = states[0]?.prefix ?? ''
  return {
    states: [...states],
    base,
    known: [...known],
    files: files === null ? null : [...new Set(files)],
    without: [...without],
    named: paths === undefined ? null : paths.map((one) => pathFromTop(prefix, one, states[0]?.top ?? '')),
    force,
    withCommits,
  }
}

function pathFromTop(prefix: string, named: string, top: string): string {
  const whole = pathBelow(top, named) ?? `${prefix}${named}`
  // One that leads out of the work tree is named as it is: nothing is kept of it.
  return resolvePath(whole) ?? named
}

function changedFailure(id: string): Failure {
  return new Failure('CONFLICT', 'Files changed meanwhile: nothing was written.', {
    reason: 'files_changed_meanwhile',
    hint: `Look at the difference again: waymark restore ${id} --dry-run`,
  })
}

const maxNamed = 10

interface RestoreWords {
  readonly id: string
  readonly paths?: readonly string[] | undefined
  readonly force?: boolean | undefined
}

type FilesInTheWay = Pick<MeasuredRestore, 'files' | 'newer' | 'refused'>

interface RestoreSource extends Pick<Restorable, 'states'> {
  readonly undone: string | null
}

/** Without names, all files are written or none. */
function isBlocked({ paths }: RestoreWords, { files, newer, refused }: FilesInTheWay): boolean {
  return newer.length + refused.length > 0 && (paths === undefined || files.length === 0)
}

function blockedFailure(words: RestoreWords, done: FilesInTheWay, found: RestoreSource): Failure {
  const { newer, refused } = done
  const reasons = [
    ...(newer.length === 0 ? [] : [`newer content is in ${nameList(newer)}`]),
    ...refused.slice(0, maxNamed).map((one) => `${one.path} ${one.problem}`),
  ]
  return new Failure('CONFLICT', `Cannot restore ${words.id}: ${reasons.join('; ')}. Nothing was written.`, {
    reason: newer.length > 0 ? 'newer_content' : 'files_not_writable',
    hint: nextSteps(words, done, found).join('. '),
    details: { newer: newer.slice(0, maxListed), refused: refused.slice(0, maxListed) },
  })
}

function nextSteps(
  { id, paths = [], force = false }: RestoreWords,
  { files, newer }: FilesInTheWay,
  { undone, states: [state] }: RestoreSource,
): readonly string[] {
  const { top = '', prefix = '' } = state ?? {}
  const command = (...words: readonly string[]) => ['waymark restore', id, ...words].join(' ')
  const fromProject = (name: string) =>
    quoteShellWord(name.startsWith(prefix) ? name.slice(prefix.length) : `${top}/${name}`)
  const others = files.length > maxNamed ? ['<files…>'] : files.map((one) => fromProject(one.path))
  const hints = [
    ...(undone === null || undone === id
      ? []
      : [`To take its undo back, and keep the lines of others: waymark restore ${undone}`]),
    ...(files.length === 0
      ? []
      : [`To restore the others: ${command(...others, ...(force ? ['--force'] : []))}`]),
    ...(newer.length === 0
      ? []
      : [
          `To overwrite newer content, which is kept as a snapshot: ${command(...paths.map(quoteShellWord), '--force')}`,
        ]),
  ]
  return hints.length > 0 ? hints : [`Move what is in the way, and call again: ${command()}`]
}

function nameList(paths: readonly string[]): string {
  const more = paths.length - maxNamed
  return `${paths.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const listedFor = 30 * 24 * 60 * 60 * 1000

export const restoreList = defineOperation({
  name: 'restore_list',
  command: 'restore --list',
  toolset: 'track',
  audience: 'person',
  title: 'List what can be restored',
  description:
    'List what can be restored, the newest first: tasks, snapshots before guarded git commands, and what a restore or an undo replaced. Contents are kept for 30 days.',
  kind: 'query',
  input: z.strictObject(pageFields(200, 'How many; default 50')),
  output: z.object({
    restorable: list(
      z.object({
        id: z.string(),
        what: z.enum(['task', 'guarded command', 'restore', 'undo']),
        title: z.string(),
        taken_at: z.string(),
        /** Null where they were not counted. */
        files: z.int().nullable(),
        work_tree: z.string(),
        /** The machine that has the files, if it is not the one with the record. */
        machine: z.string().nullable(),
      }),
    ),
    ...page,
  }),
}).handler(async ({ store, clock, actor }, input) => {
  const since = clock.now() - listedFor
  const entries = await store.view(async (reads) => {
    const [writes, guarded] = [await reads.treeWrites.since(since), await reads.guardedCommands.since(since)]
    const attempts = await lastAttempts(reads, since, guarded)
    return [
      ...writes.map(({ id, writtenAt, cause, subject, files, before }) => ({
        id: id as string,
        what: cause,
        title: `before ${cause} ${subject}`,
        time: writtenAt,
        files: files.length,
        ...placeOf(before),
      })),
      ...guarded.flatMap(({ id, guardedAt, commands, snapshot }) =>
        snapshot === null
          ? []
          : [
              {
                id: id as string,
                what: 'guarded command' as const,
                title: `before ${commands.join(', ')}`,
                time: guardedAt,
                files: null,
                ...placeOf(snapshot),
              },
            ],
      ),
      ...attempts,
    ].sort((a, b) => b.time - a.time)
  })
  const paging = new Paging('restore_list', input, actor, 50)
  const { entries: shown, ...rest } = paging.slice(entries, ({ id, time }) => `${time} ${id}`)
  return {
    restorable: shown.map(({ time, ...entry }) => ({ ...entry, taken_at: new Date(time).toISOString() })),
    ...rest,
  }
})

/** The last attempt of each task: that is the one which is restored. Of an open one, if a state was kept since it began. */
async function lastAttempts(
  reads: Reads,
  since: number,
  guarded: readonly { readonly guardedAt: number; readonly snapshot: SnapshotLocation | null }[],
) {
  const { tasks, capture } = reads
  const recent = await tasks.recentAttempts(since)
  const attempts = recent.map(({ attempt }) => attempt)
  const open = Map.groupBy(
    attempts.filter(({ status }) => status === 'open'),
    ({ snapshot }) => treeOf(snapshot),
  )
  const turns: Turn[] = []
  for (const [tree, there] of open) {
    const since = there.reduce((first, { openedAt }) => Math.min(first, openedAt), Infinity)
    turns.push(...(await capture.turnsInTree(tree, since)).map(({ turn }) => turn))
  }
  const keptAt = new Map<string, number>()
  for (const { at, place } of keptStates({ attempts, turns, guarded }))
    keptAt.set(treeOf(place), Math.max(keptAt.get(treeOf(place)) ?? 0, at))
  const byTask = new Map(recent.toReversed().map((one) => [one.attempt.taskId, one]))
  const restorable = [...byTask.values()].filter(({ attempt, files }) =>
    attempt.status === 'open'
      ? (keptAt.get(treeOf(attempt.snapshot)) ?? 0) > attempt.openedAt
      : attempt.endSnapshot !== null && files !== 0,
  )
  const entries = restorable.map(async ({ attempt, taskName, files }) => ({
    id: attempt.taskId as string,
    what: 'task' as const,
    title: taskName,
    time: attempt.closedAt ?? attempt.lastCallAt,
    files: files !== null && attempt.number > 1 ? await countTaskFiles(reads, attempt) : files,
    ...placeOf(attempt.snapshot),
  }))
  return Promise.all(entries)
}

function placeOf({ top, machineId, machineName }: { top: string; machineId?: string; machineName?: string }) {
  return { work_tree: top, machine: machineId === undefined ? null : (machineName ?? machineId) }
}
