import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import type { TaskId } from '../../kernel/id.ts'
import { findMilestone, findPhase, findPlanned } from '../../kernel/operations/find.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Task } from '../../track/domain/task.ts'
import type { NewPlanEvent } from '../domain/plan.ts'
import type { OrderedTask, PlannedHome } from '../ports/plan-reads.ts'

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
}).handler(({ record }, input) =>
  record(async (reads) => {
    const isPhase = (await reads.plan.phase(input.id)) !== null
    const events = isPhase ? await phaseMoves(reads, input.id, input.before) : await taskMoves(reads, input)
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

/** The task gets a number between its new neighbors. Where none is free, the tasks of the phase get new numbers. */
async function taskMoves(reads: Reads, move: PlanMoveInput): Promise<readonly NewPlanEvent[]> {
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
  const home = {
    ...(phase && phase.id !== task.phaseId && { phaseId: phase.id }),
    ...((milestone?.id ?? null) !== task.milestoneId && { milestoneId: milestone?.id ?? null }),
  }
  const orders = await newOrders(reads, task, {
    home: phaseId === null ? { phaseId, missionId: task.missionId } : { phaseId },
    before: move.before,
  })
  return [...new Map([[task.id, task.sortOrder], ...orders])].flatMap(([taskId, sortOrder]) => {
    const changes = {
      ...(taskId === task.id && home),
      ...((taskId !== task.id || sortOrder !== task.sortOrder) && { sortOrder }),
    }
    return Object.keys(changes).length === 0 ? [] : [{ kind: 'task.edited' as const, taskId, changes }]
  })
}

/** The new numbers of a moved task and, if there is no room for it, of the tasks around it. */
async function newOrders(
  { plan }: Reads,
  task: Task,
  { home, before }: { readonly home: PlannedHome; readonly before: string | undefined },
): Promise<ReadonlyMap<TaskId, number>> {
  const next = before === undefined ? null : ((await plan.task(before))?.task ?? null)
  if (before !== undefined && (next === null || next.id === task.id || !isAtHome(next, home)))
    throw notBeside(before, task.id)
  const [nearest] = await plan.siblings(home, { before: next?.id ?? null, limit: 1 })
  if (nearest?.id === task.id) return new Map()
  const between = numberBetween(nearest ?? null, next)
  if (between !== null) return new Map([[task.id, between]])
  const others = (await plan.siblings(home)).filter(({ id }) => id !== task.id)
  const numbered = insertBefore(others, task, before).map(({ id, sortOrder }, at) => ({
    id,
    sortOrder,
    now: (at + 1) * 10,
  }))
  return new Map(numbered.flatMap(({ id, sortOrder, now }) => (now === sortOrder ? [] : [[id, now]])))
}

function isAtHome({ phaseId, missionId }: Task, home: PlannedHome): boolean {
  return phaseId === home.phaseId && (home.phaseId !== null || missionId === home.missionId)
}

/** A free number between two neighbors: null stands for no neighbor, and tasks without a number come last. */
function numberBetween(
  previous: Pick<OrderedTask, 'sortOrder'> | null,
  next: Pick<OrderedTask, 'sortOrder'> | null,
): number | null {
  const [lower, upper] = [previous && (previous.sortOrder ?? Infinity), next?.sortOrder ?? Infinity]
  const room = lower === null ? 20 : upper - lower
  const between =
    lower !== null ? lower + Math.min(10, Math.floor(room / 2)) : upper === Infinity ? 10 : upper - 10
  return room >= 2 && Number.isSafeInteger(between) ? between : null
}

function insertBefore<Item extends { readonly id: string }>(
  others: readonly Item[],
  item: Item,
  before: string | undefined,
): readonly Item[] {
  if (before === undefined) return [...others, item]
  const at = others.findIndex(({ id }) => id === before)
  if (at === -1) throw notBeside(before, item.id)
  return others.toSpliced(at, 0, item)
}

function notBeside(before: string, id: string): Failure {
  return new Failure('NOT_FOUND', `${before} is not beside ${id} in the plan.`, {
    reason: 'not_a_sibling',
    hint: 'Name a task of the same phase, or another phase of the same plan.',
  })
}
