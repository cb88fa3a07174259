import type { BoardCard, BoardColumn } from '../../api/entities.ts'
import type { Status } from '../../parts/status.tsx'
import { moveWords, openAttemptText, statusMove, type TaskMove } from '../../parts/task-moves.ts'

export const columns: readonly {
  readonly name: BoardColumn
  readonly title: string
  readonly status: Status
}[] = [
  { name: 'ready', title: 'Ready', status: 'ready' },
  { name: 'active', title: 'In progress', status: 'active' },
  { name: 'review', title: 'Needs review', status: 'review' },
  { name: 'done', title: 'Done', status: 'done' },
]

/** A card in its column. */
export interface ColumnCard extends BoardCard {
  readonly column: BoardColumn
}

/** The operation that a drop runs. The guards of the server may still refuse it. */
export function moveOf(card: ColumnCard, to: BoardColumn): TaskMove {
  const { id, column } = card
  if (column === to) return { refused: 'The task is already in this column.' }
  const isOpen = card.started_at !== null && card.completed_at === null
  if (isOpen) return { refused: openAttemptText(card.agent_name) }
  switch (to) {
    case 'review':
      return { refused: 'Completed work comes here by itself when it needs a person.' }
    case 'ready':
      return statusMove(id, 'to_do', column === 'active' ? moveWords.release : moveWords.reopen)
    case 'active':
      return statusMove(id, 'in_progress', moveWords.claim)
    case 'done':
      if (column === 'review') return { refused: 'Answer its inbox item first.' }
      return statusMove(id, 'done', moveWords.mark)
  }
}
