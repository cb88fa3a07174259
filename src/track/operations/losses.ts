import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { GuardedCommand } from '../../gate/domain/git-guard/guarded-command.ts'
import { type InboxItem, openInboxItem } from '../../inbox/domain/inbox-item.ts'
import { waymark } from '../../inbox/operations/due-items.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId, MissionId, TransactionContext } from '../../kernel/id.ts'
import { measuredList, path, place } from '../../kernel/operations/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import {
  type BriefOf,
  type MeasurementOf,
  measurement,
} from '../../kernel/operations/measurement-protocol.ts'
import type { LineRecordContext, SnapshotBoundary } from '../../lines/operations/record-lines.ts'
import type { TreeBoundary } from '../../lines/ports/line-reads.ts'
import type { HookEdit } from '../../sessions/domain/session.ts'
import type { Reads } from '../../store/ports/store.ts'
import { pathsNamedIn } from '../domain/claimed-paths.ts'
import {
  type AttemptAgain,
  type FileLoss,
  isPutBack,
  type LossHolder,
  type LostContent,
  lossEnds,
  lossReason,
  unexplainedLosses,
} from '../domain/losses.ts'
import { coverage, isDeclared, type Scope } from '../domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'
import type { TreeWrite } from '../domain/tree-write.ts'

const maxOpen = 3
const maxStates = 10
const maxStarts = 50
const maxCounted = 20_000

const positions = measuredList(z.int().min(0), maxStarts)

/** The contents that were kept of a work tree since its last snapshot, and are gone. */
export const lostContents = measurement({
  brief: z.strictObject({
    states: measuredList(place, maxStates + 1),
    /** For each of them the paths that count; null for all. */
    counted: measuredList(measuredList(path, maxCounted).nullable(), maxStates + 1),
    now: place,
    starts: measuredList(place, maxStarts),
    undone: measuredList(place, maxStates),
  }),
  measured: z.strictObject({
    files: measuredList(
      z.strictObject({
        path,
        state: z.int().min(0).max(maxStates),
        became: z.enum(lossEnds),
        startedWith: positions,
        startedWithout: positions,
        undoneFrom: positions,
      }),
      1_000,
    ),
    commands: measuredList(z.string().max(500), 100),
  }),
  fits: ({ states }, { files }) => files.every(({ state }) => state < states.length),
  measure: async ({ witness }, brief) => {
    const { files, commands } = await witness.lostFiles(brief)
    const measured = files.map(({ startedWith, startedWithout, undoneFrom, ...file }) => ({
      ...file,
      startedWith: [...startedWith],
      startedWithout: [...startedWithout],
      undoneFrom: [...undoneFrom],
    }))
    return { files: measured, commands: [...commands] }
  },
})

/** A kept state of a work tree. */
interface KeptState {
  readonly at: number
  readonly place: SnapshotLocation
  /** The command of a person that left it. */
  readonly write?: TreeWrite
  /** The paths whose contents agents may have made; without it all. */
  readonly counted?: readonly string[]
}

/** The kept states that a new snapshot is compared with, the newest first. */
export interface LossContext {
  readonly states: readonly KeptState[]
  readonly guarded: readonly GuardedCommand[]
  /** The commands of people since the last snapshot, the newest first. */
  readonly writes: readonly TreeWrite[]
  /** What edit tools of agents changed since the oldest state, if a command wrote and no attempt is open. */
  readonly edits: readonly HookEdit[]
  /** The attempts whose starts are compared: those that are open, and the first ones of tasks that began again. */
  readonly starts: readonly Attempt[]
  readonly again: readonly AttemptAgain[]
}

interface StatesOfAgents {
  readonly last: TreeBoundary
  readonly writes: readonly TreeWrite[]
}

export async function lossContext(reads: Reads, lines: LineRecordContext): Promise<LossContext> {
  const { guardedCommands, tasks } = reads
  const open = [...lines.surroundings.neighbors.values()]
    .filter(({ status }) => status === 'open')
    .slice(-maxStarts / 2)
  const isAlone = open.length === 0
  const { last, writes } = isAlone ? await statesOfAgents(reads, lines) : statesOf(lines)
  const edits = isAlone && writes.length > 0 ? await editsSince(reads, last) : []
  const { machineId, top } = last.place
  // Those of other machines are not recorded.
  const guarded = machineId === undefined ? await guardedCommands.since(last.at, top) : []
  const kept = [
    ...guarded.flatMap(({ guardedAt: at, snapshot }): KeptState[] =>
      snapshot === null ? [] : [{ at, place: snapshot }],
    ),
    ...writes.flatMap((write): KeptState[] =>
      write.after === null
        ? []
        : [
            {
              at: write.writtenAt,
              place: write.after,
              write,
              // While no agent is at work, a person typed what else is there.
              ...(isAlone && { counted: [...write.files, ...edits.map((edit) => edit.path)] }),
            },
          ],
    ),
  ].sort((a, b) => b.at - a.at)
  const found = await Promise.all(
    open.map(async (attempt): Promise<readonly AttemptAgain[]> => {
      if (attempt.number === 1) return []
      const [first, ...others] = (await tasks.attempts(attempt.taskId)).filter(
        ({ number, snapshot }) => number < attempt.number && treeOf(snapshot) === treeOf(last.place),
      )
      return first === undefined ? [] : [{ attempt, earlier: [first, ...others] }]
    }),
  )
  const again = found.flat()
  const starts = [...open, ...again.map(({ earlier: [first] }) => first)]
  return { states: [...kept.slice(0, maxStates), last], guarded, writes, edits, starts, again }
}

function statesOf({ last, surroundings: { writes } }: LineRecordContext): StatesOfAgents {
  return { last, writes }
}

/** The last snapshot of agents and the commands of people since: an undo also leaves a state of lines. */
async function statesOfAgents(
  { lines, treeWrites }: Reads,
  around: LineRecordContext,
): Promise<StatesOfAgents> {
  let { last, writes } = statesOf(around)
  const tree = treeOf(last.place)
  while (writes.length < maxStates && writes.some(({ after }) => after?.directory === last.place.directory)) {
    const earlier = await lines.lastBoundary(tree, last.at - 1)
    if (earlier === null) break
    last = earlier
    writes = await treeWrites.since(last.at, tree)
  }
  return { last, writes }
}

async function editsSince({ capture }: Reads, { at, place }: TreeBoundary): Promise<readonly HookEdit[]> {
  const turns = await capture.turnsInTree(treeOf(place), at)
  const edits = await capture.edits(turns.map(({ turn }) => turn.id))
  return [...edits.values()].flat().filter(({ reportedAt }) => reportedAt > at)
}

export function lostBrief(losses: LossContext, now: SnapshotBoundary): BriefOf<typeof lostContents> {
  return {
    states: losses.states.map((state) => state.place),
    counted: losses.states.map(({ counted }) => (counted === undefined ? null : [...counted])),
    now: now.place,
    starts: losses.starts.map(({ snapshot }) => snapshot),
    undone: undosOf(losses).map(({ before }) => before),
  }
}

function undosOf({ states }: LossContext): readonly TreeWrite[] {
  return states.flatMap(({ write }) => (write?.cause === 'undo' ? [write] : []))
}

/** Whether an undo wrote a content where nothing uncommitted was: nobody's work is in it that git does not have. */
function isOfUndo({ path: name, state, undoneFrom }: LostContent, losses: LossContext): boolean {
  const write = losses.states[state]?.write
  if (write?.cause !== 'undo' || !write.files.includes(name)) return false
  return undoneFrom.includes(undosOf(losses).indexOf(write))
}

/** The claims of a completion that is not recorded yet. */
interface NewClaims {
  readonly paths: (all: readonly string[]) => Iterable<string>
}

interface LossQuestion {
  readonly now: SnapshotBoundary
  readonly claims?: NewClaims
  /** An attempt that ends as failed: its work may go. */
  readonly failing?: string | null
}

interface LossSurroundings {
  readonly lines: LineRecordContext
  readonly losses: LossContext
}

/** What was lost and nothing explains, with the work that each file belongs to. */
export async function findLosses(
  reads: Reads,
  { lines, losses }: LossSurroundings,
  found: MeasurementOf<typeof lostContents> | undefined,
  { now, claims, failing = null }: LossQuestion,
): Promise<{
  readonly lost: readonly LostContent[]
  readonly holders: ReadonlyMap<string, readonly LossHolder[]>
}> {
  if (found === undefined || found.files.length === 0) return { lost: [], holders: new Map() }
  const paths = found.files.map((file) => file.path)
  const stateOf = ({ state }: LostContent): KeptState => losses.states[state] ?? lines.last
  const byPath = new Map(found.files.map((file) => [file.path, stateOf(file)]))
  const holders = await holdersOf(reads, lines, { now, failing }, byPath)
  const { writes } = losses
  const isWritten = (file: LostContent) =>
    writesAfter(stateOf(file), writes).some(({ files }) => files.includes(file.path))
  const lost = unexplainedLosses(found.files, {
    edited: editedSince({ lines, losses }, byPath),
    written: new Set(
      found.files.filter((file) => isWritten(file) || isOfUndo(file, losses)).map((file) => file.path),
    ),
    claimed: new Set([...(await claimedSince(reads, lines, now, paths)), ...(claims?.paths(paths) ?? [])]),
    putBack: await putBackFiles(reads, losses, found, { holders, stateOf }),
    holders,
  })
  return { lost, holders }
}

/** The files that the next attempts at tasks put back, unless git commands of others may have. */
async function putBackFiles(
  { tasks, capture }: Reads,
  { starts, again, guarded }: LossContext,
  { files, commands }: MeasurementOf<typeof lostContents>,
  {
    holders,
    stateOf,
  }: {
    readonly holders: ReadonlyMap<string, readonly LossHolder[]>
    readonly stateOf: (file: LostContent) => KeptState
  },
): Promise<ReadonlySet<string>> {
  const isByGit = commands.some((message) => !message.startsWith('commit'))
  if (again.length === 0 || isByGit) return new Set()
  const ids = starts.map(({ id }) => id)
  const uncertain = await tasks.uncertainHolders(files.map((file) => file.path))
  const contested = new Set(
    uncertain.flatMap(({ attempt, change }) =>
      change.attribution === 'contested' ? [`${attempt.id} ${change.path}`] : [],
    ),
  )
  const links = await capture.linksOf(again.map(({ attempt }) => attempt.id))
  const sessions = new Map(
    await Promise.all(
      links.map(
        async ({ attemptId, sessionId }) =>
          [attemptId, (await capture.session(sessionId))?.session.clientSession ?? null] as const,
      ),
    ),
  )
  const isFree = (one: AttemptAgain, file: LostContent) =>
    guarded.every(
      ({ guardedAt, clientSession }) =>
        guardedAt < stateOf(file).at ||
        (clientSession !== null && clientSession === sessions.get(one.attempt.id)),
    )
  const putBack = files.filter((file) =>
    again.some(
      (one) =>
        isFree(one, file) &&
        isPutBack(file, one, { starts: ids, holders: holders.get(file.path) ?? [], contested }),
    ),
  )
  return new Set(putBack.map((file) => file.path))
}

/** The commands of people, the newest first, that may have changed a kept state. */
function writesAfter({ at, write }: KeptState, writes: readonly TreeWrite[]): readonly TreeWrite[] {
  if (write === undefined) return writes.filter(({ writtenAt }) => writtenAt >= at)
  return writes.slice(
    0,
    writes.findIndex(({ id }) => id === write.id),
  )
}

/** Records what was lost, and opens an inbox item for the files of each kept state: they were lost together. */
export async function recordedLosses(
  reads: Reads,
  around: LossSurroundings,
  found: MeasurementOf<typeof lostContents> | undefined,
  { setting, ...question }: LossQuestion & { readonly setting: TransactionContext },
): Promise<readonly NewProjectEvent[]> {
  const { lost, holders } = await findLosses(reads, around, found, question)
  const { lines, losses } = around
  const { guarded } = losses
  return [...Map.groupBy(lost, ({ state }) => state)].flatMap(([state, files]) => {
    const from = losses.states[state] ?? lines.last
    const attempt = soleAttempt(files.flatMap((file) => holders.get(file.path) ?? []))
    const location = {
      taskId: attempt?.taskId ?? null,
      missionId: attempt?.missionId ?? null,
      phaseId: attempt?.phaseId ?? null,
      attemptId: attempt?.id ?? null,
    }
    const itemId = setting.ids.next('item')
    const names = guarded.filter(({ guardedAt }) => guardedAt >= from.at).flatMap(({ commands }) => commands)
    const loss: FileLoss = {
      itemId,
      taskId: location.taskId,
      missionId: location.missionId,
      from: { takenAt: from.at, place: from.place },
      until: question.now.at,
      ...(question.now.ending != null && { ending: question.now.ending as AttemptId }), // only attempts end so
      files: files.map(({ path: name, became }) => ({ path: name, became })),
      agents: [...new Set([...lines.surroundings.neighbors.values()].map((one) => displayName(one)))],
      commands: [...new Set([...names, ...(found?.commands ?? [])])],
    }
    const about = { kind: 'loss' as const, reason: lossReason(loss), openedBy: waymark.name }
    const item = {
      ...openInboxItem(about, location, { at: setting.at, id: itemId }),
      paths: loss.files.map((file) => file.path),
    }
    return [
      { kind: 'files.lost' as const, loss },
      { kind: 'inbox.opened' as const, item },
    ]
  })
}

function editedSince(
  { lines: { surroundings }, losses }: LossSurroundings,
  states: ReadonlyMap<string, KeptState>,
): ReadonlySet<string> {
  const seen = [...(surroundings.hookEvidence?.seen.values() ?? [])].flatMap(({ edits }) => edits)
  const edited = new Set<string>()
  for (const edit of [...seen, ...losses.edits]) {
    const state = states.get(edit.path)
    if (state !== undefined && edit.reportedAt > state.at) edited.add(edit.path)
  }
  return edited
}

/** The files that completions of attempts claim, which ended since the last snapshot. */
async function claimedSince(
  { tasks }: Reads,
  { last }: LineRecordContext,
  now: SnapshotBoundary,
  paths: readonly string[],
): Promise<readonly string[]> {
  const ended = (await tasks.attemptsInTree(treeOf(now.place), last.at)).filter(
    ({ closedAt }) => closedAt !== null && closedAt > last.at,
  )
  const statements = await tasks.statements(ended.map(({ id }) => id))
  return [...statements.values()].flatMap(({ claimed }) => pathsNamedIn(claimed, paths))
}

/** The work that the files belong to. */
async function holdersOf(
  { tasks, capture }: Reads,
  { surroundings }: LineRecordContext,
  { now: { place: location }, failing }: { readonly now: SnapshotBoundary; readonly failing: string | null },
  all: ReadonlyMap<string, KeptState>,
): Promise<ReadonlyMap<string, readonly LossHolder[]>> {
  const holders = await restoredHolders(tasks, all)
  const states = new Map([...all].filter(([name]) => !holders.has(name)))
  if (states.size === 0) return holders
  const add = (name: string, holder: LossHolder) => holders.set(name, [...(holders.get(name) ?? []), holder])
  const paths = [...states.keys()]
  const changed = await tasks.changedBy(paths)
  const ids = [...new Set(changed.map(({ attemptId }) => attemptId))]
  const found = await Promise.all(ids.map((id) => tasks.attempt(id)))
  const attempts = new Map(found.flatMap((one) => (one === null ? [] : [[one.id as string, one] as const])))
  const cards = await tasks.cards([...new Set([...attempts.values()].map(({ taskId }) => taskId))])
  const byTask = new Map(cards.map(({ task }) => [task.id, task]))
  const above = await tasks.ancestors([...byTask.keys()])
  // Nothing of an undone task is in what its undo wrote.
  const isUndone = (name: string, { taskId }: Attempt) => {
    const write = states.get(name)?.write
    if (write?.cause !== 'undo' || !write.files.includes(name)) return false
    return [taskId, ...(above.get(taskId) ?? [])].some((id) => id === write.taskId)
  }
  const undone = new Map<string, Attempt[]>()
  for (const { path: name, attemptId } of changed) {
    const attempt = attempts.get(attemptId)
    if (attempt === undefined || attempt.id === failing || treeOf(attempt.snapshot) !== treeOf(location))
      continue
    if (isUndone(name, attempt)) {
      undone.set(name, [...(undone.get(name) ?? []), attempt])
      continue
    }
    add(name, { attempt, task: byTask.get(attempt.taskId) ?? null })
  }
  for (const attempt of surroundings.neighbors.values()) {
    if (attempt.status !== 'open' || attempt.id === failing) continue
    for (const [name, { at }] of states) if (attempt.openedAt < at) add(name, { attempt, task: null })
  }
  const turns = await capture.turnsInTree(
    treeOf(location),
    Math.min(...[...states.values()].map(({ at }) => at)) - turnsFor,
  )
  const edits = await capture.edits(turns.map(({ turn }) => turn.id))
  for (const edit of [...edits.values()].flat()) {
    const state = states.get(edit.path)
    const isOfUndone = undone
      .get(edit.path)
      ?.some(({ openedAt, closedAt }) => openedAt <= edit.reportedAt && edit.reportedAt <= (closedAt ?? 0))
    if (state !== undefined && edit.reportedAt <= state.at && isOfUndone !== true) add(edit.path, 'turn')
  }
  return holders
}

/** A restored file belongs to what it was restored for, whoever is at work meanwhile. */
async function restoredHolders(
  tasks: Reads['tasks'],
  states: ReadonlyMap<string, KeptState>,
): Promise<Map<string, LossHolder[]>> {
  const restored = [...states].flatMap(([name, { write }]) =>
    write?.cause === 'restore' && write.files.includes(name) ? [[name, write.taskId] as const] : [],
  )
  const ids = [...new Set(restored.flatMap(([, taskId]) => taskId ?? []))]
  const attempts = await Promise.all(ids.map((id) => tasks.attempts(id)))
  const last = new Map(attempts.flatMap((some) => some.slice(-1)).map((one) => [one.taskId, one]))
  return new Map(
    restored.map(([name, taskId]) => {
      const attempt = taskId === null ? undefined : last.get(taskId)
      return [name, ['restore', ...(attempt === undefined ? [] : [{ attempt, task: null }])]]
    }),
  )
}

/** In milliseconds: edits of earlier turns are not looked for. */
const turnsFor = 24 * 60 * 60 * 1000

/** The attempt that all the files belong to; null for several. */
function soleAttempt(holders: readonly LossHolder[]): Attempt | null {
  const attempts = new Map(
    holders.flatMap((holder) =>
      typeof holder === 'string' ? [] : [[holder.attempt.id, holder.attempt] as const],
    ),
  )
  const [only, another] = attempts.values()
  return only !== undefined && another === undefined ? only : null
}

const maxPaths = 3

const OpenLoss = z.object({
  item_id: z.string(),
  task_id: z.string().nullable(),
  paths: strings,
  paths_total: z.int(),
  /** The command for a person. */
  restore: z.string(),
})

/** Files that were lost and that nobody brought back yet; absent if there are none. */
export const openLossFields = {
  losses: z.array(OpenLoss).optional(),
  losses_total: z.int().optional(),
}

/** The work that a loss may concern. */
interface LossConcern {
  readonly missionId: MissionId | null
  readonly scope?: Scope
  /** Only what was found since, milliseconds since the epoch. */
  readonly since?: number
}

/** The open losses of a mission, of several agents at once, and those of files in a scope. */
export async function openLosses(
  { fileLosses }: Reads,
  { missionId, scope, since = 0 }: LossConcern,
): Promise<z.output<z.ZodObject<typeof openLossFields>>> {
  const concerns = ({ missionId: ofMission, taskId, paths, openedAt }: InboxItem): boolean => {
    if (openedAt < since) return false
    if (taskId === null || (ofMission !== null && ofMission === missionId)) return true
    return scope !== undefined && paths.some((one) => isDeclared(scope) && coverage(scope, one) === 'covered')
  }
  const found = (await fileLosses.open()).filter(concerns)
  if (found.length === 0) return {}
  return {
    losses: found.slice(0, maxOpen).map(({ id, taskId, paths }) => ({
      item_id: id,
      task_id: taskId,
      paths: paths.slice(0, maxPaths),
      paths_total: paths.length,
      restore: `waymark restore ${id}`,
    })),
    losses_total: found.length,
  }
}

/** What an agent is told of new losses. */
export function lossNotes(events: readonly NewProjectEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'files.lost'
      ? [`${lossReason(event.loss)} A person restores: waymark restore ${event.loss.itemId}`]
      : [],
  )
}
