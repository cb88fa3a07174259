import { touchTask } from './claim-renewal.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyCorrected(
  projecting: Projecting,
  { attemptId, taskId, text, agentName }: Of<'attempt.corrected'>,
): Promise<void> {
  const { db, projectId, seq, at, actor } = projecting
  await db
    .insertInto('attempt_correction')
    .values({
      project_id: projectId,
      seq,
      attempt_id: attemptId,
      task_id: taskId,
      text,
      agent_name: agentName,
      said_by: actor.name,
      created_at: at,
    })
    .execute()
  await touchTask(projecting, taskId)
}
