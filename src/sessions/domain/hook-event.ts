/**
 * An event that a client's hooks report of a session, read from the hook queue. Hooks report who and when; changes are
 * measured. `sessions/capture` reads hook events from event files; `sessions/operations` records them.
 */
export interface HookEvent {
  /** The name of its event file without `.json`, unique: an event with a recorded key is never recorded again. */
  readonly key: string
  /** Milliseconds since the epoch, by the hook's clock. Events are in the order of `key`, which begins with it. */
  readonly reportedAt: number
  readonly client: { readonly name: string; readonly version: string | null }
  /** The client's own id of the session. */
  readonly session: string
  /** The client's own id of the turn, where it names one. */
  readonly turn: string | null
  /** The subagent; null for the session's main agent. */
  readonly agent: { readonly id: string; readonly type: string | null } | null
  readonly model: string | null
  /** The absolute folder that the client worked in. */
  readonly folder: string
  /** What this client's hooks report reliably at this version (all false for a version not checked). */
  readonly coverage: Coverage
  readonly what: HookEventBody
}

export interface Coverage {
  readonly edits: boolean
  readonly failures: boolean
  readonly subagents: boolean
  readonly ids: boolean
}

export type HookEventBody =
  | {
      readonly kind: 'session_started'
      readonly source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork'
      readonly parent: string | null
      readonly transcript: string | null
    }
  /** `text` is redacted, and present only if prompts are kept. `wake`: the client woke its agent, not a person. */
  | {
      readonly kind: 'prompted'
      readonly length: number
      readonly text: string | null
      readonly wake: boolean
    }
  | {
      readonly kind: 'edit_began'
      readonly call: string | null
      readonly tool: string
      readonly edits: readonly ToolEdit[]
    }
  | {
      readonly kind: 'edit_ended'
      readonly call: string | null
      readonly tool: string
      readonly edits: readonly ToolEdit[]
      readonly failed: boolean
    }
  /** A shell, an MCP tool of another server, or an unknown tool: anything may change meanwhile. */
  | {
      readonly kind: 'command_began'
      readonly call: string | null
      readonly tool: string
      readonly program: string | null
      readonly background: boolean
    }
  | {
      readonly kind: 'command_ended'
      readonly call: string | null
      readonly tool: string
      readonly program: string | null
      readonly background: boolean
      readonly failed: boolean
    }
  /** A tool of Waymark itself was called; `attempt` if its answer named one. */
  | {
      readonly kind: 'own_tool'
      readonly call: string | null
      readonly tool: string
      readonly attempt: string | null
    }
  | { readonly kind: 'agent_started' }
  | { readonly kind: 'agent_stopped'; readonly usage: TokenUsage | null }
  /** The client's own to-do list, or the entries that changed. */
  | {
      readonly kind: 'items'
      readonly isWhole: boolean
      readonly items: readonly { readonly key: string; readonly done: boolean }[]
    }
  | { readonly kind: 'model_switched' }
  /** `error` is the client's, for a turn that failed. `background`: shells that still run. */
  | {
      readonly kind: 'stopped'
      readonly error: string | null
      readonly interrupted: boolean
      readonly background: number
      readonly usage: TokenUsage | null
    }
  | { readonly kind: 'session_ended'; readonly reason: string | null }
  /** Events that were lost, and why. */
  | { readonly kind: 'lost'; readonly count: number; readonly why: string }

export interface ToolEdit {
  /** Absolute; links in its folders resolved; inside the work tree or another one of the project. */
  readonly path: string
  /** A raw copy of the file at that time, in the hook queue; null if none was made. `absent`: no file existed. */
  readonly copy: string | null
  readonly absent: boolean
  /** Only before the edit: when the file was written last, in milliseconds by the clock of the file system. */
  readonly modifiedAt?: number
  /** Only after the edit: whether the payload's edit alone explains the content. */
  readonly explained: boolean | null
  /** If it does not: a file in the hook queue with the content that the payload's edit alone would leave. */
  readonly meant?: string
  /** If another call wrote between the beginning and the end: the copy that this call wrote onto. */
  readonly onto?: string
}

/** The most tokens that one attempt or turn can report: no sum of them exceeds a safe integer. */
export const maxTokens = 1_000_000_000_000

/** Tokens as the client reports them; null if it reports none, never 0 instead. */
export interface TokenUsage {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
}
