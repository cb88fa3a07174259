import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { PhaseId, TaskId, TransactionContext } from '../../kernel/id.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Mission, Phase } from '../../track/domain/mission.ts'
import { reopenIfCompleted } from '../../track/domain/phase-placement.ts'
import { newTask, type Task } from '../../track/domain/task.ts'
import { cycleText, everyCycle } from './cycles.ts'
import { newDoneWhen, readDoneWhen } from './done-when.ts'
import type { PlannedTask, PlanOwner } from './plan.ts'

export interface PlanBatchPhase {
  readonly id?: string | undefined
  readonly name: string
}

export interface PlanBatchTask {
  /** The caller's key for it, only within this call. */
  readonly key: string
  readonly title: string
  readonly description?: string | undefined
  /** Id or name of a phase. */
  readonly phase: string
  readonly role?: string | undefined
  readonly areas?: readonly string[] | undefined
  readonly assignee?: string | undefined
  /** As it was sent. */
  readonly done_when?: unknown
  /** Keys of this call, or ids of existing tasks. */
  readonly depends_on?: readonly string[] | undefined
}

export interface PlanBatch {
  readonly phases: readonly PlanBatchPhase[]
  readonly tasks: readonly PlanBatchTask[]
}

/** The rows that the decision depends on, read under the lock. */
export interface PlanBatchSituation {
  readonly owner: PlanOwner
  /** The mission, if it ended. */
  readonly ended: Mission | null
  /** The existing phases of the plan. */
  readonly existingPhases: readonly Phase[]
  /** Phases that tasks name by id, of any plan. */
  readonly namedPhases: readonly Phase[]
  readonly nextNumber: number
  /** Sentences about ids in use. */
  readonly clashes: readonly string[]
  readonly roles: ReadonlySet<string>
  /** Existing tasks among the named ones. */
  readonly existingTasks: ReadonlyMap<string, PlannedTask>
  readonly author: Actor
}

interface PlanBatchEntry {
  readonly key: string
  readonly id: TaskId
}

/** Plans phases, tasks and dependencies together. All problems are reported at once. */
export function planTaskGroup(
  batch: PlanBatch,
  situation: PlanBatchSituation,
  setting: TransactionContext,
): {
  readonly phases: readonly Phase[]
  readonly tasks: readonly PlanBatchEntry[]
  readonly events: readonly NewProjectEvent[]
} {
  const phases = newPhases(batch.phases, situation, setting)
  const homes = [...phases, ...situation.existingPhases]
  const homeOf = (requested: string): Phase | undefined =>
    homes.find(({ id }) => id === requested) ??
    situation.namedPhases.find(({ id }) => id === requested) ??
    homes.find(({ name }) => isSame(name, requested))
  refuse(problemsOf(batch, situation, homeOf), homes)
  const ids = new Map(batch.tasks.map(({ key }) => [key, setting.ids.next('task')]))
  const tasks = batch.tasks.flatMap((requested) => {
    const [home, id] = [homeOf(requested.phase), ids.get(requested.key)]
    if (!home || !id) return []
    const dependsOn = [...new Set(requested.depends_on)].map((name) => ids.get(name) ?? (name as TaskId)) // known: checked above
    return [
      {
        task: newTaskOf(requested, { id, home, author: situation.author, at: setting.at }),
        home,
        dependsOn,
      },
    ]
  })
  return {
    phases,
    tasks: [...ids].map(([key, id]) => ({ key, id })),
    events: [
      ...phases.map((phase): NewProjectEvent => ({ kind: 'phase.created', phase })),
      ...[...new Set(tasks.map(({ home }) => home))].flatMap(reopenIfCompleted),
      ...tasks.map(({ task }): NewProjectEvent => ({ kind: 'task.planned', task })),
      ...tasks.flatMap(({ task, dependsOn }) =>
        dependsOn.map(
          (dependsOnId): NewProjectEvent => ({ kind: 'dependency.added', taskId: task.id, dependsOnId }),
        ),
      ),
    ],
  }
}

/** A phase name that the plan already has is not created again. */
function newPhases(
  requested: readonly PlanBatchPhase[],
  { owner, existingPhases, nextNumber }: PlanBatchSituation,
  { at: createdAt, ids }: TransactionContext,
): readonly Phase[] {
  const usedNumbers = new Set(existingPhases.map(({ number }) => number))
  let number = nextNumber
  const takeNumber = () => {
    while (usedNumbers.has(number)) number += 1
    usedNumbers.add(number)
    return number
  }
  return requested
    .filter(({ id, name }) => id !== undefined || !existingPhases.some((phase) => isSame(phase.name, name)))
    .map(({ id, name }) => ({
      id: (id as PhaseId | undefined) ?? ids.next('phase'), // people name the phases of a plan
      missionId: owner,
      number: owner === null ? null : takeNumber(),
      name,
      status: 'pending',
      sortOrder: null,
      createdAt,
      completedAt: null,
    }))
}

function newTaskOf(
  requested: PlanBatchTask,
  {
    id,
    home,
    author,
    at,
  }: { readonly id: TaskId; readonly home: Phase; readonly author: Actor; readonly at: number },
): Task {
  const { done_when: promised = {} } = requested
  return newTask(
    {
      id,
      missionId: home.missionId,
      phaseId: home.id,
      name: requested.title,
      goal: requested.description ?? null,
      role: requested.role ?? null,
      ...(requested.assignee !== undefined && { assignee: requested.assignee }),
      areas: requested.areas ?? [],
      ...newDoneWhen(readDoneWhen(promised, 'done_when').changes, author),
      creator: author.name,
    },
    at,
  )
}

function problemsOf(
  { phases, tasks }: PlanBatch,
  { ended, owner, clashes, roles, existingTasks }: PlanBatchSituation,
  homeOf: (requested: string) => Phase | undefined,
): readonly string[] {
  const keys = new Set(tasks.map(({ key }) => key))
  const problems = [
    ...(ended ? [`mission ${ended.id} "${ended.name}" is ${ended.status}`] : []),
    ...(phases.length + tasks.length === 0 ? ['there is nothing to plan'] : []),
    ...clashes,
    ...repeatedNames(phases.flatMap(({ id }) => id ?? [])).map((id) => `phase ${id} is given twice`),
    ...repeatedNames(tasks.map(({ key }) => key)).map((key) => `key "${key}" is given twice`),
  ]
  for (const { key, phase, role, depends_on, done_when } of tasks) {
    const home = homeOf(phase)
    if (!home) problems.push(`task "${key}": phase not found: ${phase}`)
    else if (home.missionId !== owner) problems.push(`task "${key}": phase ${phase} belongs to another plan`)
    if (role !== undefined && !roles.has(role)) problems.push(`task "${key}": unknown role: ${role}`)
    if (done_when !== undefined) {
      const { problems: wrong } = readDoneWhen(done_when, `task "${key}": done_when`)
      problems.push(...wrong.map((problem) => problem.replace(/\.$/, '')))
    }
    for (const name of new Set(depends_on)) {
      if (!keys.has(name) && !existingTasks.has(name))
        problems.push(`task "${key}" depends on "${name}", which is neither a key here nor a task`)
    }
  }
  const edges = new Map(
    [...Map.groupBy(tasks, ({ key }) => key)].map(([key, tasksOfKey]) => [
      key,
      tasksOfKey.flatMap(({ depends_on }) => depends_on ?? []),
    ]),
  )
  return [...problems, ...everyCycle(edges, 5).map((cycle) => `circular dependency: ${cycleText(cycle)}`)]
}

const maxReported = 20

function refuse(problems: readonly string[], phases: readonly Phase[]): void {
  if (problems.length === 0) return
  const listed = problems.slice(0, maxReported).join('; ')
  const more = problems.length > maxReported ? `; and ${problems.length - maxReported} more` : ''
  const counted = formatCount(problems.length, 'problem')
  throw new Failure('INVALID_INPUT', `Nothing was planned, ${counted}: ${listed}${more}.`, {
    reason: 'plan_invalid',
    hint: `Correct them and send the whole plan again.${phaseHint(problems, phases)}`,
    details: { problems: problems.slice(0, maxReported) },
  })
}

function phaseHint(problems: readonly string[], phases: readonly Phase[]): string {
  if (!problems.some((problem) => problem.includes(': phase not found: '))) return ''
  const names = phases.slice(0, 10).map(({ name }) => `"${name}"`)
  return ` phases: [{ name }] creates a phase; ${names.length === 0 ? 'there is none yet' : `there are: ${names.join(', ')}`}.`
}

function repeatedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
