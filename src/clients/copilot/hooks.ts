import { claudeReads } from '../claude/hooks.ts'
import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

/** Registered with Claude Code's event names, it sends Claude Code's fields and tool names. */
export const copilot: ClientAdapter = {
  name: 'copilot',
  events: {
    ...commonEvents,
    subagentStart: 'agent_started',
    ErrorOccurred: 'turn_failed',
  },
  fields: {
    ...commonFields,
    turn: '',
    session: 'session_id|sessionId',
    answer: 'tool_result',
    agent: 'agent_id',
    agentType: 'agent_type|agentName',
    transcript: 'transcript_path|transcriptPath',
  },
  edits: ['Write', 'Edit', 'create', 'edit', 'str_replace_editor', 'apply_patch'],
  reads: [
    ...claudeReads.filter((name) => name !== 'Agent' && name !== 'Task*'),
    'report_intent',
    '*_bash',
    'fetch_*',
    'sql',
  ],
}

export const copilotChecked: HookClientInfo = {
  label: 'Copilot CLI',
  checked: { version: '1.0', on: '2026-11-22' },
  // The subagent `general-purpose` reports neither its start nor its end.
  coverage: { edits: true, failures: true, subagents: false, ids: false },
}
