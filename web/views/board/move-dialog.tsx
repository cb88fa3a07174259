import { Dialog } from '../../parts/dialog.tsx'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { columns, type Move, moveOf, type Placed } from './columns.ts'

interface MoveDialogProps {
  readonly card: Placed
  readonly close: () => void
  readonly run: (move: Move) => void
}

/** What dragging does, for the keyboard. */
export function MoveDialog({ card, close, run }: MoveDialogProps) {
  return (
    <Dialog title={`Move “${card.title}”`} close={close}>
      <ul class="moves menu">
        {columns
          .filter(({ name }) => name !== card.column)
          .map(({ name, title, status }) => {
            const move = moveOf(card, name)
            return (
              <li key={name}>
                <button
                  type="button"
                  disabled={'refused' in move}
                  onClick={() => {
                    close()
                    run(move)
                  }}
                >
                  <StatusIcon status={status} named={false} /> {title}
                  <span class="muted">{'refused' in move ? move.refused : move.does}</span>
                </button>
              </li>
            )
          })}
      </ul>
    </Dialog>
  )
}
