import { type ClientAdapter, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const cline: ClientAdapter = {
  name: 'cline',
  events: {
    TaskStart: 'session_started',
    TaskResume: 'session_started',
    UserPromptSubmit: 'prompted',
    PreToolUse: 'before_tool',
    PostToolUse: 'after_tool',
    TaskComplete: 'stopped',
    TaskCancel: 'interrupted',
  },
  fields: {
    ...commonFields,
    event: 'hookName',
    session: 'taskId',
    turn: '',
    folder: 'workspaceRoots.0',
    version: 'clineVersion',
    model: 'model.slug',
    tool: 'preToolUse.toolName|preToolUse.tool|postToolUse.toolName|postToolUse.tool',
    input: 'preToolUse.parameters|postToolUse.parameters',
    answer: 'postToolUse',
    call: '',
    prompt: 'userPromptSubmit.prompt',
  },
  edits: ['write_to_file', 'replace_in_file', 'new_rule', 'apply_patch', 'editor'],
  reads: [
    'read_*',
    'list_*',
    'search_*',
    'browser_action',
    'web_fetch',
    'fetch_*',
    'ask_*',
    'plan_mode_respond',
    'attempt_completion',
    'new_task',
    'condense',
    'focus_chain',
    'skills',
  ],
}

export const clineChecked: HookClientInfo = {
  label: 'Cline',
  checked: { version: '4.1', on: '2026-11-22' },
  coverage: { edits: true, failures: true, subagents: false, ids: false },
}
