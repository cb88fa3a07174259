import type { Context, Operation, Toolset } from '../../kernel/operations/operation.ts'

/** The client's description of itself. */
export interface ClientIdentity {
  readonly name: string
  readonly version: string
}

/** `state_gate_get_state` works in every client; `state_gate.get_state` is the name of the specification. */
export type ToolNames = 'portable' | 'dotted'

/** The content of the MCP server, independent of the transport. */
export interface Surface {
  /** Loads the operations after the answer to `initialize`, because that takes a while. */
  readonly catalog: () => Promise<readonly Operation[]>
  /** The context of a client's calls. Without an identity for an anonymous client. */
  readonly contextOf: (client: ClientIdentity | undefined) => Context
  /** The listed tools. `auto`: all, but the gate's only if the project has its own process or a run. */
  readonly toolsets: readonly Toolset[] | 'auto'
  readonly readOnly: boolean
  readonly toolNames: ToolNames
  /** Waymark's own version. */
  readonly version: string
  /** Logs a line for people with its error; never sent to the client. */
  readonly log: (line: string, error?: unknown) => void
}

/** A client's name for display: one line of limited length. */
export function shownName(given: string | undefined): string | undefined {
  return given?.replace(/\s+/g, ' ').trim().slice(0, 100) || undefined
}
