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

/** What a move of a card does, or why it is refused. */
export type ColumnMove =
  | { readonly does: string; readonly operation: string; readonly input: object }
  | { readonly refused: string }

/** The operation that a drop runs. The guards of the server may still refuse it. */
export function moveOf(card: ColumnCard, to: BoardColumn): ColumnMove {
  const { id, column } = card
  if (column === to) return { refused: 'The task is already in this column.' }
  const isOpen = card.started_at !== null && card.completed_at === null
  if (isOpen) {
    return {
      refused: `An attempt of ${card.agent_name ?? 'an agent'} is open. The agent ends it with complete_task.`,
    }
  }
  switch (to) {
    case 'review':
      return { refused: 'Completed work comes here by itself when it needs a person.' }
    case 'ready':
      return statusMove(
        id,
        'to_do',
        column === 'active' ? 'Release the claim of the agent' : 'Reopen the task',
      )
    case 'active':
      return statusMove(id, 'in_progress', 'Claim the task for yourself')
    case 'done':
      if (column === 'review') return { refused: 'Answer its inbox item first.' }
      return statusMove(id, 'done', 'Mark it done, not measured')
  }
}

function statusMove(id: string, status: 'to_do' | 'in_progress' | 'done', does: string): ColumnMove {
  const refused = denialReason('taskman_task_edit')
  if (refused !== null) return { refused }
  return { does, operation: 'taskman_task_edit', input: { id, status } }
}
