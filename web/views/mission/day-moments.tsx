import type { OutputOf } from '../../../src/kernel/operations/catalog.ts'
import { session } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { type Status, StatusIcon } from '../../parts/status.tsx'
import { href } from '../../router/location.ts'

type Item = OutputOf<'inbox'>['items'][number]

/** What the first page of a recorded day promises, of any mission, each as soon as it happened. */
export function DayMoments() {
  const current = session.value
  const isDemo = current !== null && current !== 'unknown person' && current.demo !== null
  return isDemo ? <Moments /> : null
}

function Moments() {
  const open = useQuery('inbox', { limit: 200 }).answer.value?.items ?? []
  const closed = useQuery('inbox', { closed: true, limit: 200 }).answer.value?.items ?? []
  const items = [...open, ...closed].toSorted((a, b) => Date.parse(a.opened_at) - Date.parse(b.opened_at))
  const moments = promised.flatMap(({ status, is, words }) => {
    const item = items.find(is)
    return item?.task_id ? [{ item, status, words: words(item) }] : []
  })
  if (moments.length === 0) return null
  return (
    <ul class="day-moments" aria-label="In the recorded day">
      <li class="muted">In this day so far:</li>
      {moments.map(({ item, status, words }) => (
        <li key={words}>
          <StatusIcon status={status} named={false} />
          <span>
            {words}:{' '}
            <a class="link" href={href(pagePath(item))}>
              {item.task_name}
            </a>
          </span>
        </li>
      ))}
    </ul>
  )
}

interface PromisedMoment {
  readonly status: Status
  readonly is: (item: Item) => boolean
  readonly words: (item: Item) => string
}

const promised: readonly PromisedMoment[] = [
  {
    status: 'blocked',
    is: ({ kind }) => kind === 'blocker',
    words: ({ opened_by }) => `${opened_by} asked a question`,
  },
  { status: 'failed', is: ({ kind }) => kind === 'verdict', words: () => 'A claim was caught' },
  {
    status: 'review',
    is: ({ action }) => action === 'sent back',
    words: ({ closed_by }) => `${closed_by} sent work back`,
  },
  {
    status: 'done',
    is: ({ kind, action }) => kind === 'review' && action === 'approved',
    words: ({ closed_by }) => `${closed_by} approved work`,
  },
]

/** The page of the task, with the attempt that it was about. */
function pagePath({ task_id, attempt_id }: Item): string {
  return `/tasks/${task_id}${attempt_id === null ? '' : `?attempt=${attempt_id}`}`
}
