import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { navigate, path } from '../router/location.ts'
import { showToast } from './toasts.tsx'

type Overlay = 'palette' | 'help'

const open = signal<Overlay | null>(null)

/** What lies over the page comes when it is first opened. */
const parts: Readonly<Record<Overlay, () => Promise<{ readonly Part: ComponentType<OverlayProps> }>>> = {
  palette: () => import('../palette/palette.tsx'),
  help: () => import('./help-sheet.tsx'),
}

export interface OverlayProps {
  readonly close: () => void
}

export function openOverlay(overlay: Overlay): void {
  if (open.peek() === overlay) return
  open.value = overlay
  early = ''
  window.addEventListener('keydown', keepEarly, true)
}

let early = ''

/** What is typed before there is a field for it is no key of the page. */
function keepEarly(event: KeyboardEvent): void {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  event.stopImmediatePropagation()
  early += event.key
}

/** What was typed since the overlay was opened; from now on keys go to who has the focus. */
export function typedEarly(): string {
  window.removeEventListener('keydown', keepEarly, true)
  return early
}

export function Overlays() {
  const overlay = open.value
  const [part, setPart] = useState<{
    readonly of: Overlay
    readonly Part: ComponentType<OverlayProps>
  } | null>(null)
  useEffect(() => {
    if (overlay === null) return
    parts[overlay]().then(
      ({ Part }) => setPart({ of: overlay, Part }),
      () => {
        close()
        showToast({ kind: 'refused', text: 'This part could not be loaded. Reload the page.' })
      },
    )
  }, [overlay])
  const isReady = overlay !== null && part?.of === overlay
  useLayoutEffect(() => {
    // The palette has a field, and takes it.
    if (isReady && overlay !== 'palette') typedEarly()
  }, [isReady, overlay])
  if (!isReady) return null
  return <part.Part close={close} />
}

function close(): void {
  typedEarly()
  open.value = null
}

/** Goes somewhere from an overlay, and closes it. */
export function leaveFor(to: string): void {
  close()
  if (to !== path.peek()) navigate(to)
}
