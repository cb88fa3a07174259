import { signal } from '@preact/signals'
import { callByName, errorText } from '../api/call.ts'
import { useCommands } from '../keys/commands.ts'
import { KeyCap } from '../parts/key-cap.tsx'
import { base } from '../router/location.ts'

interface Toast {
  readonly text: string
  readonly kind: 'done' | 'refused'
  /** Takes back what was not sent yet. */
  readonly undo?: () => void
}

interface VisibleToast extends Toast {
  readonly id: number
}

const toasts = signal<readonly VisibleToast[]>([])
let last = 0

/** Shows a sentence, and answers how to take it away. It goes by itself, except where `lasts` is null. */
export function showToast(
  toast: Toast,
  lasts: number | null = toast.kind === 'refused' ? 12_000 : 5_000,
): () => void {
  last += 1
  const id = last
  const remove = () => {
    toasts.value = toasts.value.filter((shown) => shown.id !== id)
  }
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }]
  if (lasts !== null) setTimeout(remove, lasts)
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

interface ToastCommand {
  /** Which entity it is about: it is shown as settled until the server says so. */
  readonly about: string
  readonly operation: string
  readonly input: object
  /** What is being done, in the past tense: `Approved`. */
  readonly text: string
  /** After it was sent, with the answer, or refused. */
  readonly onSent?: (answer: unknown, project: string) => void
}

interface PendingCommand extends ToastCommand {
  /** The base path of the project that was shown: another one may be shown by then. */
  readonly project: string
}

/** How long it can be taken back, in milliseconds. */
const takesBack = 5_000

/** What is about to be sent, by what it is about. */
export const sendings = signal<ReadonlyMap<string, PendingCommand>>(new Map())
const timers = new Map<string, number>()

/** Sends a command in five seconds, or when the page is left; until then it can be undone. */
export function sendLater(command: ToastCommand): void {
  const sending: PendingCommand = { ...command, project: base.peek() }
  const { about, text } = sending
  const removeToast = showToast({
    kind: 'done',
    text,
    undo: () => {
      dismissSending(about)
      removeToast()
    },
  })
  sendings.value = new Map(sendings.value).set(about, sending)
  timers.set(
    about,
    setTimeout(() => void send(sending), takesBack),
  )
}

/** Sends all that waits, now. */
function sendAll(): void {
  for (const { about, operation, input, project } of sendings.value.values()) {
    dismissSending(about)
    void callByName(operation, input, { project, leaving: true })
  }
}

window.addEventListener('pagehide', sendAll)

async function send({ about, operation, input, project, onSent: sent }: PendingCommand): Promise<void> {
  let answer: unknown
  try {
    answer = await callByName(operation, input, { project })
  } catch (error) {
    showToast({ kind: 'refused', text: errorText(error) })
  } finally {
    sent?.(answer, project)
    // What was read meanwhile says it; without this the card would come back for a moment.
    setTimeout(() => dismissSending(about), 400)
  }
}

function dismissSending(about: string): void {
  clearTimeout(timers.get(about))
  timers.delete(about)
  const left = new Map(sendings.value)
  left.delete(about)
  sendings.value = left
}
