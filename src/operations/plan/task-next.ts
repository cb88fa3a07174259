import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { claimTask } from '../../domain/plan/claim-task.ts'
import type { Claim, PlannedTask } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'
import type { Handling } from '../context.ts'
import { name } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { expiryOf, viewPlan } from './expired-claims.ts'
import { assertRole, formatField, roleField, spanField } from './fields.ts'
import { spanOf } from './find.ts'
import { foreseen } from './foreseen.ts'
import { asText } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'

const inputFields = z.strictObject({
  role: roleField.optional(),
  claim: z.boolean().describe('Make it yours for 30 minutes').optional(),
  agent_name: name('Your name, if agents share this connection').optional(),
  mission: spanField.optional(),
  format: formatField.optional(),
})

export const taskNext = defineOperation({
  name: 'taskman_task_next',
  tool: 'taskman_task_next',
  command: 'task next',
  synonyms: { mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'Next task',
  description:
    'The next task that can be begun: on the critical path first. Claim it, then start_task { planned_task_id, claim_token }',
  kind: 'command',
  input: inputFields,
  output: z.looseObject({
    task: taskFields.nullable(),
    claim: z.looseObject({ token: z.string(), agent: z.string(), expires_at: z.string() }).nullable(),
  }),
  print: (answer, input) => [
    input['format'] === 'text' ? asText(answer['task'] ?? 'nothing is ready') : JSON.stringify(answer),
  ],
}).handler(async (handling, input) => {
  if (!input.claim) {
    return viewPlan(handling, async (reads) =>
      answerOf(await nextOf(reads, input, handling.clock.now()), null, handling),
    )
  }
  return handling.record(async (reads, setting) => {
    const expired = await reads.plan.expiredClaims(setting.at)
    const ended = expired.flatMap((planned) => expiryOf(planned, setting))
    const next = await nextOf(reads, input, setting.at)
    if (next === null) return { happenings: ended, answer: answerOf(null, null, handling) }
    const planned = expired.some(({ task }) => task.id === next.task.id) ? { ...next, claim: null } : next
    const claimant = { actor: handling.actor, agentName: input.agent_name ?? null }
    const { claim, happenings } = claimTask(planned, claimant, setting)
    return {
      happenings: [...ended, ...happenings],
      answer: answerOf(foreseen(planned, happenings, setting), claim, handling),
    }
  })
})

async function nextOf(
  reads: Reads,
  input: z.output<typeof inputFields>,
  now: number,
): Promise<PlannedTask | null> {
  await assertRole(reads, input.role)
  return reads.plan.next({
    owner: await spanOf(reads, input.mission),
    now,
    ...(input.role !== undefined && { role: input.role }),
  })
}

function answerOf(planned: PlannedTask | null, claim: Claim | null, { clock }: Handling) {
  return {
    task: planned === null ? null : taskShape(planned, clock.now()),
    claim:
      claim === null || claim.expiresAt === null
        ? null
        : { token: claim.token, agent: claim.agent, expires_at: instant(claim.expiresAt) },
    ...(planned === null && { message: 'Nothing is ready: every task is done, held, or waits for another.' }),
  }
}
