import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { bindings, type KeyCommand } from './bindings.ts'

export type Handlers = Partial<Readonly<Record<KeyCommand, () => void>>>

/** What the commands do now. A view that came later answers before the one that it lies over. */
const layers = signal<readonly (() => Handlers)[]>([])

/** Says what commands do while the component is shown. */
export function useCommands(handlers: Handlers): void {
  const latest = useRef(handlers)
  latest.current = handlers
  // Before it is painted: a key pressed at the first sight of a list counts.
  useLayoutEffect(() => {
    const layer = () => latest.current
    layers.value = [...layers.value, layer]
    return () => {
      layers.value = layers.value.filter((other) => other !== layer)
    }
  }, [])
}

/** What a command does now; null where it does nothing. */
export function handlerOf(command: KeyCommand): (() => void) | null {
  for (const layer of layers.value.toReversed()) {
    const handler = layer()[command]
    if (handler) return handler
  }
  return null
}

/** How long the second key of two may take, in milliseconds. */
const sequence = 1_200

const byKeys = Map.groupBy(
  bindings.flatMap(({ keys, command }) =>
    keys.map((key): { readonly key: string; readonly command: KeyCommand } => ({ key, command })),
  ),
  ({ key }) => key,
)
const beginnings = new Set(
  [...byKeys.keys()].filter((key) => key.includes(' ')).map((key) => key.split(' ')[0]),
)

/** Runs the commands of keys, except what is typed into a field. Answers its stop. */
export function listenToKeys(): () => void {
  let first: { readonly key: string; readonly at: number } | null = null
  const onKey = (event: KeyboardEvent) => {
    const key = keyOf(event)
    if (event.defaultPrevented || event.isComposing || !isForCommand(event, key)) return
    const begun = first && event.timeStamp - first.at < sequence ? `${first.key} ${key}` : key
    first = null
    const handler = handlerOfKey(begun) ?? handlerOfKey(key)
    if (handler) {
      event.preventDefault()
      handler()
    } else if (beginnings.has(key)) first = { key, at: event.timeStamp }
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

/** Several views may use a key, each for a command of its own. */
function handlerOfKey(key: string): (() => void) | null {
  for (const { command } of byKeys.get(key) ?? []) {
    const handler = handlerOf(command)
    if (handler) return handler
  }
  return null
}

function keyOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  const name = key === ' ' ? 'Space' : key
  if (ctrlKey || metaKey) return `mod+${name.toLowerCase()}`
  return altKey && name.length > 1 ? `alt+${name}` : name
}

/** A field takes its keys itself, and so does a dialog or a button what it is pressed with. A box to tick takes Space alone. */
function isForCommand({ target }: KeyboardEvent, key: string): boolean {
  if (key.startsWith('mod+')) return true
  if (!(target instanceof HTMLElement)) return true
  if (target instanceof HTMLInputElement && target.type === 'checkbox' && !target.closest('dialog'))
    return key !== 'Space'
  if (target.closest('input, textarea, select, [contenteditable], dialog')) return false
  return !((key === 'Enter' || key === 'Space') && target.closest('a, button, summary'))
}
