/**
 * What a client's hooks say of one moment of a session, read from the hook queue. Hooks say who and when; what changed is
 * measured. src/capture makes hook events of event files; src/operations/capture records them.
 */
export interface HookEvent {
  /** The name of its event file without `.json`, unique: what was recorded under a key is never recorded again. */
  readonly key: string
  /** Milliseconds since the epoch, by the hook's clock. Events are in the order of `key`, which begins with it. */
  readonly at: number
  readonly client: { readonly name: string; readonly version: string | null }
  /** The client's own id of the session. */
  readonly session: string
  /** The client's own id of the turn, where it names one. */
  readonly turn: string | null
  /** The subagent that this is from; null for the session's main agent. */
  readonly agent: { readonly id: string; readonly type: string | null } | null
  readonly model: string | null
  /** The absolute folder that the client worked in. */
  readonly folder: string
  /** What this client's hooks tell for certain, at the version that spoke (all false for a version not checked). */
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
  /** `text` is redacted, and there only where prompts are kept. `wake`: the client woke its agent, no person asked. */
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
  /** A shell, an MCP tool of another server, or a tool that is not known: anything may change meanwhile. */
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
  /** A tool of Waymark itself was called; `attempt` where its answer named one. */
  | {
      readonly kind: 'own_tool'
      readonly call: string | null
      readonly tool: string
      readonly attempt: string | null
    }
  | { readonly kind: 'agent_started' }
  | { readonly kind: 'agent_stopped'; readonly usage: TokenUsage | null }
  /** Of the client's own list of things to do: all of it, or what changed in it. */
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
  /** Events that are not there any more, and why. */
  | { readonly kind: 'lost'; readonly count: number; readonly why: string }

export interface ToolEdit {
  /** Absolute; links in its folders resolved; inside the work tree or another one of the project. */
  readonly path: string
  /** A raw copy of the file at this moment, inside the hook queue; null where none was made. `absent`: no file was there. */
  readonly copy: string | null
  readonly absent: boolean
  /** Only after the edit: what stands there is what stood there with the payload's edit, and nothing else. */
  readonly explained: boolean | null
  /** Where that is not so: a file, inside the hook queue, with what the payload's edit alone would have left. */
  readonly meant?: string
  /** Where another call wrote between the beginning and the end: the copy of what stood there when this one wrote. */
  readonly onto?: string
}

/** Tokens as the client reports them; null where it says nothing, never 0 instead. */
export interface TokenUsage {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
}
