import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Command } from './bindings.ts'

export type Handlers = Partial<Readonly<Record<Command, () => void>>>

/** What the commands do now. A view that came later answers before the one that it lies over. */
const layers = signal<readonly (() => Handlers)[]>([])

/** Says what commands do while the component is shown. */
export function useCommands(handlers: Handlers): void {
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    const layer = () => latest.current
    layers.value = [...layers.value, layer]
    return () => {
      layers.value = layers.value.filter((other) => other !== layer)
    }
  }, [])
}

/** What a command does now; null where it does nothing. */
export function handlerOf(command: Command): (() => void) | null {
  for (const layer of layers.value.toReversed()) {
    const handler = layer()[command]
    if (handler) return handler
  }
  return null
}
