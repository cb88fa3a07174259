import { z } from 'zod'
import { settingOf } from '../../gate/domain/settings.ts'
import type { MissionId, SnapshotId, TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { measuredList, path, time } from '../../kernel/operations/fields.ts'
import { findTask } from '../../kernel/operations/find.ts'
import { identifier, unlistedField } from '../../kernel/operations/input/fields.ts'
import { Named } from '../../kernel/operations/list-answer.ts'
import { type MeasurementOf, measurement } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { LineStep } from '../../lines/domain/line-hashes.ts'
import { linesLeft, taskLines } from '../../lines/domain/task-lines.ts'
import { returnsOf } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  endedWithGit,
  hasLinesToLand,
  isFollowed,
  isMeasuredBefore,
  type Landed,
  type LandedState,
  landedStates,
  landingMachine,
  lastEnd,
  notLandedStates,
  type TaskLines,
} from '../domain/landed.ts'
import { type Attempt, type Task, treeOf } from '../domain/task.ts'
import type { TreeWrite } from '../domain/tree-write.ts'
import type { RecordedLanding } from '../ports/landing-reads.ts'
import { undoneTasks } from './tree-write.ts'

/** More are measured the next time. */
const maxTasks = 500
const maxListed = 100
/** Of a mission, in an answer for agents. */
const maxGone = 3

const hashes = measuredList(z.string().max(100), 200_000)
const fileLines = measuredList(z.strictObject({ path, added: hashes, removed: hashes }), 20_000)
const count = z.int().min(0)
const commit = z
  .string()
  .regex(/^[0-9a-f]{40,64}$/)
  .nullable()
const landedFields = z.strictObject({
  is: z.enum(landedStates),
  branch: z.string().max(4_096).nullable(),
  lines: count,
  total: count,
  commit,
  landedAt: time.nullable(),
  uncommitted: z.strictObject({ paths: z.array(path).max(100), total: count }).optional(),
}) satisfies z.ZodType<Landed, unknown>

/** Where the lines of tasks are, in git and on disk. */
export const landing = measurement({
  brief: z.strictObject({
    branch: z.string().max(4_096).nullable(),
    salt: z.string().max(200),
    tasks: measuredList(
      z.strictObject({
        taskId: z.string().max(100),
        since: time,
        files: fileLines,
        left: fileLines.nullable(),
        landed: landedFields.pick({ commit: true, landedAt: true, lines: true }).nullable(),
      }),
      maxTasks,
    ),
  }),
  measured: measuredList(landedFields, maxTasks),
  measure: ({ witness, folder }, { tasks, ...brief }) =>
    witness.history.landing({
      ...brief,
      folder,
      tasks: tasks.map((task) => ({ ...task, taskId: task.taskId as TaskId })), // a brand
    }),
})

/** A task in an answer. */
export const LandedEntry = z.object({
  is: z.enum(landedStates),
  branch: z.string().nullable(),
  lines: z.int(),
  total: z.int(),
  commit: z.string().optional(),
  landed_at: z.string().optional(),
  uncommitted: z.object({ paths: z.array(z.string()), total: z.int() }).optional(),
})

export function landedEntry({
  is,
  branch,
  lines,
  total,
  commit: id,
  landedAt,
  uncommitted,
}: Landed): z.output<typeof LandedEntry> {
  return {
    is,
    branch,
    lines,
    total,
    ...(id !== null && { commit: id }),
    ...(landedAt !== null && { landed_at: instant(landedAt) }),
    ...(uncommitted && { uncommitted: { ...uncommitted, paths: [...uncommitted.paths] } }),
  }
}

/** Where the lines of a mission's done tasks are: counts, and the tasks whose lines are gone. */
export const missionLandedField = z
  .object({
    counts: z.partialRecord(z.enum(landedStates), z.int()),
    gone: z.array(z.object({ task_id: z.string(), name: z.string(), is: z.enum(landedStates) })),
  })
  .optional()

/** Null where no lines are followed, or nothing was measured since a time. */
export async function missionLanded({ landings }: Reads, missionId: MissionId, since = 0) {
  const { counts, measuredAt, gone } = await landings.ofMission(missionId, maxGone)
  const followed = [...counts].filter(([state]) => isFollowed(state))
  if (followed.length === 0 || measuredAt === null || measuredAt < since) return null
  return {
    counts: Object.fromEntries(followed),
    gone: gone.map(({ id, name, is }) => ({ task_id: id, name: excerpt(name, 60), is })),
  }
}

type TasksByLanding = ReadonlyMap<LandedState, number>

/** The last states of done tasks that a person undid: nobody waits for these to land. */
async function undoneLandings({ treeWrites, landings, tasks }: Reads): Promise<TasksByLanding> {
  const undone = await treeWrites.undoneTasks()
  if (undone.length === 0) return new Map()
  const done = (await tasks.withIds(undone)).filter(({ status }) => status === 'done')
  const states = [...(await landings.of(done.map(({ id }) => id))).values()].map(({ is }) => is)
  return new Map(states.map((state) => [state, states.filter((one) => one === state).length]))
}

/** The done tasks whose lines are not on the default branch, as last measured. */
export async function notLandedTasks(reads: Reads): Promise<TasksByLanding> {
  return withoutUndone(await reads.landings.notLanded(), await undoneLandings(reads))
}

function withoutUndone(counts: TasksByLanding, undone: TasksByLanding): TasksByLanding {
  const left = [...counts].map(([state, tasks]) => [state, tasks - (undone.get(state) ?? 0)] as const)
  return new Map(left.filter(([, tasks]) => tasks > 0))
}

export const measureLanded = defineOperation({
  name: 'measure_landed',
  command: 'landed',
  toolset: 'track',
  audience: 'both',
  title: 'Show which finished tasks landed',
  description:
    'Measure whether the lines of finished tasks are on the default branch, on another one, only on disk, reverted or lost. A server repeats it within 10 minutes.',
  kind: 'command',
  idempotent: true,
  positional: ['task'],
  input: z.strictObject({ task: unlistedField(identifier('Show only this task')).optional() }),
  output: z.object({
    branch: z.string().nullable(),
    /** How many tasks there are in each state. */
    counts: z.partialRecord(z.enum(landedStates), z.int()),
    /** Those that did not land, the newest first, or all if all landed; or the task that was asked for. */
    tasks: z.array(
      LandedEntry.extend({
        task_id: z.string(),
        title: z.string(),
        /** Other machines, which measure it or a part of it: this is what was measured last. */
        machine: z.string().optional(),
      }),
    ),
    tasks_total: z.int(),
    /** Finished tasks that a person undid: their lines are not followed. */
    undone: z.array(Named),
    undone_total: z.int(),
    /** Why nothing is known of the task that was asked for. */
    note: z.string().optional(),
  }),
})
  .measure({ landing })
  .prepare(async (reads, input, { machine }) => {
    const asked = input.task === undefined ? null : await findTask(reads, input.task)
    const { brief, ...found } = await prepareLanding(reads, machine?.id)
    return { briefs: brief === null ? {} : { landing: brief }, found: { asked, ...found } }
  })
  .record(async ({ reads, found: { asked, tasks, elsewhere, undone }, measured }) => {
    const { now, events } = await measuredLandings(reads, tasks, measured.landing ?? [])
    const seen = new Set(now.map(({ task }) => task.id))
    const unseen = elsewhere.filter(({ task }) => !seen.has(task.id))
    const listed = [
      ...now,
      ...unseen.map(({ landed, ...one }) => ({ ...one, landed: landed ?? neverMeasured })),
    ]
    const followed = listed.filter(({ landed }) => hasLinesToLand(landed.is))
    const notLanded = followed.filter(({ landed }) => landed.is !== 'landed')
    const earlier = asked === null ? undefined : (await reads.landings.of([asked.id])).get(asked.id)
    const own = listed.filter(({ task }) => task.id === asked?.id)
    const isOnlyRecorded = own.length === 0 && asked?.status === 'done' && earlier !== undefined
    const ofAsked = isOnlyRecorded ? [{ task: asked, landed: earlier }] : own
    const ofAll = notLanded.length > 0 ? notLanded : followed
    const left = asked === null ? ofAll : ofAsked
    const undo = undone.find(({ id }) => id === asked?.id)?.undo ?? null
    return {
      events,
      answerFrom: async (after) => ({
        branch: listed.find(({ landed }) => landed.branch !== null)?.landed.branch ?? null,
        counts: Object.fromEntries(
          withUnmeasured(withoutUndone(await after.landings.counts(), await undoneLandings(after)), unseen),
        ),
        tasks: left.slice(0, maxListed).map(({ task, landed, ...place }) => ({
          task_id: task.id,
          title: task.name,
          ...landedEntry(landed),
          ...place,
        })),
        tasks_total: left.length,
        undone: undone.slice(0, maxListed).map(({ id, name }) => ({ id, name })),
        undone_total: undone.length,
        ...(asked !== null && left.length === 0 && { note: notFollowed(asked, undo) }),
      }),
    }
  })

/** The brief for the tasks that a machine can measure; null without one. */
export async function prepareLanding(reads: Reads, machine: string | undefined) {
  const { here: tasks, elsewhere, undone } = await tasksToMeasure(reads, machine)
  const [settings, salt] = await Promise.all([reads.runs.settings(), reads.lines.salt()])
  const branch = settingOf(settings, 'default_branch')
  const brief = {
    branch: branch === 'automatic' ? null : branch,
    salt,
    tasks: tasks.map(({ lines }) => lines),
  }
  return { brief: tasks.length === 0 ? null : brief, tasks, elsewhere, undone }
}

/** The measured tasks, and the events for those that differ from the record. */
export async function measuredLandings(
  { landings }: Reads,
  tasks: readonly TaskToMeasure[],
  measured: MeasurementOf<typeof landing>,
) {
  const before = await landings.of(tasks.map(({ task }) => task.id))
  const now = tasks.flatMap((one, at) => {
    const landed = measured[at]
    if (landed === undefined) return []
    const { task, machine, isElsewhere } = one
    // The commits of another machine may be missing here; lines that are on its branch are there for all.
    const branchThere = before.get(task.id)?.branch ?? landed.branch
    if (isElsewhere && !(isSameBranch(landed.branch, branchThere) && isFound(one, landed))) return []
    if (machine === null || !isUnseen(one, landed)) return [{ one, task, landed }]
    return [{ one, task, landed: lastKnown(before.get(task.id), landed), machine }]
  })
  const events = now.flatMap(({ one: { isChanged }, task, landed }) =>
    !isChanged && isSame(before.get(task.id), landed)
      ? []
      : [{ kind: 'landing.measured' as const, taskId: task.id, missionId: task.missionId, landed }],
  )
  return { now: now.map(({ one: _, ...rest }) => rest), events }
}

/** A clone may have no remote yet. */
function isSameBranch(one: string | null, other: string | null): boolean {
  return one?.replace(/^origin\//, '') === other?.replace(/^origin\//, '')
}

function isFound(task: TaskToMeasure, landed: Landed): boolean {
  return landed.is === 'landed' || (landed.is === 'replaced' && !isUnseen(task, landed))
}

/** Whether there are lines to land that this machine does not see: they may be on another one. */
function isUnseen({ lines: { files, left } }: TaskToMeasure, { is }: Landed): boolean {
  return is === 'lost' || (!hasLinesToLand(is) && (left ?? files).length > 0)
}

function lastKnown(before: RecordedLanding | undefined, landed: Landed): Landed {
  if (before === undefined || !notLandedStates.some((state) => state === before.is))
    return { ...landed, is: 'unknown' }
  const { measuredAt: _, ...known } = before
  return known
}

/** A task of another machine that was never measured is listed, and counted, as unknown. */
function withUnmeasured(counts: TasksByLanding, elsewhere: readonly TaskElsewhere[]): TasksByLanding {
  const unmeasured = elsewhere.filter(({ landed }) => landed === null).length
  return unmeasured === 0
    ? counts
    : new Map([...counts, ['unknown', (counts.get('unknown') ?? 0) + unmeasured]])
}

const neverMeasured: Landed = {
  is: 'unknown',
  branch: null,
  lines: 0,
  total: 0,
  commit: null,
  landedAt: null,
}

function notFollowed({ id, status }: Task, undo: SnapshotId | null): string {
  if (undo !== null)
    return `Task ${id} was undone, so its lines are not followed. If its work is back, record it: waymark restore ${undo}`
  return status === 'done'
    ? `The lines of task ${id} are not followed: it was marked by hand, or measured without git.`
    : `Task ${id} is not done. Only the lines of done tasks are followed.`
}

function isSame(before: Landed | undefined, now: Landed): boolean {
  return (
    before?.is === now.is &&
    before.lines === now.lines &&
    before.total === now.total &&
    before.branch === now.branch
  )
}

interface TaskToMeasure {
  readonly task: Task
  readonly lines: TaskLines
  /** The other machines, where some of the lines were made; null if all were made here. */
  readonly machine: string | null
  /** No attempt was made here: this machine can only find that the lines landed. */
  readonly isElsewhere: boolean
  /** An attempt ended since it was measured. */
  readonly isChanged: boolean
}

interface TaskElsewhere {
  readonly task: Task
  /** As it was measured last; null if it never was. */
  readonly landed: Landed | null
  readonly machine: string
}

interface TasksToMeasure {
  readonly here: readonly TaskToMeasure[]
  /** Those of other machines: unless they are found to have landed, only these can measure them. */
  readonly elsewhere: readonly TaskElsewhere[]
  /** Those that a person undid, each with its undo. */
  readonly undone: FollowedWork['undone']
}

/** Done tasks with lines that can be followed. What was measured without git stays unknown. */
async function tasksToMeasure(reads: Reads, machine: string | undefined): Promise<TasksToMeasure> {
  const here: TaskToMeasure[] = []
  const elsewhere: TaskElsewhere[] = []
  const work = await followedWork(reads)
  for (const { task, ended, names } of work.tasks) {
    const before = work.recorded.get(task.id)
    const [first] = ended
    if (first === undefined) continue
    const others = ended.filter(({ snapshot }) => snapshot.machineId !== machine)
    const isChanged = before !== undefined && isMeasuredBefore(before, ended)
    const landed = before?.is === 'landed' && !isChanged ? before : null
    const isElsewhere = others.length === ended.length
    if (isElsewhere) {
      elsewhere.push({ task, landed: before ?? null, machine: machinesOf(others) })
      if (landed !== null || machine === undefined) continue
    }
    const files = await linesOf(reads, work, { task, ended, names })
    const isOfOthers = ({ owners }: LineStep) => others.some(({ id }) => owners.includes(id))
    here.push({
      task,
      machine: work.steps.some(isOfOthers) ? machinesOf(others) : null,
      isElsewhere,
      isChanged,
      lines: {
        taskId: task.id,
        // A commit may be dated in the future.
        since: Math.floor(
          Math.min(landed?.landedAt ?? first.openedAt, before?.measuredAt ?? first.openedAt) / 1_000,
        ),
        files,
        left: linesLeft(files, laterSteps(work.steps, ended, work.replacing)),
        landed: landed && { commit: landed.commit, landedAt: landed.landedAt, lines: landed.lines },
      },
    })
  }
  return { here, elsewhere, undone: work.undone }
}

function machinesOf(attempts: readonly Attempt[]): string {
  return landingMachine(attempts) ?? 'the server'
}

interface FollowedTask {
  readonly task: Task
  readonly ended: readonly Attempt[]
  /** The ids of these attempts. */
  readonly names: ReadonlySet<string>
}

interface FollowedWork {
  readonly tasks: readonly FollowedTask[]
  readonly recorded: ReadonlyMap<TaskId, RecordedLanding>
  readonly steps: readonly LineStep[]
  /** The attempts whose lines may replace those of earlier tasks. */
  readonly replacing: readonly Attempt[]
  /** What people undid in this time, and nobody restored. */
  readonly undos: readonly TreeWrite[]
  readonly undone: readonly (Pick<Task, 'id' | 'name'> & { readonly undo: SnapshotId })[]
}

/** The done tasks with their attempts and all lines that these changed. */
async function followedWork(reads: Reads): Promise<FollowedWork> {
  const tasks = await reads.landings.toMeasure(maxTasks)
  const ids = tasks.map(({ id }) => id)
  const [measured, recorded] = await Promise.all([reads.landings.attemptsOf(ids), reads.landings.of(ids)])
  const first = [...measured.values()].flat()
  if (first.length === 0) return { tasks: [], recorded, steps: [], replacing: [], undos: [], undone: [] }
  const since = Math.min(...first.map(({ openedAt }) => openedAt))
  const others = await reads.landings.withoutLines(maxTasks)
  const attempts = new Map([...(await reads.landings.attemptsOf(others.map(({ id }) => id))), ...measured])
  const all = [...attempts.values()].flat()
  const steps = await reads.lines.stepsOfAttempts(
    all.map(({ id }) => id),
    since,
    { nobodys: true },
  )
  const lastAttempts = new Map([...others, ...tasks].map(({ id }) => [id, attempts.get(id)?.at(-1) ?? null]))
  const undone = await undoneTasks(reads, lastAttempts)
  // What a person took back is not lost: what was measured before stays.
  const followed = tasks
    .filter(({ id }) => !undone.has(id))
    .map((task) => {
      const ended = endedWithGit(attempts.get(task.id) ?? [])
      return { task, ended, names: new Set<string>(ended.map(({ id }) => id)) }
    })
  const replacing = all.filter(
    ({ status, taskId }) => (status === 'success' || status === 'partial_success') && !undone.has(taskId),
  )
  const writes = await reads.treeWrites.since(since)
  const restored = new Set(writes.map(({ subject }) => subject))
  const undos = writes.filter(({ id, cause }) => cause === 'undo' && !restored.has(id))
  const notFollowed = tasks.flatMap(({ id, name }) => {
    const undo = undone.get(id)?.id
    return undo === undefined ? [] : [{ id, name, undo }]
  })
  return { tasks: followed, recorded, steps, replacing, undos, undone: notFollowed }
}

/** The lines that a task has to land, on whatever machines it made them. */
async function linesOf(reads: Reads, { steps, undos }: FollowedWork, { task, ended, names }: FollowedTask) {
  const own = steps.filter(({ owners }) => owners.length === 0 || owners.some((owner) => names.has(owner)))
  const sentBackAt = ended.length > 1 ? (await returnsOf(reads, task.id)).map(({ at }) => at) : []
  const ids = ended.map(({ taskId }) => taskId)
  const above = undos.length === 0 ? [] : [...(await reads.tasks.ancestors(ids)).values()].flat()
  const tasks = new Set([...ids, ...above])
  // A turn is of no task, and an undo writes only lines of its own work.
  const ofTask = undos.filter(({ taskId }) => taskId === null || tasks.has(taskId))
  return taskLines(own, names, {
    sentBackAt,
    undos: ofTask.map(({ before, writtenAt }) => ({ tree: treeOf(before), until: writtenAt })),
  })
}

/** Which of these tasks were replaced by work that neither landed nor is among them. */
export async function openReplacements(
  reads: Reads,
  ids: readonly TaskId[],
  landings: ReadonlyMap<TaskId, Landed>,
): Promise<ReadonlySet<TaskId>> {
  const open = new Set<TaskId>()
  if (!ids.some((id) => landings.get(id)?.is === 'replaced')) return open
  const work = await followedWork(reads)
  const is = (id: TaskId) => (landings.get(id) ?? work.recorded.get(id))?.is
  const counted = new Set<TaskId>(ids)
  const replaced = work.tasks.filter(({ task }) => is(task.id) === 'replaced')
  // What replaced the work of a task may itself be replaced.
  for (const one of replaced.toSorted((a, b) => lastEnd(b.ended) - lastEnd(a.ended))) {
    const files = await linesOf(reads, work, one)
    const by = work.replacing.filter(({ taskId }) => counted.has(taskId) || is(taskId) === 'landed')
    const left = linesLeft(files, laterSteps(work.steps, one.ended, by)) ?? files
    if (left.every(({ added }) => added.length === 0)) counted.add(one.task.id)
    else if (ids.includes(one.task.id)) open.add(one.task.id)
  }
  return open
}

/** The steps of attempts, of these, that began after all of a task's had ended: whoever made them saw its work. */
function laterSteps(
  steps: readonly LineStep[],
  own: readonly Attempt[],
  attempts: readonly Attempt[],
): readonly LineStep[] {
  const end = lastEnd(own)
  const later = new Set<string>(attempts.filter(({ openedAt }) => openedAt >= end).map(({ id }) => id))
  return steps.filter(({ owners }) => owners.length > 0 && owners.every((owner) => later.has(owner)))
}
