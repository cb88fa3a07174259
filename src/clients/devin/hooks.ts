import { claude } from '../claude/hooks.ts'
import type { ClientAdapter, HookClientInfo } from '../hooks/client.ts'

/** It also runs Claude Code's hooks, with their names. Known only from its documentation. */
export const devin: ClientAdapter = {
  ...claude,
  name: 'devin',
}

export const devinChecked: HookClientInfo = {
  label: 'Devin',
  checked: { version: null, on: '2026-11-22' },
  coverage: { edits: false, failures: false, subagents: false, ids: true },
}
