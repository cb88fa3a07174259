import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { told } from '../api/call.ts'
import { Dialog } from '../parts/dialog.tsx'
import { KeyCap } from '../parts/key-cap.tsx'
import { shortId } from '../parts/short-id.ts'
import { StatusIcon } from '../parts/status-icon.tsx'
import { leaveFor, type OverlayProps } from '../shell/overlays.tsx'
import { showToast } from '../shell/toasts.tsx'
import { findItems } from './find.ts'
import { InputForm } from './input-form.tsx'
import { type Item, itemsHere, itemsOfServer } from './items.ts'
import type { OperationEntry } from './operations.ts'
import './palette.css'

/** Search over everything that has a name, and every command; what a command still needs is asked for. */
export function Part({ close }: OverlayProps) {
  const [asked, setAsked] = useState<OperationEntry | null>(null)
  if (asked) return <InputForm operation={asked} close={close} />
  return (
    <Dialog title="Search or run a command" close={close} class="palette">
      <Search close={close} ask={setAsked} />
    </Dialog>
  )
}

interface SearchProps {
  readonly close: () => void
  readonly ask: (operation: OperationEntry) => void
}

function Search({ close, ask }: SearchProps) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const here = useMemo(itemsHere, [])
  const [more, setMore] = useState<readonly Item[]>([])
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  useEffect(() => {
    field.current?.focus()
    itemsOfServer().then(setMore, (error: unknown) => showToast({ kind: 'refused', text: told(error) }))
  }, [])
  const found = useMemo(() => findItems([...here, ...more], words), [here, more, words])
  const chosen = Math.min(at, found.length - 1)

  const run = (item: Item | undefined) => {
    if (!item) return
    const { does } = item
    if (does.is === 'ask') return ask(does.operation)
    if (does.is === 'go') return leaveFor(does.to)
    close()
    // The dialog gives the focus back first.
    setTimeout(does.run)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      const next = Math.min(Math.max(chosen + by, 0), found.length - 1)
      setAt(next)
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      run(found[chosen])
    }
  }
  return (
    <>
      <input
        ref={field}
        class="palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        aria-label="Search missions, tasks, views and commands"
        placeholder="Missions, tasks, views, commands"
        value={words}
        onInput={({ currentTarget }) => {
          setWords(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label="Found" class="found">
        {found.map((item, place) => (
          <div
            key={item.key}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            class="found-item"
            onPointerMove={() => setAt(place)}
            onClick={() => run(item)}
            onKeyDown={onKeyDown}
          >
            {item.status ? <StatusIcon status={item.status} /> : <span class="found-dot" />}
            <span class="cut wide">{item.text}</span>
            {item.keys ? <KeyCap keys={item.keys} /> : null}
            <span class="muted found-kind">{item.status ? shortId(item.also) : item.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 ? <p class="muted found-none">Nothing is called so.</p> : null}
    </>
  )
}
