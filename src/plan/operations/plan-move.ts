import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { findMilestone, findPhase, findPlanned } from '../../kernel/operations/find.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { NewPlanEvent } from '../domain/plan.ts'
import { compareWork } from '../domain/readiness.ts'
import { planSource } from './plan-show.ts'

export const planMove = defineOperation({
  name: 'plan_move',
  command: 'plan move',
  toolset: 'plan',
  audience: 'person',
  title: 'Move a task or phase in the plan',
  description: 'Move a task or a phase before another one, or to the end; a task also to another phase.',
  kind: 'command',
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('The task, or the phase'),
    before: identifier('The task or phase to put it before; default: last').optional(),
    phase: identifier('Phase to move the task to; default its own').optional(),
    milestone: identifier('Milestone of that phase for the task; default: none').optional(),
  }),
  output: z.object({ id: z.string(), moved: z.int() }),
}).handler(({ record, clock }, input) =>
  record(async (reads) => {
    const isPhase = (await reads.plan.phase(input.id)) !== null
    const events = isPhase
      ? await phaseMoves(reads, input.id, input.before)
      : await taskMoves(reads, input, clock.now())
    return { events, answer: { id: input.id, moved: events.length } }
  }),
)

type PlanMoveInput = z.output<(typeof planMove)['input']>

async function phaseMoves(
  reads: Reads,
  id: string,
  before: string | undefined,
): Promise<readonly NewPlanEvent[]> {
  const phase = await findPhase(reads, id)
  const others = (await reads.plan.phases(phase.missionId)).filter((other) => other.id !== phase.id)
  return insertBefore(others, phase, before).flatMap((other, at) => {
    const sortOrder = (at + 1) * 10
    if (other.sortOrder === sortOrder) return []
    return [{ kind: 'phase.edited', phaseId: other.id, missionId: other.missionId, changes: { sortOrder } }]
  })
}

/** The tasks of the phase get new positions; only changed ones are recorded. */
async function taskMoves(reads: Reads, move: PlanMoveInput, now: number): Promise<readonly NewPlanEvent[]> {
  const { task } = await findPlanned(reads, move.id)
  const phase = move.phase === undefined ? null : await findPhase(reads, move.phase)
  const milestone = move.milestone === undefined ? null : await findMilestone(reads, move.milestone)
  const phaseId = phase?.id ?? task.phaseId
  if (milestone && milestone.phaseId !== phaseId) {
    throw new Failure(
      'CONFLICT',
      `Milestone ${milestone.id} belongs to phase ${milestone.phaseId}, not to ${phaseId}.`,
      { reason: 'milestone_of_other_phase' },
    )
  }
  const { tasks } = await planSource(reads, task.missionId, now)
  const others = tasks.filter((other) => other.phaseId === phaseId && other.id !== task.id).sort(compareWork)
  const own = { id: task.id as string, sortOrder: task.sortOrder }
  return insertBefore<{ readonly id: string; readonly sortOrder: number | null }>(
    others,
    own,
    move.before,
  ).flatMap(({ id, sortOrder: before }, at) => {
    const sortOrder = (at + 1) * 10
    const home =
      id === task.id
        ? {
            ...(phase && phase.id !== task.phaseId && { phaseId: phase.id }),
            ...((milestone?.id ?? null) !== task.milestoneId && { milestoneId: milestone?.id ?? null }),
          }
        : {}
    const changes = { ...home, ...(before !== sortOrder && { sortOrder }) }
    if (Object.keys(changes).length === 0) return []
    return [{ kind: 'task.edited' as const, taskId: id as typeof task.id, changes }] // an id of a task that was read
  })
}

function insertBefore<Item extends { readonly id: string }>(
  others: readonly Item[],
  item: Item,
  before: string | undefined,
): readonly Item[] {
  if (before === undefined) return [...others, item]
  const at = others.findIndex(({ id }) => id === before)
  if (at === -1) {
    throw new Failure('NOT_FOUND', `${before} is not beside ${item.id} in the plan.`, {
      reason: 'not_a_sibling',
      hint: 'Name a task of the same phase, or another phase of the same plan.',
    })
  }
  return others.toSpliced(at, 0, item)
}
