import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { MissionId, TaskId, TransactionContext } from '../../kernel/id.ts'
import { changeReport, salt, time } from '../../kernel/operations/fields.ts'
import {
  type Measure,
  type MeasurementOf,
  type Readable,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { RecordedStep } from '../../lines/domain/line-hashes.ts'
import {
  changedLineContext,
  changedLines,
  linesBrief,
  recordedLines,
  reportedBrief,
  reportedContents,
} from '../../lines/operations/record-lines.ts'
import type { TreeBoundary } from '../../lines/ports/line-reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import { changesOfMission, type MissionChange } from '../domain/changes.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'
import type { TreeWrite, TreeWriteEvent } from '../domain/tree-write.ts'
import type { RecordedUndo } from '../ports/tree-write-reads.ts'

/** How a person has files written: the difference is shown first. */
export const writeFields = {
  yes: z.boolean().describe('Write the files without asking').optional(),
  dry_run: z.boolean().describe('Only show the difference, and write nothing').optional(),
  content: z
    .string()
    .max(100)
    .describe('Write only if the difference is still the one that was shown')
    .optional(),
}

/** Whether to write, and not only to show. */
export function isWanted({
  yes,
  dry_run: isDry,
}: {
  yes?: boolean | undefined
  dry_run?: boolean | undefined
}) {
  return yes === true && isDry !== true
}

export function writeQuestion(files: number, workTree: string): string {
  return `Write ${formatCount(files, 'file')} in ${workTree}?`
}

/** What the lines until a write are measured by. */
export const lineMeasurements = { reported: reportedContents, lines: changedLines }

/** What differs since the mission began in the work tree; null where it did no work there. */
export const sinceMission = changeReport.nullable()

/** The lines that changed since the last recorded state of the work tree until files are written there. */
export const linesUntil = z.strictObject({
  takenAt: time,
  since: time,
  salt,
  reported: reportedContents.measured,
  lines: changedLines.measured,
})

type LinesUntil = Readable<z.output<typeof linesUntil>>

/** Null where no lines are recorded. */
export async function linesUntilWrite(
  reads: Reads,
  boundary: TreeBoundary,
  measure: Measure<typeof lineMeasurements>,
): Promise<LinesUntil | null> {
  const around = await changedLineContext(reads, boundary)
  if (!around?.isOn) return null
  const { reported } = await measure({ reported: reportedBrief(around, boundary) })
  const { lines } = await measure({ lines: linesBrief(around, boundary, reported) })
  return { takenAt: boundary.at, since: around.last.at, salt: around.salt, reported, lines }
}

/** Nobody who is at work. */
export const nobody = { owners: [], certainty: 'certain' } as const satisfies Partial<RecordedStep>

/**
 * The lines until a write, and those that it changed: they keep the makers that are recorded of any content of the file,
 * and the others have those given. None if somebody recorded a state of the tree meanwhile.
 */
export async function writtenLines(
  reads: Reads,
  { write: { before, writtenAt } }: TreeWriteEvent,
  {
    until: { takenAt, since, reported, lines },
    lines: changed,
    makers = nobody,
  }: {
    readonly until: LinesUntil
    readonly lines: MeasurementOf<typeof changedLines>
    readonly makers?: Pick<RecordedStep, 'owners' | 'certainty'>
  },
): Promise<readonly NewProjectEvent[]> {
  const boundary = { at: takenAt, place: before }
  const around = await changedLineContext(reads, boundary)
  if (around === null || around.last.at !== since || changed === null || changed.steps.length === 0) return []
  const { steps, notes: _, times: __, ...movement } = changed
  const span = {
    ...movement,
    // As after a command of git, lines may come from another content of the file.
    ran: true,
    tree: treeOf(before),
    since: takenAt,
    until: writtenAt,
    steps: steps.map((step) => ({ ...step, ...makers })),
  }
  return [...recordedLines(around, boundary, { reported, lines }), { kind: 'lines.recorded', span }]
}

/** The work tree when a mission began there; null where it did not. */
export async function missionStart(
  { missions }: Reads,
  missionId: MissionId | null,
  place: SnapshotLocation,
): Promise<SnapshotLocation | null> {
  if (missionId === null) return null
  return (await missions.tree(missionId, treeOf(place))).first?.snapshot ?? null
}

/** A mission's changes that are different after a write, by all that differs since it began there. */
export async function missionAfterWrite(
  { missions }: Reads,
  context: RecordContext,
  { missionId, before, files }: Pick<TreeWrite, 'missionId' | 'before' | 'files'>,
  states: Readable<z.output<typeof sinceMission>>,
): Promise<readonly MissionChange[]> {
  if (missionId === null || states === null || states.status === 'unknown') return []
  const { recorded } = await missions.tree(missionId, treeOf(withMachine(context, before)))
  const rows = changesOfMission({
    recorded,
    own: [],
    states: states.changes,
    others: new Set(),
    isLater: true,
  })
  // What is not there for another reason, such as another branch, stays the mission's.
  const written = new Set(files)
  return rows.filter((row) => written.has(row.path) || (row.from !== undefined && written.has(row.from)))
}

/** The event of files that a command wrote: its id is how people restore what was there before. */
export function treeWritten(
  write: Omit<TreeWrite, 'id' | 'writtenAt'>,
  {
    context,
    setting,
    mission = [],
  }: {
    readonly context: RecordContext
    readonly setting: TransactionContext
    readonly mission?: readonly MissionChange[]
  },
): TreeWriteEvent {
  const before = withMachine(context, write.before)
  const after = write.after && withMachine(context, write.after)
  return {
    kind: 'tree.written',
    write: { ...write, before, after, id: setting.ids.next('snapshot'), writtenAt: setting.at },
    ...(mission.length > 0 && { missionChanges: mission }),
  }
}

/** The undo of each task that was undone, itself or with a task above it, and not started again since. */
export async function undoneTasks(
  { tasks, treeWrites }: Pick<Reads, 'tasks' | 'treeWrites'>,
  attempts: ReadonlyMap<TaskId, Pick<Attempt, 'openedAt'> | null>,
): Promise<ReadonlyMap<TaskId, RecordedUndo>> {
  const above = await tasks.ancestors([...attempts.keys()])
  const undone = await treeWrites.undone([...attempts.keys(), ...[...above.values()].flat()])
  const found = new Map<TaskId, RecordedUndo>()
  if (undone.size === 0) return found
  for (const [id, attempt] of attempts) {
    const undos = [id, ...(above.get(id) ?? [])].flatMap((one) => undone.get(one) ?? [])
    const last = undos.find(({ undoneAt }) => attempt !== null && attempt.openedAt <= undoneAt)
    if (last !== undefined) found.set(id, last)
  }
  return found
}
