import UFuzzy from '@leeoniya/ufuzzy'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { call, callByName, errorText } from '../api/call.ts'
import type { Process } from '../api/entities.ts'
import { CloneProcesses } from '../parts/clone-processes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { eventWords } from '../parts/event-words.ts'
import { KeyCap } from '../parts/key-cap.tsx'
import { RefusalMessage } from '../parts/refusal.tsx'
import { StatusIcon } from '../parts/status.tsx'
import { shortId } from '../parts/text.tsx'
import { base, href } from '../router/location.ts'
import {
  closeAndNavigate,
  type OperationRequest,
  type OverlayProps,
  openOverlay,
  takeEarlyKeys,
  takeOperation,
} from '../shell/overlays.tsx'
import { showToast } from '../shell/toasts.tsx'
import { type EntityKind, entityWords, isOpenOnly } from './entity-fields.ts'
import { type EntityOption, readEntities } from './entity-options.ts'
import { currentItems, fieldsHere, itemsOfFile, itemsOfServer, type PaletteItem } from './items.ts'
import { type Field, inputOf, jsonExample, type OperationEntry, readOperations } from './operations.ts'
import { resultLines, resultPath } from './results.ts'
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
      (entries) => setOperation(entries.find(({ name }) => name === requested.name) ?? null),
      (error: unknown) => {
        close()
        showToast({ kind: 'refused', text: errorText(error) })
      },
    )
  }, [requested])
  if (operation) return <InputForm operation={operation} request={requested} close={close} />
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
  const found = useMemo(
    () => [...findItems([...here, ...more], words), ...itemsOfFile(words)],
    [here, more, words],
  )
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
        placeholder="Missions, tasks, views, commands, a file:line"
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
      {found.length === 0 ? (
        <p class="muted found-none">
          No result for “{words}”.{' '}
          <button type="button" class="button" onClick={() => openOverlay('glossary')}>
            Open the glossary
          </button>
        </p>
      ) : null}
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
  return matches.toSorted((a, b) => rankOf(a, needle) - rankOf(b, needle)).slice(0, most)
}

/** The exact text comes first, then texts with each of the words, then what only an id or a name has. */
function rankOf({ text }: PaletteItem, needle: string): number {
  const [own, typed] = [text.toLowerCase(), needle.toLowerCase()]
  if (own === typed) return 0
  const words = own.split(/\W+/)
  return typed.split(/\s+/).every((one) => words.some((word) => word.startsWith(one))) ? 1 : 2
}

interface InputFormProps {
  readonly operation: OperationEntry
  /** What the page that opened it knows. */
  readonly request: OperationRequest | null
  readonly close: () => void
}

/** Optional fields that are not behind “More fields”. */
const mainFields: readonly string[] = ['reason', 'process_id', 'done_when.check']

/** The form of a command, by its schema. A refusal is shown beside the fields. */
function InputForm({ operation, request, close }: InputFormProps) {
  const { about, title = operation.title, verb = title, given = {}, fields: shown } = request ?? {}
  // What the page is about is chosen already.
  const here = useMemo(() => (request === null ? fieldsHere(operation) : new Map<string, string>()), [])
  const written = useRef(new Map(here))
  const chosen = useRef(about ?? null)
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const [results, setResults] = useState<readonly string[]>([])
  const asked =
    shown === undefined
      ? operation.fields.filter(({ name }) => !(name in given))
      : Object.keys(shown).flatMap((name) => operation.fields.find((field) => field.name === name) ?? [])
  const clearable = operation.fields.find(({ name }) => name === 'clear')?.choices ?? []
  const isMain = ({ name, isRequired }: Field) =>
    isRequired || shown !== undefined || mainFields.includes(name)
  const main = asked.filter(isMain)
  const more = asked.filter((field) => !isMain(field) && field.name !== 'clear')

  const run = async () => {
    setBusy(true)
    try {
      const changed = [...written.current].filter(([name, text]) => text !== (shown?.[name] ?? ''))
      const cleared = changed.flatMap(([name, text]) => (text.trim() === '' && shown?.[name] ? [name] : []))
      const input = inputOf(operation.fields, new Map([...Object.entries(given), ...changed]))
      const answer = await callByName(operation.name, {
        ...input,
        ...(cleared.length > 0 && { clear: cleared }),
      })
      const lines = resultLines(operation.name, answer)
      setBusy(false)
      if (lines.length > 0) return setResults(lines)
      const to = resultPath(operation.name, answer)
      // The page that opens shows that it is done.
      const text =
        to === null ? `${title}: done${chosen.current === null ? '' : `, “${chosen.current}”`}` : ''
      const warnings = warningsOf(answer)
      const said = [text, ...warnings].filter(Boolean).map(asClause).join('. ')
      if (said !== '') showToast({ kind: 'done', text: said }, warnings.length > 0 ? null : 5_000)
      if (to === null) close()
      else closeAndNavigate(href(to))
    } catch (error) {
      setRefusal(error)
      setBusy(false)
    }
  }
  const input = (field: Field, at: number) => (
    <FieldInput
      key={field.name}
      field={field}
      value={shown?.[field.name] ?? here.get(field.name) ?? ''}
      mustHave={field.isRequired || (Boolean(shown?.[field.name]) && !clearable.includes(field.name))}
      onlyOpen={isOpenOnly(operation.name)}
      without={request?.without ?? []}
      write={(text, name) => {
        written.current.set(field.name, text)
        if (at === 0 && name !== undefined) chosen.current = about ?? name
      }}
    />
  )
  return (
    <Dialog title={title} close={close}>
      <form
        class="input-form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        {about === undefined ? null : <p class="input-about">{about}</p>}
        <p class="muted">{request?.note ?? operation.description}</p>
        {main.map(input)}
        {more.length > 0 ? (
          <details open={main.length === 0}>
            <summary>{main.length === 0 ? 'Optional fields' : 'More fields'}</summary>
            {more.map((field) => input(field, -1))}
          </details>
        ) : null}
        {results.length === 0 ? null : (
          <ul class="input-results" aria-label="Result">
            {results.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
        <div class="input-verbs">
          {refusal === null ? null : <RefusalMessage error={refusal} />}
          <button type="submit" class="button" data-kind="primary" disabled={isBusy}>
            {verb}
          </button>
          <button type="button" class="button" onClick={close}>
            {results.length === 0 ? 'Cancel' : 'Close'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function asClause(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/** What an answer warns of. */
function warningsOf(answer: unknown): readonly string[] {
  const { warnings } = (answer ?? {}) as { readonly warnings?: readonly string[] } // of our own server
  return warnings ?? []
}

interface FieldInputProps {
  readonly field: Field
  readonly value: string
  readonly mustHave: boolean
  readonly onlyOpen: boolean
  /** Ids that are not offered. */
  readonly without: readonly string[]
  /** The value, and its name where it was chosen by one. */
  readonly write: (text: string, name?: string) => void
}

function FieldInput({ field, value, mustHave, onlyOpen, without, write }: FieldInputProps) {
  const { name, label, type, choices, longest, range, of } = field
  const [chosen, setChosen] = useState(value)
  const id = useId()
  const common = { id, name, required: mustHave, class: 'field' }
  const options =
    type === 'yes or no'
      ? [['true', 'Yes'] as const, ['false', 'No'] as const]
      : choices.map((choice) => [choice, eventWords(choice)] as const)
  return (
    <div class="input-field">
      <label for={id}>
        <b>{label}</b> {of === null ? <span class="muted">{helpOf(field)}</span> : null}
      </label>
      {of !== null ? (
        <EntityInput
          common={common}
          of={of}
          value={value}
          isList={type === 'list'}
          onlyOpen={onlyOpen}
          without={without}
          write={(text, word) => {
            setChosen(text)
            write(text, word)
          }}
        />
      ) : options.length > 0 ? (
        <select {...common} onChange={({ currentTarget }) => write(currentTarget.value)}>
          <option value="" />
          {options.map(([choice, word]) => (
            <option key={choice} value={choice} selected={choice === value}>
              {word}
            </option>
          ))}
        </select>
      ) : type === 'list' || type === 'json' || (type === 'text' && longest > 1_000) ? (
        <textarea
          {...common}
          rows={value === '' ? 2 : 4}
          defaultValue={value}
          placeholder={type === 'list' ? 'One per line' : type === 'json' ? jsonExample : ''}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          {...(type === 'number' && { type, min: range[0], max: range[1] })}
          maxLength={longest}
          defaultValue={value}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      )}
      {of === 'process' && (chosen !== '' || !mustHave) ? <ProcessNote id={chosen} /> : null}
      {name === 'process_id' ? <CloneProcesses /> : null}
    </div>
  )
}

/** What a process is for, and what it asks of people. */
function ProcessNote({ id }: { readonly id: string }) {
  const [process, setProcess] = useState<Process | null>(null)
  useEffect(() => {
    setProcess(null)
    if (id !== '') call('process_show', { process: id }).then(setProcess, () => undefined)
  }, [id])
  if (id === '') return <p class="muted">Without one, there are no steps and no approvals.</p>
  // Another one may have been chosen meanwhile.
  if (process?.process_id !== id) return null
  const people = (process.roles ?? []).filter(({ kind }) => kind === 'human')
  return (
    <p class="muted">
      {process.description}{' '}
      {people.map(({ name, description }) => `Role for a person: ${name}${roleText(description)}.`).join(' ')}
    </p>
  )
}

/** ` (decides whether it is answered)` */
function roleText(description: string | null | undefined): string {
  return description ? ` (${description.charAt(0).toLowerCase()}${description.slice(1)})` : ''
}

interface EntityInputProps extends Pick<FieldInputProps, 'onlyOpen' | 'without' | 'write'> {
  readonly common: {
    readonly id: string
    readonly name: string
    readonly required: boolean
    readonly class: string
  }
  readonly of: EntityKind
  readonly value: string
  readonly isList: boolean
}

/** Chooses by title what a command takes by id. Where the list cannot be read, the id is typed. */
function EntityInput({ common, of, value, isList, onlyOpen, without, write }: EntityInputProps) {
  const [found, setFound] = useState<readonly EntityOption[] | 'unreadable' | null>(null)
  useEffect(() => {
    readEntities(of).then(setFound, () => setFound('unreadable'))
  }, [of])
  const select = useRef<HTMLSelectElement>(null)
  // Once its options are there.
  useLayoutEffect(() => {
    if (select.current && value !== '') select.current.value = value
  }, [found])
  if (found === 'unreadable')
    return (
      <input
        {...common}
        placeholder="Id"
        defaultValue={value}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
    )
  if (found === null) return <select {...common} ref={select} aria-busy="true" />
  const offered = found.filter(({ id }) => !without.includes(id))
  const open = offered.filter(({ isOpen }) => isOpen)
  const others = onlyOpen ? [] : offered.filter(({ isOpen }) => !isOpen)
  const words = entityWords[of].toLowerCase()
  const optionOf = ({ id, name }: EntityOption) => (
    <option key={id} value={id}>
      {name}
    </option>
  )
  return (
    <select
      {...common}
      ref={select}
      multiple={isList}
      size={isList ? 4 : 1}
      onChange={({ currentTarget }) => {
        const selected = [...currentTarget.selectedOptions]
        write(selected.map(({ value }) => value).join('\n'), selected[0]?.text)
      }}
    >
      {isList ? null : (
        <option value="">
          {open.length + others.length === 0
            ? `There is no ${onlyOpen ? 'open ' : ''}${words}${of === 'phase' ? ': add one on the plan' : ''}`
            : common.required
              ? `Choose the ${words}`
              : ''}
        </option>
      )}
      {open.map(optionOf)}
      {others.length === 0 ? null : <optgroup label="Ended">{others.map(optionOf)}</optgroup>}
    </select>
  )
}

/** Its description, without what the label says already. */
function helpOf({ label, description }: Field): string {
  const [first = '', ...others] = description.split(', ')
  return first.toLowerCase() === label.toLowerCase() ? others.join(', ') : description
}
