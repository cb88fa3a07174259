import { claudeReads } from '../claude/hooks.ts'
import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const cursor: ClientAdapter = {
  name: 'cursor',
  // The common names too: Cursor runs the hooks of Claude Code's files as well.
  events: {
    ...commonEvents,
    ...withSmallLetter(commonEvents),
    beforeSubmitPrompt: 'prompted',
    afterFileEdit: 'edited',
    // A person's own completion, perhaps not saved yet: the snapshots see it.
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

/** Most of its own names are the common ones with a small first letter. */
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
