import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { landedWords } from '../../../src/track/domain/landed.ts'
import { Agent } from '../../parts/agent.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { useFlash } from '../../parts/list.tsx'
import { StatusBadge, StatusIcon, statusOf } from '../../parts/status.tsx'
import { shortId } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { VerdictBadge } from '../../parts/verdict.tsx'
import { href } from '../../router/location.ts'
import type { ColumnCard } from './columns.ts'

interface BoardCardProps {
  readonly card: ReadonlySignal<ColumnCard>
  readonly isSelected: boolean
  readonly drag: (card: ColumnCard | null) => void
}

/** A task: its name, its agent, the claimed progress and the measured changes. */
export function Card({ card: of, isSelected, drag }: BoardCardProps) {
  const card = of.value
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${card.column} ${card.progress} ${card.agent_name} ${card.title}`)
  const { id, title, mission_name, agent_name, progress, measured, column } = card
  return (
    <li
      ref={element}
      id={id}
      class="task-card"
      draggable
      {...(isSelected && { 'aria-current': 'true' })}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', id)
        drag(card)
      }}
      onDragEnd={() => drag(null)}
    >
      <a
        href={href(`/tasks/${id}`)}
        draggable={false}
        {...(statusOf(card.outcome) === 'dropped' && { 'data-dropped': '' })}
      >
        {title}
      </a>
      <p class="task-of muted">
        {mission_name || card.role ? <span class="cut">{mission_name ?? card.role}</span> : null}
        <span class="id">{shortId(id)}</span>
      </p>
      <p class="task-by">
        {agent_name ? (
          <Agent name={agent_name} />
        ) : column === 'done' ? (
          <span />
        ) : (
          <span class="muted">Unclaimed</span>
        )}
        {column === 'active' && card.started_at ? (
          <span class="muted">
            {progress === null ? null : `${Math.round(progress)}% · `}
            <Since at={card.started_at} />
          </span>
        ) : measured ? (
          <span class="task-measured">
            {measured.scope_match === false ? <StatusIcon status="blocked" /> : null}
            {measured.attempt > 1 ? <span class="muted">attempt {measured.attempt} </span> : null}
            {measured.files === null ? <span class="muted">not measured</span> : <PlusMinus {...measured} />}
            {measured.verdict === 'contradicted' ? (
              <VerdictBadge is="contradicted" />
            ) : measured.verdict === null ? null : (
              <span class="muted"> {measured.verdict}</span>
            )}
            {card.accepted_by === null ? null : <span class="muted">accepted by {card.accepted_by}</span>}
            {card.is_undone ? <span class="muted"> · undone</span> : null}
            {card.landed === null || card.landed === 'none' || card.landed === 'unknown' ? null : (
              <span class="muted"> · {landedWords[card.landed]}</span>
            )}
          </span>
        ) : statusOf(card.outcome) === 'dropped' ? (
          <StatusBadge status="dropped" />
        ) : card.is_unmeasured ? (
          <span class="unmeasured-word">
            <StatusIcon status="unmeasured" named={false} /> not measured
          </span>
        ) : null}
      </p>
      {column === 'ready' && statusOf(card.outcome) === 'failed' ? (
        <p class="task-failed">
          <StatusBadge status="failed" word="Failed, can be retried" />
        </p>
      ) : null}
      {column === 'active' && progress !== null ? (
        <progress
          class="progress"
          max={100}
          value={progress}
          aria-label={`Progress claimed by ${agent_name}`}
        />
      ) : null}
    </li>
  )
}
