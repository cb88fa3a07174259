/** The content of an event file, as the hook wrote it: one JSON object. */
export interface QueuedEvent {
  readonly v: 1
  readonly kind: QueuedKind
  readonly client: string
  readonly version: string | null
  /** The client's own word for it. */
  readonly event: string
  readonly session: string
  readonly turn: string | null
  readonly agent: { readonly id: string; readonly type: string | null } | null
  readonly model: string | null
  readonly folder: string
  /** The hash of the payload: two hooks with the same payload count once. */
  readonly hash: string
  readonly transcript: string | null
  readonly call: string | null
  /** Pairs the two ends of a call without an id, by tool and input. */
  readonly pair: string | null
  readonly tool: string | null
  readonly program: string | null
  readonly background: boolean
  readonly failed: boolean
  readonly edits: readonly QueuedEdit[]
  readonly source: string | null
  readonly parent: string | null
  readonly length: number
  readonly text: string | null
  readonly wake: boolean
  readonly running: number
  readonly error: string | null
  readonly interrupted: boolean
  readonly attempt: string | null
  /** Entries of the client's own to-do list: the whole list if a tool wrote it, else one entry. */
  readonly items: readonly QueuedItem[]
  readonly usage: {
    readonly input: number | null
    readonly output: number | null
    readonly cached: number | null
  } | null
  /** Of events that are lost; only `lost` has it. */
  readonly count?: number
  readonly why: string | null
}

/** `key` identifies it among the entries of its list, without its name. */
export interface QueuedItem {
  readonly key: string
  readonly done: boolean
}

export const queuedKinds = [
  'session_started',
  'prompted',
  'edit_began',
  'edit_ended',
  'command_began',
  'command_ended',
  'own_tool',
  'agent_started',
  'agent_stopped',
  'items',
  'model_switched',
  'stopped',
  'session_ended',
  'lost',
  'unknown',
] as const
export type QueuedKind = (typeof queuedKinds)[number]

export interface QueuedEdit {
  /** Absolute, inside the project when the hook looked. */
  readonly path: string
  /** The name of its copy, below the folder of copies. */
  readonly copy: string | null
  readonly absent: boolean
  /** When it was written last, in milliseconds by the clock of the file system. */
  readonly modifiedAt?: number
  /** The edit that the payload describes; only after the call. */
  readonly does: PayloadEdit | null
}

export type PayloadEdit =
  | { readonly kind: 'content'; readonly content: string }
  | { readonly kind: 'strings'; readonly strings: readonly Replacement[] }
  | { readonly kind: 'patch'; readonly patch: string }

export interface Replacement {
  readonly from: string
  readonly to: string
  readonly all: boolean
}

/** The parts of the name of an event file: `<ms>-<pid>-<n>.json`. */
export const eventName = /^(\d{13})-(\d{1,10})-(\d{4,})\.json$/
