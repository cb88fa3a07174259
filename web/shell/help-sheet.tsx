import { bindings } from '../keys/bindings.ts'
import { Dialog } from '../parts/dialog.tsx'
import { KeyCap } from '../parts/key-cap.tsx'
import type { OverlayProps } from './overlays.tsx'
import './help-sheet.css'

/** Every key, by group. */
export function Part({ close }: OverlayProps) {
  const groups = Map.groupBy(bindings, ({ group }) => group)
  return (
    <Dialog title="Keyboard shortcuts" close={close} class="help-sheet">
      <button type="button" class="button help-close" onClick={close}>
        Close <KeyCap keys="Escape" />
      </button>
      <div class="help-groups">
        {[...groups].map(([group, commands]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {commands.map(({ command, keys, title }) => (
                <div key={command}>
                  <dt>{title}</dt>
                  <dd>
                    {keys.map((key) => (
                      <KeyCap key={key} keys={key} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
