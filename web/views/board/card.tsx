import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Agent } from '../../parts/agent.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { shortId } from '../../parts/short-id.ts'
import { statusOf } from '../../parts/status.ts'
import { StatusBadge, StatusIcon } from '../../parts/status-icon.tsx'
import { Since } from '../../parts/time.tsx'
import { useFlash } from '../../parts/use-flash.ts'
import { href } from '../../router/location.ts'
import type { Placed } from './columns.ts'

interface CardProps {
  readonly card: ReadonlySignal<Placed>
  readonly isSelected: boolean
  readonly drag: (card: Placed | null) => void
}

/** A task: what it is, who works on it, how far they say it is, what git saw. */
export function Card({ card: of, isSelected, drag }: CardProps) {
  const card = of.value
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${card.column} ${card.progress} ${card.agent_name} ${card.title}`)
  const { id, title, mission_name, agent_name, progress, verified, column } = card
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
        <span class="id">{shortId(id)}</span>
        <span class="cut">{mission_name ?? card.role ?? ''}</span>
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
        ) : verified ? (
          <span class="task-verified">
            {verified.scope_match === false ? <StatusIcon status="blocked" /> : null}
            <PlusMinus {...verified} />
          </span>
        ) : statusOf(card.outcome) === 'dropped' ? (
          <StatusBadge status="dropped" />
        ) : card.is_claimed ? (
          <span class="claimed-word">
            <StatusIcon status="claimed" named={false} /> on somebody’s word
          </span>
        ) : null}
      </p>
      {column === 'active' && progress !== null ? (
        <progress
          class="progress"
          max={100}
          value={progress}
          aria-label={`Progress, as ${agent_name} says`}
        />
      ) : null}
    </li>
  )
}
