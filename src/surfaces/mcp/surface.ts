import type { Context, Operation, Toolset } from '../../kernel/operations/operation.ts'

/** What a client says it is. */
export interface ClientIdentity {
  readonly name: string
  readonly version: string
}

/** `state_gate_get_state` works in every client; `state_gate.get_state` is the name of the specification. */
export type ToolNames = 'portable' | 'dotted'

/** What the MCP server serves, whatever the transport. */
export interface Surface {
  /** Loads what there is to call: after `initialize` was answered, because that takes a while. */
  readonly catalog: () => Promise<readonly Operation[]>
  /** The context of a client's calls. Without an identity: the client did not say what it is. */
  readonly contextOf: (client: ClientIdentity | undefined) => Context
  /** Which tools are listed. `auto`: all, the gate's when a project has a process of its own or a run. */
  readonly toolsets: readonly Toolset[] | 'auto'
  readonly readOnly: boolean
  readonly toolNames: ToolNames
  /** Waymark's own version. */
  readonly version: string
  /** Takes a line for people, and the error that it is about: never for the client. */
  readonly log: (line: string, error?: unknown) => void
}

/** What a client calls itself, as it is shown beside what was measured: one line, and no longer than a name. */
export function shownName(given: string | undefined): string | undefined {
  return given?.replace(/\s+/g, ' ').trim().slice(0, 100) || undefined
}
