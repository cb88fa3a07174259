import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { MilestoneId, PhaseId, TaskId, TransactionContext } from '../../kernel/id.ts'
import type { Phase } from '../../track/domain/mission.ts'
import { newTask, type Task } from '../../track/domain/task.ts'
import type { DocumentTask, PlanDocument } from './document.ts'
import { newDoneWhen } from './done-when.ts'
import { type Milestone, type Note, noteKinds, type PlanOwner, phaseStatus } from './plan.ts'

/** The project's existing records, so that an import duplicates nothing. */
export interface ImportSituation {
  readonly owner: PlanOwner
  readonly phases: ReadonlySet<string>
  /** The number of the first new phase, in a mission. */
  readonly nextNumber: number
  readonly milestones: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
  /** Existing tasks: `phase\n title` to id. */
  readonly titles: ReadonlyMap<string, TaskId>
}

export interface ImportedPlan {
  readonly events: readonly NewProjectEvent[]
  readonly added: { readonly phases: number; readonly milestones: number; readonly tasks: number }
  /** Titles of existing tasks. */
  readonly existing: number
  readonly notices: readonly string[]
}

export function titleKey(phase: string | null, title: string): string {
  return `${phase ?? ''}\n${title}`
}

/** Yields between steps so that a server can answer others: thousands of tasks take a tenth of a second. */
export type ResumableWork<Result> = Generator<undefined, Result>

/** Tasks of one step: some milliseconds. */
const tasksPerStep = 1_000

function* mapInSteps<One, Result>(
  all: readonly One[],
  convert: (one: One) => Result,
): ResumableWork<readonly Result[]> {
  const results: Result[] = []
  for (const one of all) {
    results.push(convert(one))
    if (results.length % tasksPerStep === 0) yield
  }
  return results
}

/** Imports a plan in one transaction: parents before subtasks, dependencies last. */
export function* importPlan(
  document: PlanDocument,
  situation: ImportSituation,
  { setting, author }: { readonly setting: TransactionContext; readonly author: Actor },
): ResumableWork<ImportedPlan> {
  const ids = yield* taskIds(document, situation, setting)
  const isNew = ({ key }: DocumentTask): boolean => !isKnown(ids, key)
  const phases = document.phases.filter(({ key }) => !situation.phases.has(key))
  const milestones = document.milestones.filter(({ key }) => !situation.milestones.has(key))
  const tasks = (yield* sortParentsFirst(document.tasks)).filter(isNew)
  const inProgress = tasks.filter(({ status }) => status === 'in_progress').length
  const toTask = (task: DocumentTask): NewProjectEvent => ({
    kind: 'task.planned',
    task: plannedTask(task, { ids, owner: situation.owner, setting, author }),
  })
  const planned = yield* mapInSteps(tasks, toTask)
  const linked = yield* mapInSteps(tasks, (task) => dependencies(task, ids))
  const noted = yield* mapInSteps(tasks, (task) => notes(task, ids, setting))
  return {
    events: [
      ...phases.map(
        (phase, index): NewProjectEvent => ({
          kind: 'phase.created',
          phase: newPhase(phase, { ...situation, index }, setting),
        }),
      ),
      ...milestones.map(
        (milestone): NewProjectEvent => ({
          kind: 'milestone.created',
          milestone: newMilestone(milestone, setting),
        }),
      ),
      ...planned,
      ...linked.flat(),
      ...noted.flat(),
    ],
    added: { phases: phases.length, milestones: milestones.length, tasks: tasks.length },
    existing: document.tasks.length - tasks.length,
    notices:
      inProgress === 0
        ? []
        : [
            inProgress === 1
              ? '1 task was in progress elsewhere. Nobody has claimed it here, so it is to do.'
              : `${inProgress} tasks were in progress elsewhere. Nobody has claimed them here, so they are to do.`,
          ],
  }
}

interface ExistingId {
  readonly id: TaskId
  readonly exists: boolean
}

type ImportIdMap = ReadonlyMap<string, ExistingId>

/** A free foreign id is kept; an equal title in the same phase means the same task. */
function* taskIds(
  document: PlanDocument,
  situation: ImportSituation,
  setting: TransactionContext,
): ResumableWork<ImportIdMap> {
  const ids = yield* mapInSteps(document.tasks, (task): [string, ExistingId] => {
    const sameTitle = situation.titles.get(titleKey(task.phase, task.title))
    if (task.foreignId !== null && situation.tasks.has(task.foreignId)) {
      return [task.key, { id: task.foreignId as TaskId, exists: true }] // an id of this project
    }
    if (sameTitle !== undefined) return [task.key, { id: sameTitle, exists: true }]
    const id = (task.foreignId as TaskId | null) ?? setting.ids.next('task') // foreign ids are kept
    return [task.key, { id, exists: false }]
  })
  return new Map(ids)
}

function isKnown(ids: ImportIdMap, key: string): boolean {
  return ids.get(key)?.exists === true
}

function idOf(ids: ImportIdMap, key: string | null): TaskId | null {
  return key === null ? null : (ids.get(key)?.id ?? null)
}

function* sortParentsFirst(tasks: readonly DocumentTask[]): ResumableWork<readonly DocumentTask[]> {
  const byKey = new Map(tasks.map((task) => [task.key, task]))
  const ordered = new Set<DocumentTask>()
  yield* mapInSteps(tasks, (task) => {
    const chain: DocumentTask[] = []
    for (
      let ancestor: DocumentTask | undefined = task;
      ancestor && !ordered.has(ancestor);
      ancestor = byKey.get(ancestor.parent ?? '')
    ) {
      chain.push(ancestor)
    }
    for (const link of chain.reverse()) ordered.add(link)
  })
  return [...ordered]
}

function newPhase(
  phase: PlanDocument['phases'][number],
  { owner, nextNumber, index }: Pick<ImportSituation, 'owner' | 'nextNumber'> & { readonly index: number },
  { at: createdAt }: TransactionContext,
): Phase {
  const status = phaseStatus(phase.status)
  return {
    id: phase.key as PhaseId, // people name the phases of a plan
    missionId: owner,
    number: owner === null ? null : nextNumber + index,
    name: phase.name,
    status,
    sortOrder: phase.sortOrder,
    createdAt,
    completedAt: status === 'completed' ? createdAt : null,
  }
}

function newMilestone(
  { key, phase, name, criterion, reached }: PlanDocument['milestones'][number],
  { at: createdAt }: TransactionContext,
): Milestone {
  return { id: key as MilestoneId, phaseId: phase as PhaseId, name, criterion, reached, createdAt } // named by people
}

function plannedTask(
  task: DocumentTask,
  {
    ids,
    owner,
    setting,
    author,
  }: {
    readonly ids: ImportIdMap
    readonly owner: PlanOwner
    readonly setting: TransactionContext
    readonly author: Actor
  },
): Task {
  const planned = newTask(
    {
      id: idOf(ids, task.key) ?? setting.ids.next('task'),
      missionId: owner,
      phaseId: task.phase as PhaseId | null, // keys of phases are their ids
      milestoneId: task.milestone as MilestoneId | null,
      parentTaskId: idOf(ids, task.parent),
      name: task.title,
      goal: task.description,
      role: task.role,
      ...(task.assignee !== null && { assignee: task.assignee }),
      areas: task.areas,
      ...newDoneWhen(task.doneWhen, author),
      sortOrder: task.sortOrder,
      creator: task.creator ?? author.name,
    },
    task.createdAt ?? setting.at,
  )
  return {
    ...planned,
    ...(task.status === 'done' && { status: 'done', resolution: task.resolution ?? 'unmeasured' }),
    updatedAt: task.updatedAt ?? setting.at,
  }
}

function dependencies(task: DocumentTask, ids: ImportIdMap): readonly NewProjectEvent[] {
  const taskId = idOf(ids, task.key)
  return task.dependsOn.flatMap((key): NewProjectEvent[] => {
    const dependsOnId = idOf(ids, key)
    return taskId && dependsOnId ? [{ kind: 'dependency.added', taskId, dependsOnId }] : []
  })
}

function notes(
  task: DocumentTask,
  ids: ImportIdMap,
  setting: TransactionContext,
): readonly NewProjectEvent[] {
  const taskId = idOf(ids, task.key)
  if (taskId === null) return []
  return task.notes.map((source): NewProjectEvent => {
    const note: Note = {
      id: setting.ids.next('note'),
      taskId,
      content: source.content,
      kind: noteKinds.find((kind) => kind === source.kind) ?? null,
      role: source.role,
      author: source.author ?? 'import',
      createdAt: source.createdAt ?? setting.at,
    }
    return { kind: 'note.added', note }
  })
}
