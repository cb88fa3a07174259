import { randomUUID } from 'node:crypto'
import { Failure } from '../../kernel/failure.ts'
import type { OperationName, OutputOf } from '../../kernel/operations/catalog.ts'
import type { Answer, Operation } from '../../kernel/operations/operation.ts'
import { plannedTaskNamed, resolveTitles } from './titles.ts'

/** Asks the project a question of its catalog. */
export type AskProject = <Name extends OperationName>(name: Name, input: Answer) => Promise<OutputOf<Name>>

interface TypedInputContext {
  readonly ask: AskProject
  readonly interactive: boolean
  /** Whether a person reads the answer. */
  readonly isText: boolean
}

/** Completes what a person typed: titles become ids, and what is obvious need not be typed. */
export async function completeInput(
  operation: Operation,
  typed: Answer,
  { ask, interactive, isText }: TypedInputContext,
): Promise<Answer> {
  const input = await resolveTitles(operation, typed, (words) => ask('search', { words }))
  const { name } = operation
  if (name === 'inbox' && isText) return { include: ['evidence'], ...input }
  if (name === 'start_task') return plannedTaskNamed(input, (filter) => ask('taskman_task_list', filter))
  if ((name === 'changes' || name === 'diff') && input['id'] === undefined)
    return { ...input, id: await currentTask(operation, ask) }
  // Without a title the call is refused for that alone, and no phase is created.
  const named = input['mission'] ?? input['mission_id']
  const mission = typeof named === 'string' ? named : null
  if (name === 'taskman_task_add' && input['phase'] === undefined)
    return { ...input, phase: input['title'] ? await defaultPhase(mission, ask) : defaultPhaseId }
  if (name === 'taskman_phase_add' && input['id'] === undefined && typeof input['name'] === 'string')
    return { ...input, id: await freePhaseId(input['name'], mission, ask) }
  if (name === 'complete_task' && interactive && input['correction'] === undefined)
    return { status: 'success', ...input }
  if (['approve', 'reject', 'resolve'].includes(name) && typeof input['id'] === 'string')
    return { ...input, id: await itemOfTitle(operation, input['id'], ask) }
  if (name === 'plan_graph' && interactive && input['language'] === undefined)
    return { ...input, language: 'text' }
  if (name === 'get_context' && input['include'] === undefined)
    return { ...input, include: ['phase_summary', 'tasks', 'blockers', 'decisions'] }
  if (name === 'state_gate_emit_event') return { ...(await eventDefaults(input, ask)), ...input }
  return input
}

/** The required fields that a command fills in if they are not typed, with their default. */
export const filledFields: Readonly<Partial<Record<OperationName, Readonly<Record<string, string>>>>> = {
  taskman_task_add: { phase: 'default: the last open phase' },
  taskman_phase_add: { id: 'default: the name in lower case, with a number if another plan has it' },
  state_gate_emit_event: {
    expected_revision: 'default: the current revision',
    idempotency_key: 'default: a new key',
  },
}

/** `Sign in` is `sign-in`. */
function phaseIdOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '') || name
  )
}

/** The last open phase of a mission or of the project's plan, else its last one; a new one where it has none. */
async function defaultPhase(mission: string | null, ask: AskProject): Promise<string> {
  const { phases } = await ask('taskman_phase_list', { mission: mission ?? 'none' })
  const last = phases.findLast(({ status }) => status !== 'done') ?? phases.at(-1)
  if (last) return last.id
  const id = await freePhaseId(defaultPhaseName, mission, ask)
  return (
    await ask('taskman_phase_add', { id, name: defaultPhaseName, ...(mission !== null && { mission }) })
  ).id
}

/** The id of a new phase; with a number if another open plan has it. The id in use if this plan has such a phase. */
async function freePhaseId(name: string, mission: string | null, ask: AskProject): Promise<string> {
  const { phases } = await ask('taskman_phase_list', {})
  const same = phases.find((phase) => phase.name === name && (phase.mission_id ?? null) === mission)
  const [id, used] = [phaseIdOf(name), new Set(phases.map((phase) => phase.id))]
  if (same || !used.has(id)) return same?.id ?? id
  let number = 2
  while (used.has(`${id}-${number}`)) number += 1
  return `${id}-${number}`
}

const defaultPhaseName = 'Tasks'
const defaultPhaseId = 'tasks'

/** The open inbox item about the task or mission with this title; unchanged if there is none. */
async function itemOfTitle({ command }: Operation, words: string, ask: AskProject): Promise<string> {
  if (/^(?:[a-z]{1,2}|run)-/.test(words)) return words
  const { items } = await ask('inbox', {})
  const title = words.trim().toLowerCase()
  const same = items.filter(({ task_name, mission_name }) =>
    [task_name, mission_name].some((name) => name?.toLowerCase() === title),
  )
  const [only, another] = same
  if (only === undefined || another === undefined) return only?.item_id ?? words
  const lines = same.map(({ item_id, kind }) => `waymark ${command} ${item_id}   ${kind.replace(/_/g, ' ')}`)
  throw new Failure('INVALID_INPUT', `${same.length} inbox items are about "${words}".`, {
    reason: 'title_ambiguous',
    hint: lines.join('\n'),
  })
}

/** The only task in progress; without one the task that ended last. */
async function currentTask({ command }: Operation, ask: AskProject): Promise<string> {
  const { running, running_total: total } = await ask('status', { limit: 5 })
  const [only] = running
  if (only !== undefined && total === 1) return only.task_id
  if (only !== undefined) {
    const lines = running.map(({ task_id, name }) => `waymark ${command} ${task_id}   ${name}`)
    throw new Failure('INVALID_INPUT', `${total} tasks are in progress: name one.`, {
      reason: 'task_ambiguous',
      hint: lines.join('\n'),
    })
  }
  const { events } = await ask('log', { limit: 200 })
  const last = events.findLast(({ kind }) => kind === 'attempt.closed')?.body['taskId']
  if (typeof last === 'string') return last
  throw new Failure('NOT_FOUND', 'No task was started yet.', {
    reason: 'no_task_started',
    hint: 'Start one: waymark task start "<title>"',
  })
}

/** A command emits at the current revision, each time as a new event, unless it names them. */
async function eventDefaults(input: Answer, ask: AskProject): Promise<Answer> {
  const { run_id, expected_revision, idempotency_key } = input
  if (expected_revision !== undefined && idempotency_key !== undefined) return {}
  const { revision } = await ask('state_gate_get_state', run_id === undefined ? {} : { run_id })
  return { expected_revision: revision, idempotency_key: `terminal-${randomUUID()}` }
}
