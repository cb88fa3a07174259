import { type ClientAdapter, commonFields, type HookClientInfo } from '../hooks/client.ts'

/** The plugin records OpenCode's events under these names. */
export const opencode: ClientAdapter = {
  name: 'opencode',
  events: {
    'session.created': 'session_started',
    'chat.message': 'prompted',
    'tool.execute.before': 'before_tool',
    'tool.execute.after': 'after_tool',
    'session.idle': 'stopped',
    'session.error': 'turn_failed',
    'session.deleted': 'session_ended',
    'agent.created': 'agent_started',
    'agent.idle': 'agent_stopped',
  },
  fields: {
    ...commonFields,
    event: 'event',
    session: 'sessionID',
    turn: 'messageID',
    version: 'version',
    tool: 'tool',
    input: 'args',
    answer: 'output',
    call: 'callID',
    agent: 'agentID',
    agentType: 'agentType',
    transcript: '',
  },
  edits: ['write', 'edit', 'apply_patch'],
  reads: ['read', 'grep', 'glob', 'list', 'webfetch', 'websearch', 'task', 'skill', 'question'],
}

export const opencodeChecked: HookClientInfo = {
  label: 'OpenCode',
  checked: { version: '1.18', on: '2026-11-22' },
  // tool.execute.after is not called for a call that failed.
  coverage: { edits: true, failures: false, subagents: true, ids: true },
}
