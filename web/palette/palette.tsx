import UFuzzy from '@leeoniya/ufuzzy'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { callByName, errorText } from '../api/call.ts'
import { Dialog } from '../parts/dialog.tsx'
import { KeyCap } from '../parts/key-cap.tsx'
import { StatusIcon } from '../parts/status.tsx'
import { shortId } from '../parts/text.tsx'
import { base } from '../router/location.ts'
import { closeAndNavigate, type OverlayProps, takeEarlyKeys, takeOperation } from '../shell/overlays.tsx'
import { showToast } from '../shell/toasts.tsx'
import { currentItems, itemsOfServer, type PaletteItem } from './items.ts'
import { type Field, inputOf, type OperationEntry, readOperations } from './operations.ts'
import '../parts/form.css'
import './palette.css'

/** Search for missions, runs, tasks, views and commands, or the form of one operation. */
export function Part({ close }: OverlayProps) {
  const requested = useMemo(takeOperation, [])
  const [operation, setOperation] = useState<OperationEntry | null>(null)
  useEffect(() => {
    if (requested === null) return
    takeEarlyKeys()
    readOperations(base.peek()).then(
      (entries) => setOperation(entries.find(({ name }) => name === requested) ?? null),
      (error: unknown) => {
        close()
        showToast({ kind: 'refused', text: errorText(error) })
      },
    )
  }, [requested])
  if (operation) return <InputForm operation={operation} close={close} />
  if (requested !== null) return null
  return (
    <Dialog title="Search or run a command" close={close} class="palette">
      <Search close={close} ask={setOperation} />
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
  // Before the field is painted, so that no typed text is replaced.
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
    // After the dialog has given the focus back.
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
      {found.length === 0 ? <p class="muted found-none">No result for “{words}”.</p> : null}
    </>
  )
}

const fuzzy = new UFuzzy({ intraMode: 1 })
const most = 40

/** The items that match, the best first. Without words: the first items. */
function findItems(items: readonly PaletteItem[], words: string): readonly PaletteItem[] {
  const needle = words.trim()
  if (needle === '') return items.slice(0, most)
  const haystack = items.map(({ text, also }) => `${text} ${also}`)
  const [found, info, order] = fuzzy.search(haystack, needle, 1)
  if (found === null) return []
  const places = info && order ? order.map((at) => info.idx[at]) : found
  const matches = places.flatMap((at) => (at === undefined ? [] : (items[at] ?? [])))
  // An exact match comes first.
  const isExact = ({ text }: PaletteItem): boolean => text.toLowerCase() === needle.toLowerCase()
  return [...matches.filter(isExact), ...matches.filter((item) => !isExact(item))].slice(0, most)
}

interface InputFormProps {
  readonly operation: OperationEntry
  readonly close: () => void
}

/** The form of a command, by its schema. A refusal is shown beside the fields. */
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
      showToast({ kind: 'done', text: `${operation.title}: done` })
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
            <summary>{required.length === 0 ? 'Optional fields' : 'More fields'}</summary>
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
          placeholder={type === 'list' ? 'One per line' : type === 'json' ? 'JSON' : ''}
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
