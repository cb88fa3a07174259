import { dirname } from 'node:path'
import { closeContext, openContext } from '../../src/app/open-context.ts'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, TaskId } from '../../src/kernel/id.ts'
import { happened } from '../../test/store/events.ts'
import { agent, aMission, anAttempt, aTask } from '../../test/support/entities.ts'
import { serverEnvironment } from '../../test/support/stdio-project.ts'

const minute = 60_000
const attemptsOfTask = 5
const inOneTransaction = 500

/** Records a mission whose tasks were tried five times each, as log entries. Answers its id. */
export async function recordAttempts(folder: string, attempts: number): Promise<string> {
  const environment = serverEnvironment(dirname(folder))
  const context = openContext({ actor: agent, environment, workingFolder: folder })
  const tasks = attempts / attemptsOfTask
  const begin = Date.now() - tasks * minute
  const mission = aMission({ createdAt: begin })
  const events = Array.from({ length: tasks }, (_, at) => triedTask(at, begin + at * minute)).flat()
  await happened(context.store, begin, { kind: 'mission.started', mission })
  for (let at = 0; at < events.length; at += inOneTransaction)
    await happened(context.store, begin, ...events.slice(at, at + inOneTransaction))
  await closeContext(context)
  return mission.id
}

function triedTask(at: number, createdAt: number): readonly NewProjectEvent[] {
  const taskId = `t-${at}` as TaskId // a brand
  const task = aTask({
    id: taskId,
    name: `Task number ${at}`,
    status: 'to_do',
    createdAt,
    updatedAt: createdAt,
  })
  const { missionId } = task
  const tries = Array.from({ length: attemptsOfTask }, (_, number): readonly NewProjectEvent[] => {
    const attemptId = `a-${at}-${number}` as AttemptId // a brand
    const openedAt = createdAt + number * 12_000
    const agentName = `agent-${number}`
    const of = { id: attemptId, taskId, number: number + 1, agentName, openedAt, lastCallAt: openedAt }
    return [
      { kind: 'attempt.opened', attempt: anAttempt({ ...of, missionId }) },
      { kind: 'attempt.abandoned', attemptId, taskId, missionId, reason: 'Measured' },
    ]
  })
  return [{ kind: 'task.planned', task }, ...tries.flat()]
}
