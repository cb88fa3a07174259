import { claudeReads } from '../claude/hooks.ts'
import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const cursor: ClientAdapter = {
  name: 'cursor',
  // Also the common names: Cursor runs the hooks in Claude Code's files too.
  events: {
    ...commonEvents,
    ...withSmallLetter(commonEvents),
    beforeSubmitPrompt: 'prompted',
    afterFileEdit: 'edited',
    // A person's own completion may not be saved yet; snapshots show it later.
    afterTabFileEdit: 'ignored',
  },
  fields: {
    ...commonFields,
    session: 'parent_conversation_id|conversation_id|session_id',
    turn: 'generation_id',
    folder: 'cwd|workspace_roots.0',
    version: 'cursor_version',
    model: 'subagent_model|model',
    answer: 'tool_output|tool_response',
    agent: 'subagent_id|agent_id',
    agentType: 'subagent_type|agent_type',
  },
  edits: ['Write', 'StrReplace', 'Delete', 'ApplyPatch', 'EditNotebook', 'Edit', 'MultiEdit'],
  reads: [...claudeReads, 'SemanticSearch', 'ReadLints', 'SwitchMode', 'FetchMcpResource'],
}

/** Most of its names are the common ones with a lowercase first letter. */
function withSmallLetter(events: ClientAdapter['events']): ClientAdapter['events'] {
  return Object.fromEntries(
    Object.entries(events).map(([name, meaning]) => [
      name.replace(/^./, (one) => one.toLowerCase()),
      meaning,
    ]),
  )
}

export const cursorChecked: HookClientInfo = {
  label: 'Cursor',
  checked: { version: '2.6', on: '2026-11-22' },
  coverage: { edits: true, failures: true, subagents: false, ids: true },
}
