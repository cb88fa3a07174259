import type { RestoreRequest } from '../../git/ports/work-tree.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId, SnapshotId, TaskId, TurnId } from '../../kernel/id.ts'
import { findTask } from '../../kernel/operations/find.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'

/** What is restored by an id: the kept states of one work tree, and the files of the work. */
export interface Restorable extends Pick<RestoreRequest, 'files' | 'without' | 'withCommits'> {
  readonly id: string
  readonly title: string
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  /** The newest first. */
  readonly states: readonly SnapshotLocation[]
  readonly base: SnapshotLocation | null
  readonly known: readonly SnapshotLocation[]
  /** The snapshot that takes the undo of the task back; null without an undo. */
  readonly undone: SnapshotId | null
}

/** Finds what can be restored of a task, a turn, or a snapshot. Refuses what is on another machine. */
export async function findRestorable(
  reads: Reads,
  { machine }: Pick<RecordContext, 'machine'>,
  id: string,
): Promise<Restorable> {
  const found = await restorableOf(reads, id)
  const place = found.states[0]
  if (place !== undefined && place.machineId !== machine?.id) throw elsewhereFailure(found, place)
  return found
}

async function restorableOf(reads: Reads, id: string): Promise<Restorable> {
  if (id.startsWith('sn-')) return ofSnapshot(reads, id)
  if (id.startsWith('h-')) return ofLoss(reads, id)
  if (/[./\\]/.test(id)) throw await fileFailure(reads, id)
  return id.startsWith('tn-') ? ofTurn(reads, id) : ofTask(reads, id)
}

async function ofSnapshot({ treeWrites, guardedCommands }: Reads, id: string): Promise<Restorable> {
  const write = await treeWrites.byId(id)
  if (write !== null) {
    const { taskId, missionId, files, before, after, cause, subject } = write
    const title = `before ${cause} ${subject}`
    const known = after === null ? [] : [after]
    const undone = (await treeWrites.undone([subject])).get(subject)?.id
    const counts = { undone: undone === write.id ? write.id : null }
    return { ...nothing, ...counts, id, title, taskId, missionId, files, states: [before], known }
  }
  const command = await guardedCommands.byId(id)
  if (command === null) {
    throw new Failure('NOT_FOUND', `There is no snapshot "${id}".`, {
      reason: 'snapshot_not_found',
      hint: 'waymark restore --list shows what can be restored.',
    })
  }
  const { snapshot, commands, missing } = command
  const title = `before ${excerpt(commands.join(', '), 120)}`
  if (snapshot === null) {
    throw new Failure('UNAVAILABLE', `There is no snapshot ${title}. ${missing ?? ''}`.trim(), {
      reason: 'snapshot_not_taken',
      hint: 'waymark restore --list shows what can be restored.',
    })
  }
  return { ...nothing, id, title, taskId: null, missionId: null, states: [snapshot], withCommits: true }
}

async function ofLoss({ fileLosses }: Reads, id: string): Promise<Restorable> {
  const loss = await fileLosses.byItem(id)
  if (loss === null) {
    throw new Failure('NOT_FOUND', `No lost files are recorded for "${id}".`, {
      reason: 'loss_not_found',
      hint: 'waymark inbox lists what was lost; waymark restore --list shows what can be restored.',
    })
  }
  const { taskId, missionId, from, files } = loss
  const title = formatCount(files.length, 'lost file')
  return {
    ...nothing,
    id,
    title,
    taskId,
    missionId,
    files: files.map(({ path }) => path),
    states: [from.place],
    withCommits: true,
  }
}

const nothing = {
  files: null,
  without: [],
  base: null,
  known: [],
  undone: null,
  withCommits: false,
} as const

const maxChanges = 20_000

async function ofTurn({ capture }: Reads, id: string): Promise<Restorable> {
  const line = await capture.turn(id)
  if (line === null) {
    throw new Failure('NOT_FOUND', `There is no turn "${id}".`, {
      reason: 'turn_not_found',
      hint: 'waymark sessions lists the sessions, and waymark sessions show <session> their turns.',
    })
  }
  const { turn } = line
  if (turn.endSnapshot === null)
    throw notMeasured(id, turn.status === 'open' ? 'is still open' : 'was not measured')
  const changes = await capture.changes(id, { limit: maxChanges, offset: 0 })
  return {
    ...nothing,
    id,
    title: `turn ${turn.number} of ${turn.client}`,
    taskId: null,
    missionId: null,
    files: changedPaths(changes),
    states: [turn.endSnapshot],
    known: turn.snapshot === null ? [] : [turn.snapshot],
  }
}

async function ofTask(reads: Reads, id: string): Promise<Restorable> {
  const task = await findTask(reads, id)
  const attempts = await reads.tasks.attempts(task.id)
  const last = attempts.findLast(({ status, endSnapshot }) => status === 'open' || endSnapshot !== null)
  if (last === undefined) {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" has no measured work to restore.`, {
      reason: 'task_not_measured',
      hint: hintOf`List the tasks with ${callTo('taskman_task_list')}.`,
    })
  }
  const title = excerpt(task.name, 120)
  const undone = (await reads.treeWrites.undone([task.id])).get(task.id)?.id ?? null
  const subject = { ...nothing, id: task.id, title, taskId: task.id, missionId: task.missionId, undone }
  if (last.endSnapshot !== null) {
    const { files, known } = await filesUntil(reads, attempts, last)
    return { ...subject, files, states: [last.endSnapshot], known }
  }
  const states = await statesSince(reads, last)
  if (states.length === 0)
    throw notMeasured(task.id, 'is open, and no state of its files was kept since it began')
  return {
    ...subject,
    states,
    base: last.snapshot,
    without: await editedByOthers(reads, last),
    withCommits: true,
  }
}

/** What the attempts at a task changed in the work tree of its last one: the state at its end has all of it. */
async function filesUntil({ tasks }: Reads, attempts: readonly Attempt[], last: Attempt) {
  const there = attempts
    .filter(({ snapshot }) => treeOf(snapshot) === treeOf(last.snapshot))
    .slice(-maxStates)
  const changes = await Promise.all(
    there.map(({ id: attempt }) => tasks.changes(attempt, { limit: maxChanges, offset: 0 })),
  )
  const own = changes.flat().filter(({ origin }) => origin !== 'imported')
  return { files: changedPaths(own), known: there.map(({ snapshot }) => snapshot) }
}

/** How many files a restore of an ended task is about, by its last attempt. */
export async function countTaskFiles(reads: Reads, last: Attempt): Promise<number> {
  const { files } = await filesUntil(reads, await reads.tasks.attempts(last.taskId), last)
  return new Set(files).size
}

function changedPaths(
  changes: readonly { readonly path: string; readonly from?: string }[],
): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
}

/** Each is read and compared: more would take too long. */
const maxStates = 20

/** When each state of a work tree was kept. */
export function keptStates({
  attempts,
  turns,
  guarded,
}: {
  readonly attempts: readonly DatedStates[]
  readonly turns: readonly DatedStates[]
  readonly guarded: readonly { readonly guardedAt: number; readonly snapshot: SnapshotLocation | null }[]
}): readonly { readonly at: number; readonly place: SnapshotLocation }[] {
  return [
    ...[...attempts, ...turns].flatMap((one) => [
      { at: one.openedAt, place: one.snapshot },
      { at: one.closedAt, place: one.endSnapshot },
    ]),
    ...guarded.map((one) => ({ at: one.guardedAt, place: one.snapshot })),
  ].flatMap(({ at, place }) => (at === null || place === null ? [] : [{ at, place }]))
}

/** The states at the start and the end of an attempt or a turn. */
interface DatedStates {
  readonly openedAt: number
  readonly closedAt: number | null
  readonly snapshot: SnapshotLocation | null
  readonly endSnapshot: SnapshotLocation | null
}

/** The kept states of a work tree since an attempt began, the newest first. */
async function statesSince(
  { tasks, capture, guardedCommands }: Reads,
  { snapshot, openedAt }: Pick<Attempt, 'snapshot' | 'openedAt'>,
): Promise<readonly SnapshotLocation[]> {
  const tree = treeOf(snapshot)
  const [attempts, turns, guarded] = [
    await tasks.attemptsInTree(tree, openedAt),
    await capture.turnsInTree(tree, openedAt),
    snapshot.machineId === undefined ? await guardedCommands.since(openedAt, snapshot.top) : [],
  ]
  const dated = keptStates({ attempts, turns: turns.map(({ turn }) => turn), guarded })
  const states = new Map<string, { readonly at: number; readonly place: SnapshotLocation }>()
  for (const { at, place } of dated) {
    if (at <= openedAt) continue
    // A later turn may begin with the state that an earlier one ended with.
    if ((states.get(place.directory)?.at ?? Infinity) > at) states.set(place.directory, { at, place })
  }
  return [...states.values()]
    .sort((a, b) => b.at - a.at)
    .slice(0, maxStates)
    .map(({ place }) => place)
}

/** The files that tools of other sessions reported, and none of the attempt's own: theirs to restore. */
async function editedByOthers({ capture }: Reads, attempt: Attempt): Promise<readonly string[]> {
  const own = new Set((await capture.linksOf([attempt.id])).map(({ sessionId }) => sessionId))
  if (own.size === 0) return []
  const turns = await capture.turnsInTree(treeOf(attempt.snapshot), attempt.openedAt)
  const edits = await capture.edits(turns.map(({ turn }) => turn.id))
  const editors = new Map<string, boolean>()
  for (const { turn } of turns) {
    for (const { path } of edits.get(turn.id as TurnId) ?? []) {
      editors.set(path, (editors.get(path) ?? false) || own.has(turn.sessionId))
    }
  }
  return [...editors].flatMap(([path, isOwn]) => (isOwn ? [] : [path]))
}

/** A file where an id is expected: restore was the command for backups. */
async function fileFailure({ tasks }: Reads, file: string): Promise<Failure> {
  const [last] = await tasks.changedBy([file])
  const attempt = last === undefined ? null : await tasks.attempt(last.attemptId)
  const word = quoteShellWord(file)
  const isBackup = /\.(db|dump|sql|gz|bak)$/.test(file)
  return new Failure('INVALID_INPUT', `"${file}" is no task, turn or snapshot.`, {
    reason: 'id_expected',
    hint:
      attempt !== null
        ? `A task changed it last: waymark restore ${attempt.taskId} ${word}`
        : isBackup
          ? `To restore a backup of the database: waymark backup restore ${word}`
          : `Name the task that changed it: waymark restore <task> ${word}. waymark restore --list shows the tasks.`,
  })
}

function notMeasured(id: string, why: string): Failure {
  return new Failure('UNAVAILABLE', `Cannot restore ${id}: it ${why}.`, {
    reason: 'work_not_measured',
    hint: 'waymark restore --list shows what can be restored.',
  })
}

function elsewhereFailure({ id }: Restorable, { machineId, machineName, top }: SnapshotLocation): Failure {
  const place = machineId === undefined ? 'the machine that has the record' : (machineName ?? machineId)
  return new Failure('UNAVAILABLE', `Cannot restore ${id} here: its files are on ${place}, in ${top}.`, {
    reason: 'files_on_other_machine',
    hint: `Run it there: waymark restore ${id}`,
  })
}
