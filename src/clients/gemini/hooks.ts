import { type ClientAdapter, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const gemini: ClientAdapter = {
  name: 'gemini',
  events: {
    SessionStart: 'session_started',
    BeforeAgent: 'prompted',
    BeforeTool: 'before_tool',
    AfterTool: 'after_tool',
    AfterAgent: 'stopped',
    SessionEnd: 'session_ended',
  },
  fields: { ...commonFields, turn: '' },
  edits: ['write_file', 'replace', 'edit'],
  reads: [
    'read_*',
    'list_directory',
    'glob',
    '*_search',
    'search_*',
    '*_fetch',
    'ask_user',
    'get_*',
    '*_skill',
    '*_plan_mode',
  ],
}

export const geminiChecked: HookClientInfo = {
  label: 'Gemini CLI',
  checked: { version: null, on: '2026-11-22' },
  coverage: { edits: true, failures: true, subagents: false, ids: false },
}
