import type { TaskDetail } from '../../api/answers.ts'
import { Prose } from '../../parts/prose.tsx'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { Clock } from '../../parts/time.tsx'
import { href } from '../../router/location.ts'

/** What waits for a person about this task, and what people answered. */
export function Answers({ task }: { readonly task: TaskDetail }) {
  const { holds, answered_holds } = task
  if (holds.length + answered_holds.length === 0) return null
  return (
    <section class="task-answers" aria-label="What people are asked">
      <ul>
        {holds.map(({ hold_id, kind, reason }) => (
          <li key={hold_id} data-open="">
            <StatusIcon status={kind === 'blocker' ? 'blocked' : 'review'} named={false} />
            <div>
              <b>{titles[kind] ?? 'Waits for you'}</b>
              <p>
                <Prose text={reason} />
              </p>
            </div>
            <a href={href('/')}>Answer in the inbox</a>
          </li>
        ))}
        {answered_holds.map(({ hold_id, reason, status, answer, closed_by, closed_at }) => (
          <li key={hold_id}>
            <StatusIcon status={status === 'dismissed' ? 'dropped' : 'done'} named={false} />
            <div>
              <b>
                {closed_by ?? 'Waymark'} {status === 'dismissed' ? 'dismissed' : 'answered'}
              </b>
              <p>
                <Prose text={answer ?? 'Without a word.'} />
              </p>
              <p class="muted">
                <Prose text={reason} />
              </p>
            </div>
            {closed_at === null ? null : (
              <span class="muted">
                <Clock at={closed_at} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const titles: Readonly<Record<string, string>> = {
  blocker: 'A blocker waits for your answer',
  review: 'A review waits for you',
  scope: 'Files outside the scope wait for you',
  approval: 'A decision waits for you',
  command: 'A command waits to be allowed',
  stale_attempt: 'A silent attempt waits for you',
}
