import { type InboxItemKind, itemKinds } from './inbox-item.ts'

/** The open items of a task that block its dependents, by the project's setting. */
const holding = {
  blockers: ['blocker', 'review'],
  all: itemKinds,
  none: [],
} as const satisfies Record<string, readonly InboxItemKind[]>

export type InboxGateMode = keyof typeof holding

/** The default if nothing is set, or a value of a later version. */
export function inboxGateOf(setting: string | undefined): InboxGateMode {
  return setting === 'all' || setting === 'none' ? setting : 'blockers'
}

export function gatingItemKinds(setting: string | undefined): readonly InboxItemKind[] {
  return holding[inboxGateOf(setting)]
}
