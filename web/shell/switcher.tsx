import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { projectName, readSession, session } from '../api/session.ts'
import { href, navigate } from '../router/location.ts'
import { Menu } from './menu.tsx'

/** The projects that the person may see. */
export function ProjectSwitcher() {
  return (
    <Menu
      class="switcher"
      button={
        <>
          {projectName()} <span aria-hidden="true">▾</span>
        </>
      }
      // Also projects that were added meanwhile.
      onOpen={() => void readSession().catch(() => undefined)}
    >
      {(close) => <Choices close={close} />}
    </Menu>
  )
}

/** Rows of the menu. */
const maxRows = 50
/** With so many projects the menu has a search field. */
const minForSearch = 8

function Choices({ close }: { readonly close: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  useLayoutEffect(() => field.current?.focus(), [])
  const current = session.value
  if (current === null || current === 'unknown person') return null
  const terms = words.toLowerCase().split(/\s+/)
  const matches = current.projects.filter(({ key, name }) =>
    terms.every((word) => `${name} ${key}`.toLowerCase().includes(word)),
  )
  const listed = matches.slice(0, maxRows)
  const chosen = Math.min(at, listed.length - 1)
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) setAt(Math.min(Math.max(chosen + by, 0), listed.length - 1))
    const target = listed[chosen]
    if (event.key === 'Enter' && target) {
      close()
      navigate(`/p/${encodeURIComponent(target.key)}/`)
    }
    if (by !== 0 || event.key === 'Enter') event.preventDefault()
  }
  const hasField = current.projects.length >= minForSearch
  return (
    <>
      {hasField ? (
        <input
          ref={field}
          class="field"
          type="search"
          placeholder="Find a project"
          aria-label="Find a project by name"
          value={words}
          onInput={({ currentTarget }) => {
            setWords(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
      ) : null}
      {listed.map(({ key, name, folder }, place) => (
        <a
          key={key}
          href={`/p/${encodeURIComponent(key)}/`}
          title={folder}
          onClick={close}
          {...(hasField && place === chosen && { 'data-chosen': '' })}
          {...(key === current.project && { 'aria-current': 'true' as const })}
        >
          <span>{name}</span> <span class="muted mono cut">{folder}</span>
        </a>
      ))}
      {matches.length === 0 ? <p class="menu-head muted">No project matches.</p> : null}
      {matches.length > maxRows ? (
        <p class="menu-head muted">{matches.length - maxRows} more. Type to narrow the list.</p>
      ) : null}
      <a class="menu-all" href={href('/projects')} onClick={close}>
        All projects
      </a>
    </>
  )
}
