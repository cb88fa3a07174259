import type { Coverage } from '../../sessions/domain/hook-event.ts'

/** The meaning of a client's event, independent of its name there. */
export type EventMeaning =
  | 'session_started'
  | 'prompted'
  | 'before_tool'
  | 'after_tool'
  | 'tool_failed'
  | 'edited'
  | 'agent_started'
  | 'agent_stopped'
  | 'item_added'
  | 'item_done'
  | 'model_switched'
  | 'stopped'
  | 'turn_failed'
  | 'interrupted'
  | 'session_ended'
  /** Not used here. */
  | 'ignored'

/**
 * The hook format of one client. The capture hook and the reader of the queue both use it.
 * It is small, because every hook process loads all of them.
 */
export interface ClientAdapter {
  /** Its name on the registered line and in the record. */
  readonly name: string
  readonly events: Readonly<Record<string, EventMeaning>>
  readonly fields: PayloadFields
  /** Tools that change the files in their input. `*` at either end matches anything. */
  readonly edits: readonly string[]
  /** Tools that change no file: their calls are not recorded. All others may change anything. */
  readonly reads: readonly string[]
}

/** The checked abilities of its hooks, for the reader of the queue. */
export interface HookClientInfo {
  readonly label: string
  /** The newest version whose hooks were checked, and when. No version: the client reports none. */
  readonly checked: { readonly version: string | null; readonly on: string }
  /** The facts that its hooks always report. */
  readonly coverage: Coverage
}

/** A dotted path in a payload; after `|` come paths to try if the first is missing. */
export interface PayloadFields {
  readonly event: string
  readonly session: string
  readonly turn: string
  readonly folder: string
  readonly version: string
  readonly model: string
  readonly tool: string
  readonly input: string
  readonly answer: string
  readonly call: string
  readonly prompt: string
  readonly agent: string
  readonly agentType: string
  readonly transcript: string
}

/** The fields of Claude Code, which most clients share. */
export const commonFields: PayloadFields = {
  event: 'hook_event_name',
  session: 'session_id',
  turn: 'prompt_id',
  folder: 'cwd',
  version: '',
  model: 'model',
  tool: 'tool_name',
  input: 'tool_input',
  answer: 'tool_response',
  call: 'tool_use_id',
  prompt: 'prompt',
  agent: 'agent_id',
  agentType: 'agent_type',
  transcript: 'transcript_path',
}

/** The events of Claude Code, which most clients share. */
export const commonEvents = {
  SessionStart: 'session_started',
  UserPromptSubmit: 'prompted',
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PostToolUseFailure: 'tool_failed',
  SubagentStart: 'agent_started',
  SubagentStop: 'agent_stopped',
  Stop: 'stopped',
  StopFailure: 'turn_failed',
  SessionEnd: 'session_ended',
} as const satisfies Readonly<Record<string, EventMeaning>>

/** The value at a path of a payload; undefined if it is missing. */
export function payloadValue(payload: unknown, places: string): unknown {
  for (const place of places.split('|')) {
    let value: unknown = place === '' ? undefined : payload
    for (const name of place.split('.')) {
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : undefined
    }
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** The text at a path of a payload; a number becomes text, an empty text undefined. */
export function textAt(payload: unknown, places: string): string | null {
  const value = payloadValue(payload, places)
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? text : null
}

/** Whether a tool's name is one of these. */
export function isToolNamed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (!pattern.includes('*')) return pattern === name
    const [start = '', end = ''] = pattern.split('*')
    return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
  })
}
