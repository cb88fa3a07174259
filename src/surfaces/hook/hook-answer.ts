import type { HookVerdict } from '../../domain/gate/hook/tool-use.ts'
import type { HookClient } from './hook-call.ts'

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
