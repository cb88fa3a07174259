import type { ComponentChildren } from 'preact'
import { type InboxItemKind, isToReview } from '../../src/inbox/domain/inbox-item.ts'
import type { VerdictValue } from '../../src/track/domain/verdict.ts'
import './status.css'

/** The statuses of work: one shape, one colour and one word each. */
export const statuses = {
  planned: { word: 'Planned', colour: 'planned' },
  ready: { word: 'Ready', colour: 'ready' },
  active: { word: 'In progress', colour: 'active' },
  review: { word: 'Needs review', colour: 'review' },
  blocked: { word: 'Blocked', colour: 'blocked' },
  /** A mission that no agent works on until a person answers. */
  waiting: { word: 'Needs you', colour: 'review' },
  failed: { word: 'Failed', colour: 'blocked' },
  partial: { word: 'Partly done', colour: 'done' },
  done: { word: 'Done', colour: 'done' },
  unmeasured: { word: 'Done, not measured', colour: 'done' },
  unproven: { word: 'Done, unproven', colour: 'planned' },
  contradicted: { word: 'Contradicted', colour: 'blocked' },
  dropped: { word: 'Dropped', colour: 'planned' },
} as const satisfies Record<string, { readonly word: string; readonly colour: string }>

export type Status = keyof typeof statuses

/** The status for a word of the API: of a task, mission, run or attempt. */
export function statusOf(word: string): Status {
  return byWord[word.toLowerCase()] ?? 'planned'
}

/** The status of a task with its open inbox items. */
export function taskStatus(task: {
  readonly status: string
  readonly resolution: string | null
  readonly items: readonly { readonly kind: InboxItemKind }[]
}): Status {
  if (task.resolution === 'dropped') return 'dropped'
  if (task.items.some(({ kind }) => kind === 'blocker')) return 'blocked'
  if (task.items.some(({ kind }) => isToReview(kind))) return 'review'
  return task.resolution === 'unmeasured' ? 'unmeasured' : statusOf(task.status)
}

/** The status of a mission: one that was completed with open tasks is not done. */
export function missionStatus(
  word: string,
  open: number,
): { readonly status: Status; readonly word?: string } {
  const status = statusOf(word)
  return status === 'done' && open > 0 ? { status: 'partial', word: 'Ended with open tasks' } : { status }
}

/** The status of an attempt: of a completed one, its verdict. */
export function attemptStatus({
  status,
  verdict,
}: {
  readonly status: string
  readonly verdict: VerdictValue | null
}): Status {
  return verdict === null || verdict === 'proven' ? statusOf(status) : verdict
}

/** The status of a task in the plan. A task with an open dependency is planned; `blocked` needs a person. */
export function markStatus(
  mark: 'done' | 'in_progress' | 'ready' | 'blocked' | 'dropped',
  hasFailed = false,
): Status {
  if (hasFailed && (mark === 'ready' || mark === 'blocked')) return 'failed'
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
  blocked: 'waiting',
  review: 'review',
  failed: 'failed',
  abandoned: 'dropped',
  partial: 'partial',
  partial_success: 'partial',
  success: 'done',
  completed: 'done',
  done: 'done',
  unmeasured: 'unmeasured',
  dropped: 'dropped',
}

/** A shape for each status, recognizable without color. The word is beside it, or its accessible name. */
export function StatusIcon({ status, named = true }: { readonly status: Status; readonly named?: boolean }) {
  const { word, colour } = statuses[status]
  const look = { class: 'status-icon', 'data-colour': colour, viewBox: '0 0 16 16' }
  if (!named)
    return (
      <svg {...look} aria-hidden="true">
        {shapes[status]}
      </svg>
    )
  return (
    <svg {...look}>
      <title>{word}</title>
      {shapes[status]}
    </svg>
  )
}

interface StatusBadgeProps {
  readonly status: Status
  readonly word?: string
  readonly title?: string
}

export function StatusBadge({ status, word, title }: StatusBadgeProps) {
  return (
    <span class="status-badge" data-colour={statuses[status].colour} title={title}>
      <StatusIcon status={status} named={false} />
      {word ?? statuses[status].word}
    </span>
  )
}

const cross = (
  <>
    <circle class="fill" cx="8" cy="8" r="6.2" />
    <path class="hole" d="m5.7 5.7 4.6 4.6m0-4.6-4.6 4.6" />
  </>
)
const check = <path class="check" d="m5 8.2 2.1 2.1L11.2 6" />

const ringWithCheck = (
  <>
    <circle class="stroke" cx="8" cy="8" r="5.6" />
    {check}
  </>
)

const ringWithDot = (
  <>
    <circle class="stroke" cx="8" cy="8" r="5.6" />
    <circle class="fill" cx="8" cy="8" r="2.3" />
  </>
)

const shapes: Readonly<Record<Status, ComponentChildren>> = {
  planned: <circle class="stroke dotted" cx="8" cy="8" r="5.6" />,
  ready: <circle class="stroke" cx="8" cy="8" r="5.6" />,
  active: (
    <>
      <circle class="stroke" cx="8" cy="8" r="5.6" />
      <path class="fill" d="M8 4.6a3.4 3.4 0 0 1 0 6.8z" />
    </>
  ),
  review: ringWithDot,
  waiting: ringWithDot,
  blocked: (
    <>
      <rect class="fill" x="2.4" y="2.4" width="11.2" height="11.2" rx="2.4" />
      <path class="hole" d="M5.2 8h5.6" />
    </>
  ),
  failed: cross,
  contradicted: cross,
  partial: (
    <>
      <circle class="stroke" cx="8" cy="8" r="5.6" />
      <path class="fill" d="M2.4 8a5.6 5.6 0 0 0 11.2 0z" />
    </>
  ),
  done: (
    <>
      <circle class="fill" cx="8" cy="8" r="6.2" />
      <path class="hole" d="m5 8.2 2.1 2.1L11.2 6" />
    </>
  ),
  unmeasured: ringWithCheck,
  unproven: ringWithCheck,
  dropped: (
    <>
      <circle class="stroke" cx="8" cy="8" r="5.6" />
      <path class="stroke" d="m4.2 11.8 7.6-7.6" />
    </>
  ),
}
