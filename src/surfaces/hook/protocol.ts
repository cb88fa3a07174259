import type { HookDecision } from '../../gate/domain/hook/tool-use.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { excerpt } from '../../kernel/text.ts'

export const hookEvents = ['pre-tool-use', 'session-start', 'stop'] as const
export type HookEventName = (typeof hookEvents)[number]

/** The hook protocol of a client; most use Claude Code's. */
export type HookClient = 'claude' | 'cursor' | 'gemini' | 'cline'

/** The fields of a hook's input that Waymark reads. */
export interface HookCall {
  readonly client: HookClient
  /** The agent's working directory; null if the client does not send it. */
  readonly folder: string | null
  readonly tool: { readonly name: string; readonly input: JsonObject } | null
  /** The input as a whole, from which a client's session is read. */
  readonly payload: JsonObject
  /** A hook already kept the agent from stopping. */
  readonly stopHookActive: boolean
}

export function readHookCall(text: string): HookCall {
  const payload = parseHookJson(text)
  if (!isJsonObject(payload)) throw invalidHookEvent('it is not a JSON object')
  if (typeof payload['hookName'] === 'string') return clineCall(payload)
  const { tool_name: name, tool_input: input, hook_event_name: event, stop_hook_active: active } = payload
  return {
    client: clientOf(event),
    folder: folderOf(payload),
    tool: toolOf(name, input),
    payload,
    stopHookActive: active === true,
  }
}

/** Cursor's events begin with a lowercase letter, and Gemini CLI has its own names. */
function clientOf(event: unknown): HookClient {
  if (event === 'BeforeTool') return 'gemini'
  return typeof event === 'string' && /^[a-z]/.test(event) ? 'cursor' : 'claude'
}

function toolOf(name: unknown, input: unknown): HookCall['tool'] {
  return typeof name === 'string' && name !== '' ? { name, input: isJsonObject(input) ? input : {} } : null
}

/** Cline puts the call into an object named after the event. */
function clineCall(payload: JsonObject): HookCall {
  const { preToolUse: call, workspaceRoots: roots } = payload
  const { toolName, parameters } = isJsonObject(call) ? call : {}
  return {
    client: 'cline',
    folder: folderOf({ workspace_roots: roots ?? null }),
    tool: toolOf(toolName, parameters),
    payload,
    stopHookActive: false,
  }
}

function folderOf({ cwd, workspace_roots: roots }: JsonObject): string | null {
  const folder: unknown = cwd ?? (Array.isArray(roots) ? roots[0] : null)
  return typeof folder === 'string' && folder !== '' && !folder.includes('\0') ? folder : null
}

function parseHookJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidHookEvent(messageOf(error))
  }
}

function invalidHookEvent(why: string): Failure {
  const short = excerpt(why, 160)
  return new Failure('INVALID_INPUT', `The input of the hook was not understood: ${short}`, {
    reason: 'hook_event_invalid',
  })
}

/** A decision in the format of a client's protocol; empty for no decision. */
export function formatHookDecision(decision: HookDecision | null, client: HookClient): string {
  if (decision === null) return ''
  const reason = `Waymark: ${decision.reason}`
  return line(decisionWords[client](decision.decision, reason))
}

/** A note for the agent about a call that goes on; empty where the client has none. */
export function formatHookNote(note: string, client: HookClient): string {
  if (client !== 'claude') return ''
  return line({ hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: `Waymark: ${note}` } })
}

// Only Claude Code's protocol has `ask`. Others would treat it as allow, so it becomes deny.
const decisionWords = {
  claude: (decision, reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: decision,
      permissionDecisionReason: reason,
    },
  }),
  cursor: (_, reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  gemini: (_, reason) => ({ decision: 'deny', reason }),
  cline: (_, reason) => ({ cancel: true, errorMessage: reason }),
} satisfies Record<HookClient, (decision: HookDecision['decision'], reason: string) => object>

export function briefAnswer(brief: string | null, client: HookClient): string {
  if (brief === null) return ''
  if (client === 'cursor') return line({ additional_context: brief })
  if (client === 'cline') return line({ cancel: false, contextModification: brief })
  return line({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: brief } })
}

/** A warning for the person; empty if the client could only make the agent continue. */
export function formatStopWarning(farewell: string | null, client: HookClient): string {
  return farewell === null || client !== 'claude' ? '' : line({ systemMessage: `Waymark: ${farewell}` })
}

/** Keeps the agent from stopping, with the reason; nothing where the client has no such answer. */
export function formatStopRefusal(reason: string, client: HookClient): string {
  return client === 'claude' ? line({ decision: 'block', reason: `Waymark: ${reason}` }) : ''
}

function line(answer: object): string {
  return `${JSON.stringify(answer)}\n`
}
