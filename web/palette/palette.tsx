import UFuzzy from '@leeoniya/ufuzzy'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { callByName, errorText } from '../api/call.ts'
import { Dialog } from '../parts/dialog.tsx'
import { KeyCap } from '../parts/key-cap.tsx'
import { StatusIcon } from '../parts/status.tsx'
import { shortId } from '../parts/text.tsx'
import { closeAndNavigate, type OverlayProps, takeEarlyKeys } from '../shell/overlays.tsx'
import { showToast } from '../shell/toasts.tsx'
import { currentItems, itemsOfServer, type PaletteItem } from './items.ts'
import { type Field, inputOf, type OperationEntry } from './operations.ts'
import '../parts/form.css'
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
  const here = useMemo(currentItems, [])
  const [more, setMore] = useState<readonly PaletteItem[]>([])
  const [words, setWords] = useState(takeEarlyKeys)
  const [at, setAt] = useState(0)
  // Before the field is painted: what is typed into it later is not replaced.
  useLayoutEffect(() => field.current?.focus(), [])
  useEffect(() => {
    itemsOfServer().then(setMore, (error: unknown) => showToast({ kind: 'refused', text: errorText(error) }))
  }, [])
  const found = useMemo(() => findItems([...here, ...more], words), [here, more, words])
  const chosen = Math.min(at, found.length - 1)

  const run = (item: PaletteItem | undefined) => {
    if (!item) return
    const { does } = item
    if (does.is === 'ask') return ask(does.operation)
    if (does.is === 'go') return closeAndNavigate(does.to)
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
      {found.length === 0 ? <p class="muted found-none">Nothing has that name.</p> : null}
    </>
  )
}

const fuzzy = new UFuzzy({ intraMode: 1 })
const most = 40

/** The items that are meant, the best first. Without words: the first ones, as they are. */
function findItems(items: readonly PaletteItem[], words: string): readonly PaletteItem[] {
  const needle = words.trim()
  if (needle === '') return items.slice(0, most)
  const haystack = items.map(({ text, also }) => `${text} ${also}`)
  const [found, info, order] = fuzzy.search(haystack, needle, 1)
  if (found === null) return []
  const places = info && order ? order.map((at) => info.idx[at]) : found
  const meant = places.flatMap((at) => (at === undefined ? [] : (items[at] ?? [])))
  // What is called exactly so comes first, whatever else has the same words.
  const isNamedSo = ({ text }: PaletteItem): boolean => text.toLowerCase() === needle.toLowerCase()
  return [...meant.filter(isNamedSo), ...meant.filter((item) => !isNamedSo(item))].slice(0, most)
}

interface InputFormProps {
  readonly operation: OperationEntry
  readonly close: () => void
}

/** Asks for what a command takes, by its schema, and runs it. A refusal is shown where it can be mended. */
function InputForm({ operation, close }: InputFormProps) {
  const written = useRef(new Map<string, string>())
  const [refusal, setRefusal] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const required = operation.fields.filter(({ isRequired }) => isRequired)
  const optional = operation.fields.filter(({ isRequired }) => !isRequired)
  const write = (name: string) => (text: string) => void written.current.set(name, text)

  const run = async () => {
    setBusy(true)
    try {
      await callByName(operation.name, inputOf(operation.fields, written.current))
      showToast({ kind: 'said', text: `${operation.title}: done` })
      close()
    } catch (error) {
      setRefusal(errorText(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={operation.title} close={close}>
      <form
        class="input-form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <p class="muted">{operation.description}</p>
        {required.map((field) => (
          <FieldInput key={field.name} field={field} write={write(field.name)} />
        ))}
        {optional.length > 0 ? (
          <details open={required.length === 0}>
            <summary>{required.length === 0 ? 'What may be said' : 'More'}</summary>
            {optional.map((field) => (
              <FieldInput key={field.name} field={field} write={write(field.name)} />
            ))}
          </details>
        ) : null}
        {refusal === null ? null : (
          <p class="refusal" role="alert">
            {refusal}
          </p>
        )}
        <div class="input-verbs">
          <button type="submit" class="button" data-kind="primary" disabled={isBusy}>
            {operation.title}
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function FieldInput({ field, write }: { readonly field: Field; readonly write: (text: string) => void }) {
  const { name, description, isRequired, type, choices, longest } = field
  const options = type === 'yes or no' ? ['true', 'false'] : choices
  const id = useId()
  const common = { id, name, required: isRequired, class: 'field' }
  return (
    <div class="input-field">
      <label for={id}>
        <b>{name}</b> <span class="muted">{description}</span>
      </label>
      {options.length > 0 ? (
        <select {...common} onChange={({ currentTarget }) => write(currentTarget.value)}>
          <option value="" />
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : type === 'list' || type === 'json' || longest > 1_000 ? (
        <textarea
          {...common}
          rows={2}
          placeholder={type === 'list' ? 'One a line' : type === 'json' ? 'JSON' : ''}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={type === 'number' ? 'numeric' : 'text'}
          maxLength={longest}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      )}
    </div>
  )
}
