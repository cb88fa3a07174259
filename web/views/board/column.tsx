import type { ReadonlySignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { useDrawnRows } from '../../parts/list.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import type { TaskMove } from '../../parts/task-moves.ts'
import { Card } from './card.tsx'
import { type ColumnCard, type columns, moveOf } from './columns.ts'

interface ColumnProps {
  readonly column: (typeof columns)[number]
  readonly cards: readonly ReadonlySignal<ColumnCard>[]
  /** How many there are in all. */
  readonly total: number
  readonly selected: string | null
  readonly dragged: ColumnCard | null
  readonly drag: (card: ColumnCard | null) => void
  readonly run: (move: TaskMove) => void
}

/** A column of the board. While a card is dragged it says what a drop does, or why it is refused. */
export function Column({ column, cards, total, selected, dragged, drag, run }: ColumnProps) {
  const [isOver, setOver] = useState(false)
  const at = selected === null ? -1 : cards.findIndex((card) => card.peek().id === selected)
  const { drawn, end } = useDrawnRows(cards, at)
  const move = dragged && dragged.column !== column.name ? moveOf(dragged, column.name) : null
  return (
    <section
      class="column"
      aria-label={column.title}
      {...(total === 0 && { 'data-empty': '' })}
      data-drop={move === null ? undefined : 'refused' in move ? 'refused' : isOver ? 'here' : 'possible'}
      onDragOver={(event) => {
        if (move === null) return
        setOver(true)
        if (!('refused' in move)) event.preventDefault()
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (move) run(move)
        drag(null)
      }}
    >
      <h2>
        <StatusIcon status={column.status} named={false} /> {column.title} <span class="count">{total}</span>
      </h2>
      {move ? <p class="drop-says">{'refused' in move ? move.refused : move.does}</p> : null}
      <ul class="task-cards">
        {drawn.map((card) => (
          <Card key={card.peek().id} card={card} isSelected={card.peek().id === selected} drag={drag} />
        ))}
        {end}
      </ul>
      {total > cards.length ? <p class="muted more">{total - cards.length} more</p> : null}
    </section>
  )
}
