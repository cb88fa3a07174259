import type { BoardCard, BoardColumn } from '../../api/entities.ts'
import { denialReason } from '../../api/session.ts'
import type { Status } from '../../parts/status.tsx'

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

/** What moving a card to a column would do, or why it cannot be. */
export type ColumnMove =
  | { readonly does: string; readonly operation: string; readonly input: object }
  | { readonly refused: string }

/** The operation that a drop runs. The server has the last word: its guards refuse with their own reasons. */
export function moveOf(card: ColumnCard, to: BoardColumn): ColumnMove {
  const { id, column } = card
  if (column === to) return { refused: 'It is already there.' }
  const isOpen = card.started_at !== null && card.completed_at === null
  if (isOpen) {
    return {
      refused: `An attempt of ${card.agent_name ?? 'an agent'} is open: it ends with complete_task, measured.`,
    }
  }
  switch (to) {
    case 'review':
      return { refused: 'Only measured work that needs a person is reviewed.' }
    case 'ready':
      return statusMove(
        id,
        'to_do',
        column === 'active' ? 'Takes it back from the agent that claimed it' : 'Opens it again',
      )
    case 'active':
      return statusMove(id, 'in_progress', 'Claims it for you')
    case 'done':
      if (column === 'review') return { refused: 'It is done once its review is settled, in the inbox.' }
      return statusMove(id, 'done', 'Marks it done on your word, without evidence')
  }
}

function statusMove(id: string, status: 'to_do' | 'in_progress' | 'done', does: string): ColumnMove {
  const refused = denialReason('taskman_task_edit')
  if (refused !== null) return { refused }
  return { does, operation: 'taskman_task_edit', input: { id, status } }
}
