import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatCount } from '../../../../src/kernel/text.ts'
import { Agent } from '../../../parts/agent.tsx'
import { clockText, durationText } from '../../../parts/duration.ts'
import { PlusMinus } from '../../../parts/evidence.tsx'
import { attemptStatus, StatusBadge, StatusIcon } from '../../../parts/status.tsx'
import { now } from '../../../parts/time.tsx'
import { useTimeline } from './model.ts'
import { Diamond, filesOf, outOfScope } from './signs.tsx'
import type { TaskMarkPoint, TimelineSpan } from './source.ts'

const maxListed = 6

/** The details of the bar or mark under the pointer, or of the selection. */
export function HoverCard() {
  const { card } = useTimeline()
  const subject = card.subject.value
  const shown = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = shown.current
    if (!element || !subject) return
    const { width, height } = element.getBoundingClientRect()
    const below = subject.box.bottom + 6 + height < window.innerHeight
    element.style.left = `${Math.max(8, Math.min(subject.box.x, window.innerWidth - width - 8))}px`
    element.style.top = `${below ? subject.box.bottom + 6 : Math.max(8, subject.box.top - height - 6)}px`
  }, [subject])
  if (!subject) return null
  const { row, spans, marks } = subject
  return (
    <div class="hover-card" aria-live="polite" ref={shown}>
      <p class="hover-title">{row.task.name}</p>
      {spans.slice(-maxListed).map((span) => (
        <AttemptLines key={span.id} span={span} />
      ))}
      {spans.length > maxListed && <p class="muted">and {spans.length - maxListed} earlier</p>}
      {marks.slice(-maxListed).map((mark) => (
        <MarkLine key={mark.data.id} mark={mark} />
      ))}
      {marks.length > maxListed && <p class="muted">and {marks.length - maxListed} earlier</p>}
    </div>
  )
}

function AttemptLines({ span }: { readonly span: TimelineSpan }) {
  const { attempt, from, to } = span
  const time = now.value
  const files = filesOf(attempt)
  return (
    <div class="hover-attempt">
      <p class="hover-line">
        <StatusBadge status={attemptStatus(attempt)} />
        {attempt.agent !== null && <Agent name={attempt.agent} />}
        <span class="muted push">{durationText((to ?? time) - from)}</span>
      </p>
      <p class="muted">
        {clockText(from, time)} –{' '}
        {to === null ? 'now' : clockText(to, to - from > 12 * 3_600_000 ? from : to)}
      </p>
      {attempt.lines === null ? (
        <p class="muted">{to === null ? 'Measured when it ends.' : 'The end was not measured.'}</p>
      ) : (
        <p>
          <PlusMinus added_lines={attempt.lines.added} deleted_lines={attempt.lines.deleted} /> in{' '}
          {formatCount(files, 'file')}
          <span class="muted">
            , {attempt.measurement === 'exact' ? 'measured by git' : 'measured in part'}
          </span>
        </p>
      )}
      {outOfScope(attempt) > 0 && (
        <p class="hover-out">
          <StatusIcon status="blocked" named={false} /> {outOfScope(attempt)} out of scope
        </p>
      )}
    </div>
  )
}

const words = { decision: 'Decision', issue: 'Issue', progress: 'Progress' } as const

function MarkLine({ mark }: { readonly mark: TaskMarkPoint }) {
  const { data } = mark
  return (
    <div class="hover-mark">
      <Diamond kind={data.kind} />
      <p>
        <span class="muted">
          {words[data.kind]}
          {data.agent === null ? '' : ` by ${data.agent}`} · {clockText(mark.at, now.peek())}
        </span>
        <br />
        {data.text}
      </p>
    </div>
  )
}
