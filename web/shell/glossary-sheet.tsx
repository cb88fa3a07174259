import { Dialog } from '../parts/dialog.tsx'
import { KeyCap } from '../parts/key-cap.tsx'
import { glossary } from './glossary.ts'
import type { OverlayProps } from './overlays.tsx'
import './help-sheet.css'

/** What the words of the dashboard mean. */
export function Part({ close }: OverlayProps) {
  return (
    <Dialog title="Glossary" close={close} class="help-sheet">
      <button type="button" class="button help-close" onClick={close}>
        Close <KeyCap keys="Escape" />
      </button>
      <dl class="glossary">
        {glossary.map(({ word, meaning }) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
