import { sql } from 'kysely'
import type { PlannedTask } from '../../../domain/plan/plan.ts'
import type { PlanReads } from '../../../ports/reads/plan-reads.ts'
import type { ReadScope } from '../scope.ts'
import { firstTasks } from './first-tasks.ts'
import { hasOwner, ofOpenMission, ofOwner } from './plan-conditions.ts'
import { listOrder } from './plan-parts.ts'
import { plannedTasks } from './planned-tasks.ts'

type NextFilter = Parameters<PlanReads['next']>[0]

/** A task without a role fits every role. What the longest chain waits for comes first. */
export async function nextTask(scope: ReadScope, filter: NextFilter): Promise<PlannedTask | null> {
  const { owner, role, roleless, assignees, now } = filter
  const ofRole = role === undefined ? sql`` : sql`and (role is null or role = ${role} or assignee = ${role})`
  const free = roleless ? sql`and role is null` : sql``
  const mine = assignees ? sql`and (assignee is null or assignee in (${sql.join(assignees)}))` : sql``
  const fits = sql`${ofRole} ${free} ${mine}`
  const isAny = owner === undefined || owner === 'open'
  const open = ofOpenMission(scope.projectId)
  const ready = sql`project_id = ${scope.projectId} and standing = 'ready'
    ${isAny ? sql`` : sql`and ${ofOwner(owner)}`} ${fits} and ${open}`
  const expired = sql`project_id = ${scope.projectId} and claim_expires_at <= ${now} and open_dependencies = 0
    ${isAny ? sql`` : sql`and ${hasOwner(owner)}`} ${fits} and ${open}`
  const order = sql`height desc, ${listOrder}`
  const [next] = await plannedTasks(scope, await firstTasks(scope, [ready, expired], { order, limit: 1 }))
  return next ?? null
}
