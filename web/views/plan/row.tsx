import type { ReadonlySignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { useFlash } from '../../parts/list.tsx'
import { markStatus, StatusIcon } from '../../parts/status.tsx'
import { shortId } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'
import type { PlanRow, PlanTaskRow } from './plan-rows.ts'

interface PlanRowProps {
  readonly row: ReadonlySignal<PlanRow>
  readonly isSelected: boolean
  readonly isRenamed: boolean
  readonly isTarget: boolean
  readonly isMovable: boolean
  readonly select: () => void
  readonly fold: () => void
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
  const { row: of, isSelected, isRenamed, isTarget, isMovable, select, fold, rename, drag } = props
  const row = of.value
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${row.name} ${row.kind === 'task' ? row.mark : ''}`)
  return (
    <li
      ref={element}
      class="plan-row"
      data-kind={row.kind}
      draggable={isMovable && row.kind !== 'milestone' && !isRenamed}
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
          <span class="count">
            {row.done} / {row.total}
          </span>
          <progress
            class="progress phase-bar"
            max={Math.max(row.total, 1)}
            value={row.done}
            aria-label="Done"
          />
          {row.mission === null ? null : <span class="muted cut">{row.mission}</span>}
        </>
      ) : row.kind === 'milestone' ? (
        <>
          <StatusIcon status={row.reached ? 'done' : 'planned'} named={false} />
          <span class="cut wide">{row.name}</span>
          <span class="muted">{row.reached ? 'reached' : 'milestone'}</span>
        </>
      ) : (
        <Task row={row} />
      )}
    </li>
  )
}

function Task({ row }: { readonly row: PlanTaskRow }) {
  const { id, name, mark, role, assignee, critical, waits } = row
  return (
    <>
      <StatusIcon status={markStatus(mark)} />
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
