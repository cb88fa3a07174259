import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { navigate, path } from '../router/location.ts'
import { showToast } from './toasts.tsx'

type OverlayName = 'palette' | 'help' | 'glossary'

const open = signal<OverlayName | null>(null)

/** The code of an overlay loads when it first opens. */
const parts: Readonly<Record<OverlayName, () => Promise<{ readonly Part: ComponentType<OverlayProps> }>>> = {
  palette: () => import('../palette/palette.tsx'),
  help: () => import('./help-sheet.tsx'),
  glossary: () => import('./glossary-sheet.tsx'),
}

export interface OverlayProps {
  readonly close: () => void
}

/** An operation whose form is opened. */
export interface OperationRequest {
  readonly name: string
  /** What it is about, as its page calls it. */
  readonly about?: string
  /** The name of the form where the page knows a better one than the operation. */
  readonly title?: string
  /** What to know before, in place of the operation's description. */
  readonly note?: string
  /** What its button says, if it is not the name. */
  readonly verb?: string
  /** Ids that no field offers. */
  readonly without?: readonly string[]
  /** Input that the page gives: the form does not ask for it. */
  readonly given?: Readonly<Record<string, string>>
  /** The fields that the form shows, in this order, with their present values; all of the operation without it. */
  readonly fields?: Readonly<Record<string, string>>
}

let requested: OperationRequest | null = null

/** Opens the form of an operation. */
export function openOperation(request: OperationRequest): void {
  requested = request
  openOverlay('palette')
}

/** The operation whose form the palette opens with, once. */
export function takeOperation(): OperationRequest | null {
  const request = requested
  requested = null
  return request
}

export function openOverlay(overlay: OverlayName): void {
  if (open.peek() === overlay) return
  open.value = overlay
  early = ''
  window.addEventListener('keydown', bufferEarlyKey, true)
}

let early = ''

/** Keeps the keys that are typed before the palette has a field for them. */
function bufferEarlyKey(event: KeyboardEvent): void {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  event.stopImmediatePropagation()
  early += event.key
}

/** The text that was typed since the overlay opened. From now on keys go to the focused element. */
export function takeEarlyKeys(): string {
  window.removeEventListener('keydown', bufferEarlyKey, true)
  return early
}

export function Overlays() {
  const overlay = open.value
  const [part, setPart] = useState<{
    readonly of: OverlayName
    readonly Part: ComponentType<OverlayProps>
  } | null>(null)
  useEffect(() => {
    if (overlay === null) return
    parts[overlay]().then(
      ({ Part }) => setPart({ of: overlay, Part }),
      () => {
        close()
        showToast({ kind: 'refused', text: 'Cannot load this part. Reload the page.' })
      },
    )
  }, [overlay])
  // What is open belongs to this project's page: another one begins without it.
  useLayoutEffect(() => close, [])
  const isReady = overlay !== null && part?.of === overlay
  useLayoutEffect(() => {
    // The palette takes the keys itself, for its field.
    if (isReady && overlay !== 'palette') takeEarlyKeys()
  }, [isReady, overlay])
  if (!isReady) return null
  return <part.Part close={close} />
}

function close(): void {
  takeEarlyKeys()
  open.value = null
}

/** Closes the overlay and opens another page. */
export function closeAndNavigate(to: string): void {
  close()
  if (to !== path.peek()) navigate(to)
}
