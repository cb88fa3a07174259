import { z } from 'zod'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { maxAuthors } from '../../track/domain/changes.ts'
import { ChangeCounts, ChangeEntry } from '../../track/operations/attempt-answer.ts'
import type { TurnChange } from '../domain/session.ts'
import type { SessionLine, TurnSummary } from '../ports/capture-reads.ts'
import { agentOfTurn } from './hook-evidence.ts'

/** A session of a client, as its hooks reported it. */
export const SessionEntry = z.object({
  session_id: z.string(),
  client: z.string(),
  version: z.string().nullable(),
  client_session: z.string(),
  folder: z.string(),
  model: z.string().nullable(),
  source: z.enum(['startup', 'resume', 'clear', 'compact', 'fork']),
  parent_session_id: z.string().nullable(),
  status: z.enum(['open', 'closed']),
  /** Why it ended, as the client reports it; `idle` if its hooks went silent. */
  reason: z.string().nullable(),
  turns: z.int(),
  open_turns: z.int(),
  events: z.int(),
  /** Events of hooks that got lost. */
  lost: z.int(),
  /** Files of its turns, one that two turns changed twice. */
  files: z.int(),
  /** Null where no turn was measured. */
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  forgotten: z.boolean(),
})

export function sessionEntry(line: SessionLine): z.output<typeof SessionEntry> {
  const { session } = line
  return {
    session_id: session.id,
    client: session.client,
    version: session.version,
    client_session: session.clientSession,
    folder: session.top,
    model: session.model,
    source: session.source,
    parent_session_id: session.parentId,
    status: session.status,
    reason: line.reason,
    turns: line.turns,
    open_turns: line.openTurns,
    events: line.events,
    lost: line.lost,
    files: line.files,
    added_lines: line.addedLines,
    deleted_lines: line.deletedLines,
    started_at: instant(session.openedAt),
    ended_at: instantOrNull(line.closedAt),
    forgotten: line.forgottenAt !== null,
  }
}

export const TurnEntry = z.object({
  turn_id: z.string(),
  session_id: z.string(),
  number: z.int(),
  /** The client, and the kind of a subagent. */
  agent: z.string(),
  subagent: z.boolean(),
  parent_turn_id: z.string().nullable(),
  model: z.string().nullable(),
  folder: z.string(),
  /** The machine where that is, if it is not the one that keeps the record. */
  machine: z.string().nullable(),
  status: z.enum(['open', 'ended', 'failed']),
  note: z.string().nullable(),
  error: z.string().nullable(),
  /** Characters of the prompt; null if none was reported. */
  prompt_length: z.int().nullable(),
  /** The client woke its agent, not a person. */
  wake: z.boolean(),
  measurement: z.enum(['exact', 'partial', 'unknown']).nullable(),
  /** `late`: its first state was recorded after its first edit; `previous`: with what came before it. */
  baseline: z.enum(['at_start', 'previous', 'late']),
  files_changed: ChangeCounts.nullable(),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
  /** As the client reports them; null if it reports nothing. */
  tokens: z
    .object({ input: z.int().nullable(), output: z.int().nullable(), cached: z.int().nullable() })
    .nullable(),
  /** The client's own to-do list: a claim. */
  items: z.object({ total: z.int(), done: z.int() }).nullable(),
  lost: z.int(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
})

export function turnEntry(line: TurnSummary): z.output<typeof TurnEntry> {
  const { turn } = line
  return {
    turn_id: turn.id,
    session_id: turn.sessionId,
    number: turn.number,
    agent: agentOfTurn(turn),
    subagent: turn.agent !== null,
    parent_turn_id: turn.parentId,
    model: turn.model,
    folder: turn.top,
    machine: turn.snapshot?.machineName ?? null,
    status: turn.status,
    note: line.note,
    error: line.error,
    prompt_length: turn.prompt?.length ?? null,
    wake: turn.prompt?.wake ?? false,
    measurement: line.measurement,
    baseline: turn.baseline,
    files_changed: line.counts,
    added_lines: line.addedLines,
    deleted_lines: line.deletedLines,
    tokens: line.usage,
    items: line.items,
    lost: line.lost,
    started_at: instant(turn.openedAt),
    ended_at: instantOrNull(turn.closedAt),
  }
}

export const TurnChangeEntry = ChangeEntry.omit({
  scope: true,
  with: true,
  lines: true,
  unseen: true,
}).extend({
  /** Others who wrote there, or may have. */
  with: list(z.object({ agent: z.string(), id: z.string() })).optional(),
  /** Whether the counts of lines are the turn's own, or include all who wrote there. */
  lines: z.enum(['own', 'all']).optional(),
  /** An edit tool reported it. */
  reported: z.literal(true).optional(),
  /** Something also changed white space in it, such as a formatter after an edit. */
  reformatted: z.literal(true).optional(),
})

export function turnChangeEntry(change: TurnChange): z.output<typeof TurnChangeEntry> {
  return {
    path: change.path,
    ...(change.from !== undefined && { from: change.from }),
    change: change.change,
    ...(change.typeChanged && { type_changed: true as const }),
    origin: change.origin,
    attribution: change.attribution,
    added_lines: change.addedLines,
    deleted_lines: change.deletedLines,
    ...(change.broughtLines !== undefined && { brought_lines: change.broughtLines }),
    ...(change.broughtBy && { brought_by: change.broughtBy }),
    ...(change.with !== undefined && {
      with: change.with.slice(0, maxAuthors).map(({ agent, taskId }) => ({ agent, id: taskId })),
      ...(change.with.length > maxAuthors && { with_total: change.with.length }),
      lines: change.ownLines ? ('own' as const) : ('all' as const),
    }),
    ...(change.via !== undefined && { via: change.via }),
    ...(change.reported && { reported: true as const }),
    ...(change.reformatted && { reformatted: true as const }),
    ...(change.uncertain !== undefined && { uncertain: change.uncertain }),
  }
}
