import { z } from 'zod'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import type { ProcessDefinition } from '../domain/definition.ts'
import { expressionWords, type MissingGuard } from '../domain/expression.ts'
import type { RunApproval, RunEvent, RunRecord, RunRefusal } from '../domain/run.ts'

/** A run with its moves, refused events, approvals and the graph of its process. */

export const json = z.record(z.string(), z.unknown())
export const runStatus = z.enum(['active', 'succeeded', 'failed', 'cancelled'])

export const RunEntry = z.object({
  run_id: z.string(),
  process_id: z.string(),
  process_version: z.string(),
  process_name: z.string(),
  status: runStatus,
  current_state: z.string(),
  revision: z.int(),
  mission_id: z.string().nullable(),
  task_id: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  ended_at: z.string().nullable(),
})
export type RunEntry = z.output<typeof RunEntry>

export function runEntry(run: RunRecord): RunEntry {
  return {
    run_id: run.id,
    process_id: run.process.id,
    process_version: run.process.version,
    process_name: excerpt(run.process.name, 80),
    status: run.status,
    current_state: run.state,
    revision: run.revision,
    mission_id: run.missionId,
    task_id: run.taskId,
    created_by: run.createdBy,
    created_at: instant(run.createdAt),
    updated_at: instant(run.updatedAt),
    ended_at: instantOrNull(run.endedAt),
  }
}

/** The answer to an accepted event; the same again if it is repeated with its key. */
export const AcceptedEntry = z.object({
  /** Absent in a dry run. */
  event_id: z.string().optional(),
  accepted: z.literal(true),
  transition: z.object({ from_state: z.string(), to_state: z.string() }),
  new_revision: z.int(),
  state_changed: z.boolean(),
  unsatisfied_guards: strings.optional(),
  status: runStatus,
  prompt: z.string().optional(),
  next_events: strings.optional(),
  /** The run of a mission succeeded: how to complete the mission, which is still in progress. */
  next: z.string().optional(),
  replayed: z.literal(true).optional(),
})
export type AcceptedEntry = z.output<typeof AcceptedEntry>

export const ArtifactEntry = z.object({
  /** Null if the file has no declared type. */
  type: z.string().nullable(),
  path: z.string(),
  bytes: z.int(),
  sha256: z.string(),
})

export const EventEntry = z.object({
  event_id: z.string(),
  revision: z.int(),
  kind: z.enum(['event', 'migration', 'cancellation']),
  event: z.string(),
  from_state: z.string(),
  to_state: z.string(),
  state_changed: z.boolean(),
  payload: json,
  artifacts: list(ArtifactEntry),
  unsatisfied_guards: strings,
  role: z.string().nullable(),
  author: z.string(),
  created_at: z.string(),
})
export type EventEntry = z.output<typeof EventEntry>

export function eventEntry(event: RunEvent): EventEntry {
  return {
    event_id: event.id,
    revision: event.revision,
    kind: event.kind,
    event: event.event,
    from_state: event.from,
    to_state: event.to,
    state_changed: event.stateChanged,
    payload: event.payload,
    artifacts: event.artifacts.map(({ type, path, bytes, sha256 }) => ({
      type: type === '' ? null : type,
      path,
      bytes,
      sha256,
    })),
    unsatisfied_guards: event.unsatisfied,
    role: event.role,
    author: event.author,
    created_at: instant(event.createdAt),
  }
}

export const ApprovalEntry = z.object({
  role: z.string(),
  artifact: z.string().nullable(),
  content: z.string(),
  reason: z.string().nullable(),
  author: z.string(),
  identity: z.string().nullable(),
  created_at: z.string(),
  /** When the same person sent the work back, so that it no longer counts. */
  withdrawn_at: z.string().nullable(),
})
export type ApprovalEntry = z.output<typeof ApprovalEntry>

export function approvalEntry(approval: RunApproval): ApprovalEntry {
  const { role, artifact, content, reason, author, identity = null, createdAt, withdrawnAt = null } = approval
  const withdrawn_at = instantOrNull(withdrawnAt)
  return {
    role,
    artifact,
    content,
    reason,
    author,
    identity,
    created_at: instant(createdAt),
    withdrawn_at,
  }
}

export const RefusalEntry = z.object({
  run_id: z.string(),
  event: z.string(),
  code: z.string(),
  message: z.string(),
  missing_guards: strings,
  tried_files: list(z.object({ path: z.string(), reason: z.string().nullable() })),
  tried_payload: z.string().nullable(),
  state: z.string(),
  revision: z.int(),
  role: z.string().nullable(),
  author: z.string(),
  created_at: z.string(),
})
export type RefusalEntry = z.output<typeof RefusalEntry>

export function refusalEntry(refusal: RunRefusal): RefusalEntry {
  return {
    run_id: refusal.runId,
    event: refusal.event,
    code: refusal.code,
    message: refusal.message,
    missing_guards: refusal.missing,
    tried_files: refusal.tried?.files ?? [],
    tried_payload: refusal.tried?.payload ?? null,
    state: refusal.state,
    revision: refusal.revision,
    role: refusal.role,
    author: refusal.author,
    created_at: instant(refusal.createdAt),
  }
}

/** The remarks of people on a run, newest first. */
export const MessageEntry = z.object({
  author: z.string(),
  did: z.string(),
  words: z.string(),
  created_at: z.string(),
  to: z.string().nullable(),
})

/** A state with the number of visits. */
export const VisitEntry = z.object({ state: z.string(), times: z.int() })

export const RunProgressEntry = z.object({
  completed_states: strings,
  current_state: z.string(),
  remaining_states: strings,
  fewest_steps_to_end: z.int().nullable(),
})

/** A guard that is not satisfied, in a simulation. */
export const MissingEntry = z.object({
  guard_name: z.string(),
  description: z.string().optional(),
  status: z.enum(['holds', 'fails', 'unknown']),
  reason: z.string(),
  fix: z.string(),
})

export function missingEntry({
  name,
  description,
  status,
  reason,
  fix,
}: MissingGuard): z.output<typeof MissingEntry> {
  return { guard_name: name, ...(description !== '' && { description }), status, reason, fix }
}

const outcome = z.enum(['succeeded', 'failed']).nullable()

/** A process as a graph: a transition from `*` becomes one from each state that is not final. */
export const MachineAnswer = z.object({
  states: list(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      is_final: z.boolean(),
      outcome,
      max_visits: z.int().nullable(),
    }),
  ),
  transitions: list(
    z.object({
      from: z.string(),
      event: z.string(),
      to: z.string(),
      guard: z.string().nullable(),
      escape: z.boolean(),
      everywhere: z.boolean(),
    }),
  ),
})
export type MachineAnswer = z.output<typeof MachineAnswer>

export function stateMachine({ states, transitions }: ProcessDefinition): MachineAnswer {
  const going = states.filter(({ isFinal }) => !isFinal).map(({ name }) => name)
  return {
    states: states.map(({ name, description, isFinal, outcome, maxVisits }) => ({
      name,
      description,
      is_final: isFinal,
      outcome,
      max_visits: maxVisits,
    })),
    transitions: transitions.flatMap((transition) => {
      const { from, event, to, guard } = transition
      const begins = from === '*' ? going.filter((state) => state !== to) : [from]
      return begins.map((begin) => ({
        from: begin,
        event,
        to,
        guard: guard === null ? null : expressionWords(guard),
        escape: transition.escape,
        everywhere: from === '*',
      }))
    }),
  }
}
