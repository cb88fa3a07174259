import { type ClientAdapter, commonEvents, commonFields, type HookClientInfo } from '../hooks/client.ts'

export const codex: ClientAdapter = {
  name: 'codex',
  events: { ...commonEvents, Interrupt: 'interrupted' },
  fields: { ...commonFields, turn: 'turn_id' },
  edits: ['apply_patch'],
  reads: ['view_image', 'web_search', 'read_file', 'list_dir', 'grep_files', 'spawn_agent', 'wait'],
}

export const codexChecked: HookClientInfo = {
  label: 'Codex',
  checked: { version: '0.169', on: '2026-11-22' },
  // A failed call has no PostToolUse.
  coverage: { edits: true, failures: false, subagents: true, ids: true },
}
