import { signal } from '@preact/signals'
import { useCommands } from '../keys/commands.ts'
import { KeyCap } from '../parts/key-cap.tsx'

export interface Toast {
  readonly text: string
  readonly kind: 'said' | 'refused'
  /** Takes back what was not sent yet. */
  readonly undo?: () => void
}

interface Shown extends Toast {
  readonly id: number
}

const toasts = signal<readonly Shown[]>([])
let last = 0

/** Shows a sentence, and answers how to take it away. A refusal stays until it is read; the rest go by themselves. */
export function showToast(toast: Toast, lasts = toast.kind === 'refused' ? 12_000 : 5_000): () => void {
  last += 1
  const id = last
  const remove = () => {
    toasts.value = toasts.value.filter((shown) => shown.id !== id)
  }
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }]
  window.setTimeout(remove, lasts)
  return remove
}

export function Toasts() {
  const undoable = toasts.value.findLast(({ undo }) => undo)
  useCommands(undoable?.undo ? { undo: undoable.undo } : {})
  return (
    <output class="toasts">
      {toasts.value.map(({ id, text, kind, undo }) => (
        <div class="toast" data-kind={kind} key={id}>
          <span>{text}</span>
          {undo ? (
            <button type="button" class="button" onClick={undo}>
              Undo <KeyCap keys="u" />
            </button>
          ) : (
            <button
              type="button"
              class="button"
              data-kind="plain"
              aria-label="Close"
              onClick={() => {
                toasts.value = toasts.value.filter((shown) => shown.id !== id)
              }}
            >
              ×
            </button>
          )}
        </div>
      ))}
    </output>
  )
}
