import { sql } from 'kysely'
import { claimLasts } from '../../domain/plan/plan.ts'
import type { Projecting } from './projecting.ts'

/** Whoever speaks about a task keeps its claim running, whoever speaks. */
export async function renewClaim({ db, projectId, at }: Projecting, taskId: string): Promise<void> {
  await db
    .updateTable('task')
    .set({ claim_expires_at: at + claimLasts })
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .where('claim_expires_at', '>', at)
    .execute()
}

/** The task was changed just now, which keeps its claim running too. */
export async function touchTask({ db, projectId, at }: Projecting, taskId: string): Promise<void> {
  await db
    .updateTable('task')
    .set({
      updated_at: at,
      claim_expires_at: sql<number>`case when claim_expires_at > ${at} then ${at + claimLasts} else claim_expires_at end`,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .execute()
}
