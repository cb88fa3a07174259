import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { count, measuredList, path, place } from '../../kernel/operations/fields.ts'
import { findTask } from '../../kernel/operations/find.ts'
import type { BriefOf } from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { UndoneFile } from '../../lines/domain/undo-file.ts'
import { type UndoneMakers, undoChain } from '../../lines/domain/undo-steps.ts'
import { recordOf } from '../../lines/operations/line-origins.ts'
import type { fileStates } from '../../review/operations/measure-files.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { type Attempt, atWorkUntil, type SnapshotLocation, treeOf } from '../domain/task.ts'

/** The attempts or the turn that an undo takes back. */
export interface UndoneWork {
  readonly id: string
  readonly title: string
  readonly taskId: TaskId | null
  readonly subtasks: readonly TaskId[]
  readonly missionId: MissionId | null
  /** In order of time. */
  readonly spans: readonly WorkSpan[]
  readonly makers: ReadonlySet<string>
}

/** A time of the work in one work tree, between two snapshots. */
interface WorkSpan {
  readonly from: { readonly at: number; readonly place: SnapshotLocation }
  readonly to: { readonly at: number; readonly place: SnapshotLocation }
  readonly changes: readonly WorkChange[]
}

type WorkChange = Pick<ReportedChange, 'path' | 'from' | 'change' | 'origin' | 'attribution' | 'with'>

/** One piece of work, by its snapshots; null where its end was not measured. */
interface WorkPiece {
  readonly from: WorkSpan['from']
  readonly to: WorkSpan['to'] | null
  readonly changes: readonly WorkChange[]
}

/** Finds the work of a task with its subtasks, or of a turn. Refuses work that is open, elsewhere, or not measured. */
export async function findUndoneWork(
  reads: Reads,
  { machine }: Pick<RecordContext, 'machine'>,
  id: string,
): Promise<UndoneWork> {
  const work = id.startsWith('tn-') ? await turnWork(reads, id) : await taskWork(reads, id)
  const { pieces, ...rest } = work
  const elsewhere = pieces.find(({ from }) => from.place.machineId !== machine?.id)
  if (elsewhere !== undefined) throw elsewhereFailure(rest, elsewhere.from.place)
  if (pieces.some(({ from }) => from.place.engine !== 'git')) {
    throw new Failure('UNAVAILABLE', `Cannot undo ${rest.id}: it was measured without git.`, {
      reason: 'measured_without_git',
      hint: 'Without git, Waymark keeps no contents of files.',
    })
  }
  const spans = joinedSpans(pieces)
  if (spans.length === 0) {
    throw new Failure('UNAVAILABLE', `Cannot undo ${rest.id}: its end was not measured.`, {
      reason: 'work_not_measured',
      hint: `waymark show ${rest.id} shows what is recorded.`,
    })
  }
  return { ...rest, spans }
}

type FoundWork = Omit<UndoneWork, 'spans'> & { readonly pieces: readonly WorkPiece[] }

async function taskWork(reads: Reads, id: string): Promise<FoundWork> {
  const task = await findTask(reads, id)
  const ids = [task.id, ...(await allSubtasks(reads, task.id))]
  const byTask = await reads.landings.attemptsOf(ids)
  const attempts = [...new Map([...byTask.values()].flat().map((attempt) => [attempt.id, attempt])).values()]
    .filter(({ taskId }) => ids.includes(taskId))
    .sort((a, b) => a.openedAt - b.openedAt)
  const open = attempts.find(({ status }) => status === 'open')
  if (open !== undefined) throw openFailure(task.id, open)
  if (attempts.length === 0) {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started: it changed nothing.`, {
      reason: 'task_not_started',
      hint: hintOf`List the tasks with ${callTo('taskman_task_list')}.`,
    })
  }
  const recorded = await reads.runs.changesOf(attempts.map((attempt) => attempt.id))
  const changes = new Map(recorded.map((one) => [one.attemptId, one.changes]))
  return {
    id: task.id,
    title: excerpt(task.name, 120),
    taskId: task.id,
    subtasks: [...new Set(attempts.map(({ taskId }) => taskId))].filter((one) => one !== task.id),
    missionId: task.missionId,
    makers: new Set<string>(attempts.map((attempt) => attempt.id)),
    pieces: attempts.map((attempt) => pieceOf(attempt, changes.get(attempt.id) ?? [])),
  }
}

function pieceOf(
  { openedAt, closedAt, snapshot, endSnapshot }: Attempt,
  changes: readonly object[],
): WorkPiece {
  const to = closedAt === null || endSnapshot === null ? null : { at: closedAt, place: endSnapshot }
  // The query's type has only the fields that runs need; the record has all of them.
  return { from: { at: openedAt, place: snapshot }, to, changes: changes as readonly WorkChange[] }
}

const maxTasks = 1_000

async function allSubtasks({ tasks }: Reads, id: TaskId): Promise<readonly TaskId[]> {
  const all: TaskId[] = []
  for (let level = await tasks.subtasks(id); level.length > 0 && all.length < maxTasks; ) {
    all.push(...level)
    level = (await Promise.all(level.map((one) => tasks.subtasks(one)))).flat()
  }
  return all
}

function openFailure(taskId: TaskId, open: Attempt): Failure {
  const whose = open.taskId === taskId ? '' : ` of its subtask ${open.taskId}`
  return new Failure('REFUSED', `Cannot undo task ${taskId}: attempt ${open.id}${whose} is open.`, {
    reason: 'attempt_open',
    hint: hintOf`End it first with ${callTo('complete_task', { task_id: open.taskId, status: 'failed', outcome: undefined })}, which measures its changes.`,
  })
}

const maxTurnChanges = 20_000
const maxTurns = 1_000

async function turnWork(reads: Reads, id: string): Promise<FoundWork> {
  const { capture } = reads
  const line = await capture.turn(id)
  if (line === null) {
    throw new Failure('NOT_FOUND', `There is no turn "${id}".`, {
      reason: 'turn_not_found',
      hint: 'waymark sessions lists the sessions, and waymark sessions show <session> their turns.',
    })
  }
  const { turn } = line
  const all = await capture.turns(turn.sessionId, { limit: maxTurns, offset: 0 })
  // The work of its subagents is its own.
  const turns = [line, ...all.filter(({ turn: other }) => other.parentId === turn.id)]
  const open = turns.find((one) => one.turn.status === 'open')
  if (open !== undefined) {
    throw new Failure('REFUSED', `Cannot undo turn ${turn.id}: ${open.turn.id} is still open.`, {
      reason: 'turn_open',
      hint: 'Wait until the agent has answered, or stop it.',
    })
  }
  const links = await capture.linksIn([turn.sessionId])
  const agents = new Set(turns.map((one) => one.turn.agent?.id ?? null))
  const attempts = links.filter(({ agentId }) => agents.has(agentId)).map(({ attemptId }) => attemptId)
  const pieces = await Promise.all(
    turns.map(async (one): Promise<readonly WorkPiece[]> => {
      const { snapshot, baselineAt, endSnapshot, closedAt, id: turnId } = one.turn
      if (snapshot === null) return []
      const to = closedAt === null || endSnapshot === null ? null : { at: closedAt, place: endSnapshot }
      const changes = await capture.changes(turnId, { limit: maxTurnChanges, offset: 0 })
      return [{ from: { at: baselineAt, place: snapshot }, to, changes }]
    }),
  )
  return {
    id: turn.id,
    title: `turn ${turn.number} of ${turn.client}`,
    taskId: null,
    subtasks: [],
    missionId: null,
    makers: new Set<string>([...turns.map((one) => one.turn.id), ...attempts]),
    pieces: pieces.flat(),
  }
}

function elsewhereFailure({ id }: Pick<UndoneWork, 'id'>, { machineName, top }: SnapshotLocation): Failure {
  const where = machineName ?? 'the machine that keeps the record'
  return new Failure('UNAVAILABLE', `Cannot undo ${id} here: its files are on ${where}, in ${top}.`, {
    reason: 'work_on_other_machine',
    hint: `Run it there: waymark undo ${id}`,
    details: { machine: where, work_tree: top },
  })
}

/** Pieces that overlap in a work tree become one. A piece without an end lasts until the next one there that has one. */
function joinedSpans(pieces: readonly WorkPiece[]): readonly WorkSpan[] {
  const spans: WorkSpan[] = []
  for (const inTree of Map.groupBy(pieces, ({ from }) => treeOf(from.place)).values()) {
    let current: WorkPiece | null = null
    const close = () => {
      if (current?.to) spans.push({ from: current.from, to: current.to, changes: current.changes })
    }
    for (const piece of inTree.toSorted((a, b) => a.from.at - b.from.at)) {
      const joins: boolean = current !== null && (current.to === null || piece.from.at < current.to.at)
      if (current === null || !joins) {
        close()
        current = piece
        continue
      }
      const isLast: boolean = current.to === null || (piece.to !== null && piece.to.at > current.to.at)
      current = {
        from: current.from,
        to: isLast ? piece.to : current.to,
        changes: [...current.changes, ...piece.changes],
      }
    }
    close()
  }
  return spans.sort((a, b) => a.from.at - b.from.at)
}

/** The paths of each span whose states are needed at its start and its end. */
export async function undoneStates(
  reads: Reads,
  { spans, makers }: UndoneWork,
): Promise<{ readonly paths: readonly (readonly string[])[]; readonly brief: BriefOf<typeof fileStates> }> {
  const since = Math.min(...spans.map(({ from }) => from.at))
  const steps = await reads.lines.stepsOfAttempts([...makers], since)
  const paths = spans.map((span) => {
    const named = span.changes
      .filter(({ origin }) => origin !== 'imported')
      .flatMap(({ path: name, from }) => (from === undefined ? [name] : [name, from]))
    const recorded = steps
      .filter((step) => isIn(step.span, span))
      .flatMap(({ path: name, from }) => (from === undefined ? [name] : [name, from]))
    return [...new Set([...named, ...recorded])].sort()
  })
  const brief = spans.flatMap(({ from, to }, at) =>
    [from, to].map((end) => ({ place: end.place, paths: paths[at] ?? [] })),
  )
  return { paths, brief }
}

function isIn(
  span: { readonly tree: string; readonly since: number },
  { from, to }: Pick<WorkSpan, 'from' | 'to'>,
): boolean {
  return span.tree === treeOf(from.place) && span.since >= from.at && span.since < to.at
}

const lineNumbers = measuredList(count)

/** A stretch of the work with its files, for the machine that has them. */
export const undoneWindow = z.strictObject({
  from: place,
  to: place,
  files: measuredList(
    z.strictObject({
      path,
      from: path,
      pathNow: path,
      steps: measuredList(
        z.strictObject({
          after: z.string().max(64).nullable(),
          hunks: measuredList(
            z.strictObject({
              before: count,
              removed: count,
              after: count,
              added: count,
              restores: z.boolean(),
              own: lineNumbers,
              uncertain: lineNumbers,
              kept: lineNumbers,
              elsewhere: lineNumbers,
            }),
          ),
        }),
      ).nullable(),
      isWholeOwn: z.boolean(),
      isOwnRename: z.boolean(),
      isOwnArrival: z.boolean(),
      isOwnRemoval: z.boolean(),
    }) satisfies z.ZodType<UndoneFile, unknown>,
  ),
})

type StatesAtEnds = readonly {
  readonly directory: string
  readonly states: readonly (readonly [string, { readonly id: string | null } | null])[] | null
}[]

/** The files of the work with the authors of their changes, the last stretch first. */
export async function undoneWindows(
  reads: Reads,
  work: UndoneWork,
  { paths, states }: { readonly paths: readonly (readonly string[])[]; readonly states: StatesAtEnds },
): Promise<readonly z.output<typeof undoneWindow>[]> {
  const byPlace = new Map(states.map((one) => [one.directory, new Map(one.states)]))
  const windows = await Promise.all(
    work.spans.map(async (span, at) => {
      const names = paths[at] ?? []
      const record = await recordOf(reads, ...names)
      const [starts, ends] = [span.from, span.to].map(({ place: { directory } }) => byPlace.get(directory))
      const makers: UndoneMakers = {
        ids: work.makers,
        wereAlone: await othersAtWork(reads, span, work.makers),
      }
      const renamedAway = new Set(span.changes.flatMap(({ from }) => from ?? []))
      const files = names.flatMap((name): readonly UndoneFile[] => {
        const end = ends?.get(name)
        const changes = span.changes.filter((change) => change.path === name)
        if (changes.length === 0 && renamedAway.has(name)) return []
        const chain =
          end === undefined || (end !== null && end.id === null)
            ? null
            : undoChain(record, {
                path: name,
                end: end?.id ?? null,
                startOf: (old) => {
                  const start = starts?.get(old)
                  return start === undefined ? undefined : (start?.id ?? null)
                },
                isMeant: (step) => isIn(step.span, span),
                makers,
              })
        const isSame = end?.id === starts?.get(name)?.id && chain === null && changes.length === 0
        if (isSame) return []
        const isWholeOwn =
          changes.length > 0 &&
          changes.every(
            ({ origin, attribution, with: others = [] }) =>
              origin === 'task' && attribution === 'certain' && others.length === 0,
          )
        const from = chain?.from ?? changes.findLast((change) => change.from !== undefined)?.from ?? name
        return [
          {
            path: name,
            from,
            pathNow: record.nameSince(name, span.to.at),
            steps: chain?.steps.map((step) => ({ ...step })) ?? null,
            isWholeOwn,
            isOwnRename: chain?.isOwnRename ?? (isWholeOwn && from !== name),
            isOwnArrival: chain?.isOwnArrival ?? isWholeOwn,
            isOwnRemoval: chain?.isOwnRemoval ?? isWholeOwn,
          },
        ]
      })
      const renamed = new Set(files.flatMap((file) => (file.from === file.path ? [] : [file.from])))
      const isLeft = ({ path: name }: UndoneFile) => renamed.has(name) && (ends?.get(name) ?? null) === null
      const left = files.filter((file) => !isLeft(file))
      const isGone = (name: string) => (ends?.get(name) ?? null) === null
      // Lines of a file that does not come back may be in one that was added: then that one stays too.
      const isUnsure = left.some(
        ({ path: name, steps, isWholeOwn, isOwnRemoval }) =>
          isGone(name) && !(steps === null ? isWholeOwn : isOwnRemoval),
      )
      const isAdded = ({ from }: UndoneFile) => (starts?.get(from) ?? null) === null
      const sure = left.map((file) =>
        isUnsure && isAdded(file) ? { ...file, steps: null, isWholeOwn: false } : file,
      )
      return { from: span.from.place, to: span.to.place, files: sure }
    }),
  )
  return windows.reverse().map((window) => structuredClone(window) as z.output<typeof undoneWindow>)
}

/** Whether no other attempt was at work in the time of a step, and no turn. */
async function othersAtWork(
  { tasks, capture }: Reads,
  { from }: WorkSpan,
  makers: ReadonlySet<string>,
): Promise<UndoneMakers['wereAlone']> {
  const tree = treeOf(from.place)
  const [attempts, turns] = await Promise.all([
    tasks.attemptsInTree(tree, from.at),
    capture.turnsInTree(tree, from.at),
  ])
  const others = [
    ...attempts
      .filter(({ id }) => !makers.has(id))
      .map((attempt) => ({ since: attempt.openedAt, until: atWorkUntil(attempt) })),
    // Where hooks report edits, what they do not report may be anybody's.
    ...turns.map(({ turn }) => ({
      since: turn.openedAt,
      until: turn.closedAt ?? Number.MAX_SAFE_INTEGER,
    })),
  ]
  return (time) =>
    time.tree === tree && others.every(({ since, until }) => until <= time.since || since >= time.until)
}
