import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
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
  open.value = overlay
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
        open.value = null
        showToast({ kind: 'refused', text: 'This part could not be loaded. Reload the page.' })
      },
    )
  }, [overlay])
  if (overlay === null || part?.of !== overlay) return null
  return <part.Part close={close} />
}

function close(): void {
  open.value = null
}

/** Goes somewhere from an overlay, and closes it. */
export function leaveFor(to: string): void {
  close()
  if (to !== path.peek()) navigate(to)
}
