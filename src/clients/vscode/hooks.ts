import { claudeReads } from '../claude/hooks.ts'
import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const vscode: ClientAdapter = {
  name: 'vscode',
  events: commonEvents,
  fields: {
    ...commonFields,
    event: 'hook_event_name|hookEventName',
    session: 'session_id|sessionId',
    turn: '',
  },
  edits: [
    'create_file',
    'replace_string_in_file',
    'multi_replace_string_in_file',
    'insert_edit_into_file',
    'apply_patch',
    'edit_notebook_file',
    'editFiles',
  ],
  reads: [
    ...claudeReads,
    'read_*',
    'list_*',
    '*_search',
    'get_*',
    'terminal_*',
    'fetch_webpage',

    'runSubagent',
  ],
}

export const vscodeChecked: HookClientInfo = {
  label: 'VS Code',
  checked: { version: null, on: '2026-11-22' },
  // A preview: there is no event for a failed call.
  coverage: { edits: true, failures: false, subagents: true, ids: true },
}
