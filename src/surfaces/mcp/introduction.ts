import type { JSONRPCMessage, JSONRPCResultResponse, ServerCapabilities } from '@modelcontextprotocol/server'
import { isJsonObject } from '../../kernel/json.ts'
import type { Surface } from './surface.ts'

export type ServerIntroduction = Pick<Surface, 'version' | 'toolsets'>

/** The server's description of itself for a new client. */
export function introduction({ version, toolsets }: ServerIntroduction) {
  const capabilities: ServerCapabilities = {
    tools: { listChanged: toolsets === 'auto' },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: false },
    completions: {},
  }
  return { capabilities, serverInfo: { name: 'waymark', title: 'Waymark', version }, instructions }
}

/** The protocol revisions with `initialize`, the newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const

/**
 * Answers an ordinary `initialize` without the SDK, which takes longer to load than Node itself; the SDK gets the same
 * request later. Null for other requests, and for all that the SDK might refuse: those wait for it.
 */
export function answerToInitialize(
  message: JSONRPCMessage,
  introduced: ServerIntroduction,
): JSONRPCResultResponse | null {
  if (!('method' in message) || !('id' in message) || message.method !== 'initialize') return null
  const { protocolVersion, capabilities, clientInfo, ...others } = message.params ?? {}
  if (Object.keys(others).length > 0 || !isClient(clientInfo) || !areOrdinary(capabilities)) return null
  const spoken = legacyVersions.find((version) => version === protocolVersion) ?? legacyVersions[0]
  return {
    jsonrpc: '2.0',
    id: message.id,
    result: { protocolVersion: spoken, ...introduction(introduced) },
  }
}

function isClient(client: unknown): boolean {
  if (!isJsonObject(client)) return false
  const { name, version, title = '', ...others } = client
  return [name, version, title].every((word) => typeof word === 'string') && Object.keys(others).length === 0
}

/** Known capabilities: `roots: { listChanged: true }`, and empty or nested empty ones such as `elicitation: { form: {} }`. */
function areOrdinary(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities)) return false
  const { roots = {}, sampling = {}, elicitation = {}, ...others } = capabilities
  if (Object.keys(others).length > 0 || !isJsonObject(roots)) return false
  const { listChanged = true, ...more } = roots
  if (typeof listChanged !== 'boolean' || Object.keys(more).length > 0) return false
  return [sampling, elicitation].every((one) => isJsonObject(one) && Object.values(one).every(isEmpty))
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

/** The instructions for a model that connects. */
const instructions = `Waymark records what you work on and checks with git what you really changed.

3 to 6 calls per task:
1. Asked to work in a mission: list_missions, then get_context. Only new work: start_mission with a measurable objective; plan_tasks plans it.
2. Before you edit any file: take a planned task with taskman_task_next { claim: true } and start_task { planned_task_id, claim_token }, or start_task a new one with goal, mission_id and areas (folders or globs). A late start misses your edits.
3. Meanwhile, sparingly: log_decision for a choice with alternatives, log_issue for a problem (requires_human_review: true for a person), log_milestone at most 5 times.
4. When done: complete_task with status and an honest outcome.summary that names what you edited outside your areas. preview: true shows the result first. A failed task can be taken again.
5. Instead of polling: get_context { wait_seconds }. At the end: complete_mission.

What you write is a claim; changes are measured from start_task to complete_task: commits, uncommitted and new files. measurement "exact": every path is certain; else something could not be seen. In a shared tree, contested_files are probably others'. A file outside your areas (tests, docs and manifests are inside) is unexpected: explain or put it back. scope_match null: nothing was declared.

Before you undo a line: waymark why <file>:<line>, or resource waymark://why/{path}:{line}.

A refusal says what to do next. People resolve blockers and reviews, not you.`
