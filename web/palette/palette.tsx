import { Dialog } from '../parts/dialog.tsx'
import type { OverlayProps } from '../shell/overlays.tsx'

export function Part({ close }: OverlayProps) {
  return (
    <Dialog title="Search or run a command" close={close}>
      <p />
    </Dialog>
  )
}
