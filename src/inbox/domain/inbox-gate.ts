import { type CompletionMode, completionModeOf } from '../../track/domain/verdict.ts'
import { type InboxItemKind, itemKinds } from './inbox-item.ts'

const inboxGateModes = ['blockers', 'all', 'none'] as const
export type InboxGateMode = (typeof inboxGateModes)[number]

/** The default if nothing is set, or a value of a later version. */
function inboxGateOf(setting: string | undefined): InboxGateMode {
  return inboxGateModes.find((mode) => mode === setting) ?? 'blockers'
}

/** The settings that decide which open items of a task block its dependents. */
export interface GateSettings {
  readonly gate: InboxGateMode
  readonly completion: CompletionMode
}

export function gateSettingsOf(settings: ReadonlyMap<string, string>): GateSettings {
  return {
    gate: inboxGateOf(settings.get('inbox_gate')),
    completion: completionModeOf(settings.get('completion')),
  }
}

/** The open items of a task that block its dependents. */
export function gatingItemKinds({ gate, completion }: GateSettings): readonly InboxItemKind[] {
  if (gate === 'none') return []
  // With `flag` a verdict is only marked.
  const isGating = (kind: InboxItemKind) => kind !== 'verdict' || completion !== 'flag'
  return (gate === 'all' ? itemKinds : (['blocker', 'review', 'verdict'] as const)).filter(isGating)
}
