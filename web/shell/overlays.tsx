import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { navigate, path } from '../router/location.ts'
import { showToast } from './toasts.tsx'

type OverlayName = 'palette' | 'help'

const open = signal<OverlayName | null>(null)

/** What lies over the page comes when it is first opened. */
const parts: Readonly<Record<OverlayName, () => Promise<{ readonly Part: ComponentType<OverlayProps> }>>> = {
  palette: () => import('../palette/palette.tsx'),
  help: () => import('./help-sheet.tsx'),
}

export interface OverlayProps {
  readonly close: () => void
}

export function openOverlay(overlay: OverlayName): void {
  if (open.peek() === overlay) return
  open.value = overlay
  early = ''
  window.addEventListener('keydown', bufferEarlyKey, true)
}

let early = ''

/** What is typed before there is a field for it is no key of the page. */
function bufferEarlyKey(event: KeyboardEvent): void {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  event.stopImmediatePropagation()
  early += event.key
}

/** What was typed since the overlay was opened; from now on keys go to who has the focus. */
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
        showToast({ kind: 'refused', text: 'This part could not be loaded. Reload the page.' })
      },
    )
  }, [overlay])
  const isReady = overlay !== null && part?.of === overlay
  useLayoutEffect(() => {
    // The palette has a field, and takes it.
    if (isReady && overlay !== 'palette') takeEarlyKeys()
  }, [isReady, overlay])
  if (!isReady) return null
  return <part.Part close={close} />
}

function close(): void {
  takeEarlyKeys()
  open.value = null
}

/** Goes somewhere from an overlay, and closes it. */
export function closeAndNavigate(to: string): void {
  close()
  if (to !== path.peek()) navigate(to)
}
