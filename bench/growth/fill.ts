import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, MissionId, TaskId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { fillPlan } from '../../test/plan/fill-plan.ts'
import { aChange, closing, happened } from '../../test/store/events.ts'
import { aMission, anAttempt, aTask } from '../../test/support/entities.ts'

const tasksOfMission = 50
/** 48 attempts a day: 100,000 tasks are a record of three years. */
const taskInterval = 30 * 60_000

/** Attempts whose agents never ended them, in the work tree that others use. */
export async function leaveAttemptsOpen(
  store: Store,
  tree: string,
  { count, lastCallAt }: { readonly count: number; readonly lastCallAt: number },
): Promise<void> {
  const events = Array.from({ length: count }, (_, number): readonly NewProjectEvent[] => {
    const taskId = `t-left-${number}` as TaskId // a brand
    const attempt = anAttempt({
      id: `a-left-${number}` as AttemptId, // a brand
      taskId,
      missionId: null,
      agentName: `agent-${number}`,
      areas: ['src/**'],
      snapshot: { engine: 'git', directory: `/state/left-${number}`, top: tree, prefix: '', id: 'abc' },
      openedAt: lastCallAt,
      lastCallAt,
    })
    return [
      { kind: 'task.planned', task: aTask({ id: taskId, missionId: null, status: 'to_do' }) },
      { kind: 'attempt.opened', attempt },
    ]
  })
  await happened(store, lastCallAt, ...events.flat())
}

/** Half of the tasks are planned, the other half were completed in missions that ended. Answers the planned ones. */
export async function fillRecord(store: Store, tasks: number, phases: readonly string[]) {
  const ended = Math.floor(tasks / 2 / tasksOfMission)
  const begin = Date.now() - (ended * tasksOfMission + 1) * taskInterval
  for (let number = 0; number < ended; number += 1)
    await happened(store, begin + number * tasksOfMission * taskInterval, ...endedMission(number, begin))
  return fillPlan(store, tasks - ended * tasksOfMission, phases)
}

function endedMission(number: number, begin: number): readonly NewProjectEvent[] {
  const missionId = `m-ended-${number}` as MissionId // a brand
  const createdAt = begin + number * tasksOfMission * taskInterval
  const mission = aMission({ id: missionId, name: `Mission number ${number}`, createdAt })
  const tasks = Array.from({ length: tasksOfMission }, (_, at) => {
    const task = number * tasksOfMission + at
    return completedTask(task, missionId, begin + task * taskInterval)
  })
  return [
    { kind: 'mission.started', mission },
    ...tasks.flat(),
    {
      kind: 'mission.ended',
      missionId,
      status: 'completed',
      summary: 'Done.',
      achievements: [],
      limitations: [],
    },
  ]
}

function completedTask(number: number, missionId: MissionId, openedAt: number): readonly NewProjectEvent[] {
  const taskId = `t-ended-${number}` as TaskId // a brand
  const name = `Ended task number ${number}`
  const task = aTask({
    id: taskId,
    missionId,
    name,
    status: 'to_do',
    role: number % 2 === 0 ? 'developer' : null,
    createdAt: openedAt,
  })
  const attempt = anAttempt({
    id: `a-ended-${number}` as AttemptId, // a brand
    taskId,
    missionId,
    agentName: `agent-${number % 20}`,
    openedAt,
  })
  const changes = Array.from({ length: 3 }, (_, file) => aChange(`src/file-${number % 500}-${file}.ts`))
  return [{ kind: 'task.planned', task }, { kind: 'attempt.opened', attempt }, closing(attempt, changes)]
}
