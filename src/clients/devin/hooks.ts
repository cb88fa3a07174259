import { claude } from '../claude/hooks.ts'
import type { ClientAdapter, HookClientInfo } from '../hooks/client.ts'

/** It runs Claude Code's hooks by itself, and tells in its words; seen in documents only. */
export const devin: ClientAdapter = {
  ...claude,
  name: 'devin',
}

export const devinChecked: HookClientInfo = {
  label: 'Devin',
  checked: { version: null, on: '2026-11-22' },
  coverage: { edits: false, failures: false, subagents: false, ids: true },
}
