import type { ReadonlySignal } from '@preact/signals'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { needsYouText } from '../../../src/inbox/domain/inbox-item.ts'
import { formatCount } from '../../../src/kernel/text.ts'
import { useFlash } from '../../parts/list.tsx'
import { markStatus, StatusIcon } from '../../parts/status.tsx'
import { shortId } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'
import type { NewTaskHome, PlanRow, PlanTaskRow } from './plan-rows.ts'

interface PlanRowProps {
  readonly row: ReadonlySignal<PlanRow>
  readonly isSelected: boolean
  readonly isRenamed: boolean
  readonly isTarget: boolean
  readonly isMovable: boolean
  readonly select: () => void
  readonly fold: () => void
  readonly loadMore: () => void
  readonly rename: (name: string | null) => void
  readonly drag: {
    readonly start: () => void
    readonly over: () => boolean
    readonly drop: () => void
    readonly end: () => void
  }
}

/** One line of the plan. */
export function Row(props: PlanRowProps) {
  const { row: of, isSelected, isRenamed, isTarget, isMovable, select, fold, loadMore, rename, drag } = props
  const row = of.value
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${row.name} ${row.kind === 'task' ? `${row.mark} ${row.failed}` : ''}`)
  return (
    <li
      ref={element}
      class="plan-row"
      data-kind={row.kind}
      draggable={isMovable && row.kind !== 'milestone' && row.kind !== 'more' && !isRenamed}
      {...(isSelected && { 'aria-current': 'true' })}
      {...(isTarget && { 'data-target': '' })}
      style={{ '--depth': String(row.kind === 'task' ? row.depth : row.kind === 'milestone' ? 1 : 0) }}
      onPointerDown={select}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', row.key)
        drag.start()
      }}
      onDragOver={(event) => {
        if (drag.over()) event.preventDefault()
      }}
      onDrop={(event) => {
        event.preventDefault()
        drag.drop()
      }}
      onDragEnd={drag.end}
    >
      {isRenamed ? (
        <NameField label={`Name of ${row.name}`} value={row.name} settle={rename} />
      ) : row.kind === 'phase' ? (
        <>
          <button type="button" class="fold" aria-expanded={!row.isFolded} onClick={fold}>
            <span aria-hidden="true">{row.isFolded ? '▸' : '▾'}</span> <b>{row.name}</b>
          </button>
          {row.total === 0 ? (
            <span class="muted">no tasks yet</span>
          ) : (
            <>
              <span class="count">
                {row.done} of {row.total} done{needsYouText(row.doneWaiting)}
              </span>
              <progress class="progress phase-bar" max={row.total} value={row.done} aria-label="Done" />
            </>
          )}
          {row.mission === null ? null : <span class="muted cut">{row.mission}</span>}
        </>
      ) : row.kind === 'milestone' ? (
        <>
          <StatusIcon status={row.reached ? 'done' : 'planned'} named={false} />
          <span class="cut wide">{row.name}</span>
          <span class="muted">{row.reached ? 'reached' : 'milestone'}</span>
        </>
      ) : row.kind === 'more' ? (
        <button type="button" class="button" data-kind="plain" onClick={loadMore}>
          {row.name}
        </button>
      ) : (
        <TaskName row={row} />
      )}
    </li>
  )
}

function TaskName({ row }: { readonly row: PlanTaskRow }) {
  const { id, name, mark, failed, needsReview, isUndone, role, assignee, critical, waits } = row
  return (
    <>
      <StatusIcon status={needsReview ? 'review' : markStatus(mark, failed)} />
      <a
        class="cut wide"
        href={href(`/tasks/${id}`)}
        draggable={false}
        {...(mark === 'dropped' && { 'data-dropped': '' })}
      >
        {name}
      </a>
      {critical ? <span class="critical">critical path</span> : null}
      <span class="muted plan-waits">
        {waits > 0
          ? `after ${formatCount(waits, 'task')}`
          : failed && mark === 'ready'
            ? 'failed'
            : needsReview
              ? 'needs review'
              : isUndone
                ? 'undone'
                : mark === 'ready' || mark === 'dropped'
                  ? mark
                  : ''}
      </span>
      <span class="muted plan-role cut">{assignee === null ? role : `for ${assignee}`}</span>
      <span class="id" title={id}>
        {shortId(id)}
      </span>
    </>
  )
}

interface NewTaskProps {
  readonly homes: readonly NewTaskHome[]
  /** The phase of the row that it is added beside. */
  readonly phase: string | null
  readonly add: (title: string, home: NewTaskHome) => void
  readonly leave: () => void
}

/** The title of a new task and where it goes. Enter adds it, and the next can be typed; Esc leaves. */
export function NewTaskFields({ homes, phase, add, leave }: NewTaskProps) {
  const row = useRef<HTMLFieldSetElement>(null)
  const title = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState(homes.find((home) => home.phase === phase) ?? homes[0])
  useLayoutEffect(() => title.current?.focus(), [])
  // Rows above it are higher where they wrap.
  useLayoutEffect(() => title.current?.scrollIntoView({ block: 'nearest' }))
  // A plan gets its first phase with its first task.
  const home =
    homes.find(({ key }) => key === chosen?.key) ??
    homes.find(({ mission }) => mission === chosen?.mission) ??
    homes[0]
  const addWritten = () => {
    const text = title.current?.value.trim() ?? ''
    if (text === '' || home === undefined) return
    add(text, home)
    if (title.current) title.current.value = ''
  }
  return (
    <fieldset
      ref={row}
      class="new-task"
      onFocusOut={({ relatedTarget }) => {
        // Between its two fields nothing is settled.
        if (relatedTarget instanceof Node && row.current?.contains(relatedTarget)) return
        addWritten()
        leave()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.isComposing) addWritten()
        if (event.key !== 'Escape') return
        if (title.current) title.current.value = ''
        leave()
      }}
    >
      <input
        ref={title}
        class="field name-field"
        aria-label="A new task"
        placeholder="A new task: Enter adds it, Esc leaves"
        maxLength={300}
      />
      {homes.length < 2 ? null : (
        <>
          <span class="muted">in</span>
          <select
            class="field"
            aria-label="Phase of the new task"
            value={home?.key}
            onChange={({ currentTarget }) => setChosen(homes.find(({ key }) => key === currentTarget.value))}
          >
            {homes.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </>
      )}
    </fieldset>
  )
}

interface NameFieldProps {
  readonly label: string
  readonly value: string
  /** The name, or null where it was left as it is. */
  readonly settle: (name: string | null) => void
}

/** Edits a name: Enter saves it; Esc or an empty name cancels. */
export function NameField({ label, value, settle }: NameFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const isSettled = useRef(false)
  // Before the next key is typed.
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
    field.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const once = (name: string | null) => {
    if (isSettled.current) return
    isSettled.current = true
    settle(name === value || name === '' ? null : name)
  }
  return (
    <input
      ref={field}
      class="field name-field"
      aria-label={label}
      placeholder={label}
      maxLength={300}
      defaultValue={value}
      onBlur={({ currentTarget }) => once(currentTarget.value.trim())}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') once(currentTarget.value.trim())
        if (key === 'Escape') once(null)
      }}
    />
  )
}
