import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

// The tool that starts a subagent changes nothing itself: the subagent's own calls are reported.
export const claudeReads = [
  'Read',
  'Grep',
  'Glob',
  'LS',
  'LSP',
  'Web*',
  'Task*',
  'Agent',
  'Kill*',
  'BashOutput',
  'ListMcp*',
  'ReadMcp*',
  'ToolSearch',
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'Skill',
]

export const claude: ClientAdapter = {
  name: 'claude',
  events: {
    ...commonEvents,
    PostModelSwitch: 'model_switched',
    TaskCreated: 'item_added',
    TaskCompleted: 'item_done',
  },
  fields: { ...commonFields, model: 'model|to_model' },
  edits: ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'],
  reads: claudeReads,
}

export const claudeChecked: HookClientInfo = {
  label: 'Claude Code',
  checked: { version: '2.1', on: '2026-11-22' },
  coverage: { edits: true, failures: true, subagents: true, ids: true },
}
