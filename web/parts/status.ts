/** How work stands, wherever it is shown: one shape, one colour, one word each. */
export const statuses = {
  planned: { word: 'Planned', colour: 'planned' },
  ready: { word: 'Ready', colour: 'ready' },
  active: { word: 'In progress', colour: 'active' },
  review: { word: 'Needs review', colour: 'review' },
  blocked: { word: 'Blocked', colour: 'blocked' },
  failed: { word: 'Failed', colour: 'blocked' },
  partial: { word: 'Partly done', colour: 'done' },
  done: { word: 'Done', colour: 'done' },
  claimed: { word: 'Claimed done', colour: 'done' },
  dropped: { word: 'Dropped', colour: 'planned' },
} as const satisfies Record<string, { readonly word: string; readonly colour: string }>

export type Status = keyof typeof statuses

/** Of the words that the API uses for tasks, missions, runs and attempts. */
export function statusOf(word: string): Status {
  return byWord[word.toLowerCase()] ?? 'planned'
}

/** What a review, files outside the scope or an approval waits for is a person's look, as on the board. */
const lookedAt = ['review', 'scope', 'approval', 'command']

/** Of a task with what waits for a person about it. */
export function taskStatus(task: {
  readonly status: string
  readonly resolution: string | null
  readonly holds: readonly { readonly kind: string }[]
}): Status {
  if (task.resolution === 'dropped') return 'dropped'
  if (task.holds.some(({ kind }) => kind === 'blocker')) return 'blocked'
  if (task.holds.some(({ kind }) => lookedAt.includes(kind))) return 'review'
  return task.resolution === 'claimed' ? 'claimed' : statusOf(task.status)
}

/** Of a task in its plan. One that waits for another is planned; `blocked` is what waits for a person. */
export function markStatus(mark: 'done' | 'in_progress' | 'ready' | 'blocked' | 'dropped'): Status {
  return mark === 'blocked' ? 'planned' : statusOf(mark)
}

const byWord: Readonly<Record<string, Status>> = {
  to_do: 'planned',
  pending: 'planned',
  planned: 'planned',
  ready: 'ready',
  in_progress: 'active',
  open: 'active',
  running: 'active',
  active: 'active',
  succeeded: 'done',
  cancelled: 'dropped',
  blocked: 'blocked',
  review: 'review',
  failed: 'failed',
  abandoned: 'dropped',
  partial: 'partial',
  partial_success: 'partial',
  success: 'done',
  completed: 'done',
  done: 'done',
  claimed: 'claimed',
  dropped: 'dropped',
}
