import { useId, useRef } from 'preact/hooks'
import { projectName, session } from '../api/session.ts'

/** The projects that this server serves. Each is a page of its own. */
export function ProjectSwitcher() {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const known = session.value
  if (known === null || known === 'unknown person') return null
  const place = () => {
    const { left = 0, bottom = 0 } = button.current?.getBoundingClientRect() ?? {}
    list.current?.style.setProperty('left', `${left}px`)
    list.current?.style.setProperty('top', `${bottom + 4}px`)
  }
  return (
    <span>
      <button type="button" class="switcher" ref={button} popoverTarget={id} onClick={place}>
        {projectName()} <span aria-hidden="true">▾</span>
      </button>
      <div id={id} ref={list} popover="auto" class="menu">
        {known.projects.map(({ key, name, folder }) => (
          <a key={key} href={`/p/${key}/`} title={folder} onClick={() => list.current?.hidePopover()}>
            {name} <span class="muted mono cut">{folder}</span>
          </a>
        ))}
      </div>
    </span>
  )
}
