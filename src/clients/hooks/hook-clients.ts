import { claude } from '../claude/hooks.ts'
import { cline } from '../cline/hooks.ts'
import { codex } from '../codex/hooks.ts'
import { copilot } from '../copilot/hooks.ts'
import { cursor } from '../cursor/hooks.ts'
import { devin } from '../devin/hooks.ts'
import { gemini } from '../gemini/hooks.ts'
import { opencode } from '../opencode/hooks.ts'
import { vscode } from '../vscode/hooks.ts'
import { type ClientAdapter, textAt } from './client.ts'

export const hookClients: readonly ClientAdapter[] = [
  claude,
  cursor,
  codex,
  gemini,
  opencode,
  copilot,
  vscode,
  devin,
  cline,
]

function clientNamed(name: string): ClientAdapter | undefined {
  return hookClients.find((client) => client.name === name)
}

/**
 * The client that sent an event. Clients run each other's hooks, so the payload decides before the registered name.
 */
export function clientOf(
  payload: object,
  { word, environment }: { readonly word: string; readonly environment: Readonly<NodeJS.ProcessEnv> },
): ClientAdapter {
  const has = (places: string) => textAt(payload, places) !== null
  const event = textAt(payload, 'hook_event_name') ?? ''
  const transcript = (textAt(payload, 'transcript_path') ?? '').replaceAll('\\', '/')
  if (has('clineVersion|hookName')) return cline
  if (has('cursor_version') || (has('conversation_id') && has('generation_id'))) return cursor
  if (word === 'opencode') return opencode
  if (/^(?:Before|After)(?:Tool|Agent)$/.test(event) || transcript.includes('/.gemini/')) return gemini
  if (has('hookEventName') || /\/workspaceStorage\//.test(transcript)) return vscode
  if (transcript.includes('/.copilot/')) return copilot
  if (has('turn_id') || /\/rollout-[^/]*\.jsonl$/.test(transcript)) return codex
  if (transcript.includes('/.claude/') || has('prompt_id')) return word === 'devin' ? devin : claude
  if (word !== '' && word !== 'claude') return clientNamed(word) ?? claude
  // Several clients use Claude Code's names: Copilot and VS Code add a time, Cursor sets its own variable.
  if (environment['CURSOR_VERSION']) return cursor
  if (has('timestamp')) return has('tool_use_id') ? vscode : copilot
  return claude
}
