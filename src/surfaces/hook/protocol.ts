import { Failure, messageOf } from '../../domain/failure.ts'
import type { HookVerdict } from '../../domain/gate/hook/tool-use.ts'
import { isJsonObject, type JsonObject } from '../../domain/gate/json.ts'
import { excerpt } from '../../domain/text.ts'

export const hookEvents = ['pre-tool-use', 'session-start', 'stop'] as const
export type HookEvent = (typeof hookEvents)[number]

/** Cursor's protocol is its own; that of Claude Code is shared by others. */
export type HookClient = 'claude' | 'cursor'

/** What a client tells a hook, as far as Waymark looks at it. */
export interface HookCall {
  readonly client: HookClient
  /** The agent's working directory; null where the client does not say. */
  readonly folder: string | null
  readonly tool: { readonly name: string; readonly input: JsonObject } | null
  /** The agent goes on only because a hook kept it from stopping. */
  readonly stopHookActive: boolean
}

export function readHookCall(text: string): HookCall {
  const payload = parsed(text)
  if (!isJsonObject(payload)) throw notUnderstood('it is not a JSON object')
  const { tool_name: name, tool_input: input, hook_event_name: event, stop_hook_active: active } = payload
  return {
    client: typeof event === 'string' && /^[a-z]/.test(event) ? 'cursor' : 'claude',
    folder: folderOf(payload),
    tool: typeof name === 'string' && name !== '' ? { name, input: isJsonObject(input) ? input : {} } : null,
    stopHookActive: active === true,
  }
}

function folderOf({ cwd, workspace_roots: roots }: JsonObject): string | null {
  const folder: unknown = cwd ?? (Array.isArray(roots) ? roots[0] : null)
  return typeof folder === 'string' && folder !== '' && !folder.includes('\0') ? folder : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notUnderstood(messageOf(error))
  }
}

function notUnderstood(why: string): Failure {
  const short = excerpt(why, 160)
  return new Failure('INVALID_INPUT', `What the client said to the hook was not understood: ${short}`)
}

/** A verdict in the words of a client's protocol; no decision is no words. */
export function verdictAnswer(verdict: HookVerdict | null, client: HookClient): string {
  if (verdict === null) return ''
  if (client === 'claude') {
    return line({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: verdict.decision,
        permissionDecisionReason: `Waymark: ${verdict.reason}`,
      },
    })
  }
  // Cursor takes "ask" here for a yes, so that only a no keeps the question from being passed over.
  const reason = `Waymark: ${verdict.reason}`
  return line({ permission: 'deny', user_message: reason, agent_message: reason })
}

export function briefAnswer(brief: string | null, client: HookClient): string {
  if (brief === null) return ''
  if (client === 'cursor') return line({ additional_context: brief })
  return line({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: brief } })
}

/** A warning for the person. Cursor could only make the agent go on, so it is told nothing. */
export function farewellAnswer(farewell: string | null, client: HookClient): string {
  return farewell === null || client === 'cursor' ? '' : line({ systemMessage: `Waymark: ${farewell}` })
}

function line(answer: object): string {
  return `${JSON.stringify(answer)}\n`
}
