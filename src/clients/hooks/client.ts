import type { Coverage } from '../../sessions/domain/hook-event.ts'

/** What a client's event means, whatever it is called there. */
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
  /** Known, and of no use here. */
  | 'ignored'

/**
 * What one client's hooks say, in its words. The registered line writes by it, and whoever reads the queue judges by it:
 * it is data, and small, because the hook loads all of them.
 */
export interface ClientAdapter {
  /** As it is named on the registered line, and in what is recorded. */
  readonly name: string
  readonly events: Readonly<Record<string, EventMeaning>>
  readonly fields: PayloadFields
  /** Tools that change the files that they name. `*` stands for anything at either end. */
  readonly edits: readonly string[]
  /** Tools that change no file: nothing is written down of their calls. All others may change anything. */
  readonly reads: readonly string[]
}

/** What is known of its hooks, for whoever reads the queue. */
export interface HookClientInfo {
  readonly label: string
  /** The newest version whose hooks were looked at, and when. No version: the client tells none. */
  readonly checked: { readonly version: string | null; readonly on: string }
  /** What its hooks tell for certain. */
  readonly coverage: Coverage
}

/** Where a payload says something: a path of names with dots, and others with `|` where the first is not there. */
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

/** What stands at a place of a payload; undefined where nothing does. */
export function valueAt(payload: unknown, places: string): unknown {
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

/** A text at a place of a payload; numbers count as texts, empty texts as nothing. */
export function textAt(payload: unknown, places: string): string | null {
  const value = valueAt(payload, places)
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? text : null
}

/** Whether a tool's name is one of these. */
export function isNamed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (!pattern.includes('*')) return pattern === name
    const [start = '', end = ''] = pattern.split('*')
    return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
  })
}
