import type { ReadonlySignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { Card } from './card.tsx'
import { type columns, type Move, moveOf, type Placed } from './columns.ts'

interface ColumnProps {
  readonly column: (typeof columns)[number]
  readonly cards: readonly ReadonlySignal<Placed>[]
  /** How many there are in all. */
  readonly total: number
  readonly selected: string | null
  readonly dragged: Placed | null
  readonly drag: (card: Placed | null) => void
  readonly run: (move: Move) => void
}

/** A column takes a card where an operation does that, and says which, or who refuses. */
export function Column({ column, cards, total, selected, dragged, drag, run }: ColumnProps) {
  const [isOver, setOver] = useState(false)
  const move = dragged && dragged.column !== column.name ? moveOf(dragged, column.name) : null
  return (
    <section
      class="column"
      aria-label={column.title}
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
        {cards.map((card) => (
          <Card key={card.peek().id} card={card} isSelected={card.peek().id === selected} drag={drag} />
        ))}
      </ul>
      {total > cards.length ? <p class="muted more">{total - cards.length} more</p> : null}
    </section>
  )
}
