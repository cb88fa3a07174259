import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { isFollowed, landedWords } from '../../../src/track/domain/landed.ts'
import { Agent } from '../../parts/agent.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { useFlash } from '../../parts/list.tsx'
import { StatusBadge, StatusIcon, statusOf } from '../../parts/status.tsx'
import { shortId } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { VerdictBadge, verdictMeaning } from '../../parts/verdict.tsx'
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
        {mission_name || card.role ? <span class="cut">{mission_name ?? `role ${card.role}`}</span> : null}
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
            {measured.files === null ? (
              <span class="muted">not measured</span>
            ) : measured.attempt > 1 ? (
              <span class="muted">
                {formatCount(measured.files, 'file')} in {measured.attempt} attempts
              </span>
            ) : (
              <PlusMinus {...measured} />
            )}
            {measured.scope_match === false && measured.out_of_scope > measured.out_of_scope_accepted ? (
              <span class="task-out">
                <StatusIcon status="blocked" named={false} />{' '}
                {measured.out_of_scope - measured.out_of_scope_accepted} out of scope
              </span>
            ) : null}
            {measured.verdict === 'contradicted' && column !== 'ready' ? (
              <VerdictBadge is="contradicted" />
            ) : null}
            <span class="muted">{joinWords(resultWords(card, measured))}</span>
          </span>
        ) : statusOf(card.outcome) === 'dropped' ? (
          <StatusBadge status="dropped" />
        ) : card.is_unmeasured ? (
          <span class="unmeasured-word">
            <StatusIcon status="unmeasured" named={false} /> not measured
          </span>
        ) : null}
      </p>
      {card.is_blocked ? (
        <p class="task-failed">
          <StatusBadge status="blocked" word="Waits for your answer" />
        </p>
      ) : null}
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

interface ResultWord {
  readonly word: string
  readonly meaning?: string
}

/** The verdict, who accepted it, and where the lines are. */
function resultWords(
  { accepted_by, is_undone, landed, column }: ColumnCard,
  { verdict }: NonNullable<ColumnCard['measured']>,
): readonly ResultWord[] {
  // The verdict was about work that is not enough any more.
  if (column === 'ready') return verdict === null ? [] : [{ word: 'to do again' }]
  return [
    ...(verdict === null || verdict === 'contradicted'
      ? []
      : [{ word: verdict, meaning: verdictMeaning[verdict] }]),
    ...(accepted_by === null ? [] : [{ word: `accepted by ${accepted_by}` }]),
    ...(is_undone ? [{ word: 'undone' }] : []),
    ...(landed !== null && isFollowed(landed)
      ? [{ word: landedWords[landed], meaning: 'Landed: its lines are on the default branch' }]
      : []),
  ]
}

/** No line begins with the dot between two words. */
function joinWords(words: readonly ResultWord[]) {
  return words.map(({ word, meaning }, at) => (
    <span key={word} title={meaning}>
      {word}
      {at < words.length - 1 ? '\u00a0· ' : ''}
    </span>
  ))
}
