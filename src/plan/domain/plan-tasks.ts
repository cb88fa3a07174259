import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { Failure } from '../../kernel/failure.ts'
import type { PhaseId, TaskId, TransactionContext } from '../../kernel/id.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Mission, Phase } from '../../track/domain/mission.ts'
import { newTask, type Task } from '../../track/domain/task.ts'
import { cycleText, everyCycle } from './cycles.ts'
import type { PlannedTask, PlanOwner } from './plan.ts'

export interface PlanBatchPhase {
  readonly id?: string | undefined
  readonly name: string
}

export interface PlanBatchTask {
  /** The caller's name for it, in this call alone. */
  readonly key: string
  readonly title: string
  readonly description?: string | undefined
  /** Id or name of a phase. */
  readonly phase: string
  readonly role?: string | undefined
  readonly areas?: readonly string[] | undefined
  readonly assignee?: string | undefined
  /** Keys of this call, or ids of tasks that there are. */
  readonly depends_on?: readonly string[] | undefined
}

export interface PlanBatch {
  readonly phases: readonly PlanBatchPhase[]
  readonly tasks: readonly PlanBatchTask[]
}

/** The rows that the decision rests on, read under the lock. */
export interface PlanBatchSituation {
  readonly owner: PlanOwner
  /** The mission, where someone has ended it. */
  readonly ended: Mission | null
  /** The phases of the plan. */
  readonly there: readonly Phase[]
  /** Phases that tasks name by their ids, of whatever plan. */
  readonly elsewhere: readonly Phase[]
  readonly nextNumber: number
  /** Sentences about ids that are taken. */
  readonly clashes: readonly string[]
  readonly roles: ReadonlySet<string>
  /** Tasks that there are, of those that are named. */
  readonly known: ReadonlyMap<string, PlannedTask>
  readonly creator: string
}

interface PlanBatchEntry {
  readonly key: string
  readonly id: TaskId
}

/** Phases, tasks and dependencies in one piece. Everything that is wrong is told at once. */
export function planTaskGroup(
  together: PlanBatch,
  situation: PlanBatchSituation,
  setting: TransactionContext,
): {
  readonly phases: readonly Phase[]
  readonly tasks: readonly PlanBatchEntry[]
  readonly events: readonly NewProjectEvent[]
} {
  const phases = newPhases(together.phases, situation, setting)
  const homes = [...phases, ...situation.there]
  const homeOf = (asked: string): Phase | undefined =>
    homes.find(({ id }) => id === asked) ??
    situation.elsewhere.find(({ id }) => id === asked) ??
    homes.find(({ name }) => isSame(name, asked))
  refuse(problemsOf(together, situation, homeOf))
  const ids = new Map(together.tasks.map(({ key }) => [key, setting.ids.next('task')]))
  const tasks = together.tasks.flatMap((asked) => {
    const [home, id] = [homeOf(asked.phase), ids.get(asked.key)]
    if (!home || !id) return []
    const dependsOn = [...new Set(asked.depends_on)].map((name) => ids.get(name) ?? (name as TaskId)) // a known id
    return [{ task: newTaskOf(asked, { id, home, creator: situation.creator, at: setting.at }), dependsOn }]
  })
  return {
    phases,
    tasks: [...ids].map(([key, id]) => ({ key, id })),
    events: [
      ...phases.map((phase): NewProjectEvent => ({ kind: 'phase.created', phase })),
      ...tasks.map(({ task }): NewProjectEvent => ({ kind: 'task.planned', task })),
      ...tasks.flatMap(({ task, dependsOn }) =>
        dependsOn.map(
          (dependsOnId): NewProjectEvent => ({ kind: 'dependency.added', taskId: task.id, dependsOnId }),
        ),
      ),
    ],
  }
}

/** A phase that the plan has by that name already is not made again. */
function newPhases(
  asked: readonly PlanBatchPhase[],
  { owner, there, nextNumber }: PlanBatchSituation,
  { at: createdAt, ids }: TransactionContext,
): readonly Phase[] {
  const taken = new Set(there.map(({ number }) => number))
  let number = nextNumber
  const numbered = () => {
    while (taken.has(number)) number += 1
    taken.add(number)
    return number
  }
  return asked
    .filter(({ id, name }) => id !== undefined || !there.some((phase) => isSame(phase.name, name)))
    .map(({ id, name }) => ({
      id: (id as PhaseId | undefined) ?? ids.next('phase'), // people name the phases of a plan
      missionId: owner,
      number: owner === null ? null : numbered(),
      name,
      status: 'pending',
      sortOrder: null,
      createdAt,
      completedAt: null,
    }))
}

function newTaskOf(
  asked: PlanBatchTask,
  {
    id,
    home,
    creator,
    at,
  }: { readonly id: TaskId; readonly home: Phase; readonly creator: string; readonly at: number },
): Task {
  return newTask(
    {
      id,
      missionId: home.missionId,
      phaseId: home.id,
      name: asked.title,
      goal: asked.description ?? null,
      role: asked.role ?? null,
      ...(asked.assignee !== undefined && { assignee: asked.assignee }),
      areas: asked.areas ?? [],
      creator,
    },
    at,
  )
}

function problemsOf(
  { phases, tasks }: PlanBatch,
  { ended, owner, clashes, roles, known }: PlanBatchSituation,
  homeOf: (asked: string) => Phase | undefined,
): readonly string[] {
  const keys = new Set(tasks.map(({ key }) => key))
  const problems = [
    ...(ended ? [`mission ${ended.id} "${ended.name}" is ${ended.status}`] : []),
    ...(phases.length + tasks.length === 0 ? ['there is nothing to plan'] : []),
    ...clashes,
    ...repeatedNames(phases.flatMap(({ id }) => id ?? [])).map((id) => `phase ${id} is given twice`),
    ...repeatedNames(tasks.map(({ key }) => key)).map((key) => `key "${key}" is given twice`),
  ]
  for (const { key, phase, role, depends_on } of tasks) {
    const home = homeOf(phase)
    if (!home) problems.push(`task "${key}": phase not found: ${phase}`)
    else if (home.missionId !== owner) problems.push(`task "${key}": phase ${phase} belongs to another plan`)
    if (role !== undefined && !roles.has(role)) problems.push(`task "${key}": unknown role: ${role}`)
    for (const name of new Set(depends_on)) {
      if (!keys.has(name) && !known.has(name))
        problems.push(`task "${key}" depends on "${name}", which is neither a key here nor a task`)
    }
  }
  const edges = new Map(
    [...Map.groupBy(tasks, ({ key }) => key)].map(([key, same]) => [
      key,
      same.flatMap(({ depends_on }) => depends_on ?? []),
    ]),
  )
  return [...problems, ...everyCycle(edges, 5).map((cycle) => `circular dependency: ${cycleText(cycle)}`)]
}

const maxTold = 20

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return
  const told = problems.slice(0, maxTold).join('; ')
  const more = problems.length > maxTold ? `; and ${problems.length - maxTold} more` : ''
  const counted = formatCount(problems.length, 'problem')
  throw new Failure('INVALID_INPUT', `Nothing was planned, ${counted}: ${told}${more}.`, {
    reason: 'plan_invalid',
    hint: 'Correct them and send the whole plan again.',
    details: { problems: problems.slice(0, maxTold) },
  })
}

function repeatedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
