import { useComputed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { callByName, errorText } from '../../api/call.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { type Rows, useRows } from '../../live/rows.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { FilterField, WaitingRows } from '../../parts/list.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import type { TaskMove } from '../../parts/task-moves.ts'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { showToast } from '../../shell/toasts.tsx'
import { Column } from './column.tsx'
import { type ColumnCard, columns, moveOf } from './columns.ts'
import './board.css'

/** The tasks by status, live: the ready ones, and those that agents or people work on. */
export function View() {
  const board = useQuery('board', { limit: 200 })
  const { rows, still } = useRows(
    () => {
      const answer = board.answer.value
      if (answer === null) return null
      return columns.flatMap(({ name }) =>
        answer.columns[name].map((card): ColumnCard => ({ ...card, column: name })),
      )
    },
    ({ id }) => id,
  )
  const [dragged, setDragged] = useState<ColumnCard | null>(null)
  const [moving, setMoving] = useState<ColumnCard | null>(null)
  // As text, so that a change within a column repaints one card.
  const grouped = useComputed(() => JSON.stringify(groupsOf(rows, query.value)))
  const inColumns: readonly (readonly string[])[] = JSON.parse(grouped.value)
  const selected = query.value.get('select')
  const cardOf = (id: string | null) => (id === null ? null : (rows.row(id)?.peek() ?? null))

  const run = (move: TaskMove) => {
    if ('refused' in move) return void showToast({ kind: 'refused', text: move.refused })
    callByName(move.operation, move.input).then(board.refresh, (error: unknown) =>
      showToast({ kind: 'refused', text: errorText(error) }),
    )
  }
  const step = (down: number, right: number) => () => {
    const column = inColumns.findIndex((ids) => ids.includes(selected ?? ''))
    const at = inColumns[column]?.indexOf(selected ?? '') ?? 0
    const target = right === 0 ? Math.max(column, 0) : nextNonEmptyColumn(inColumns, column, right)
    const ids = inColumns[target] ?? []
    const next = ids[Math.min(Math.max(column === -1 ? 0 : at + down, 0), ids.length - 1)]
    if (next === undefined) return
    setQuery({ select: next })
    document.getElementById(next)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  useCommands({
    next: step(1, 0),
    previous: step(-1, 0),
    left: step(0, -1),
    right: step(0, 1),
    open: () => selected && navigate(href(`/tasks/${selected}`)),
    move: () => setMoving(cardOf(selected)),
    close: () => setQuery({ select: null }),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
  })

  const { answer, failure } = board
  if (answer.value === null) return <Pending failure={failure} title="Board" />
  return (
    <div class="page-inner board-page">
      <header class="page-head">
        <h1>Board</h1>
        {answer.value.totals.blocked > 0 ? (
          <a class="muted" href={href('/plan')}>
            {formatCount(answer.value.totals.blocked, 'task')}{' '}
            {answer.value.totals.blocked === 1 ? 'waits' : 'wait'} for others
          </a>
        ) : null}
        <Filters rows={rows} />
      </header>
      {rows.order.value.length === 0 ? (
        <EmptyState title="Tasks appear here when people or agents plan them.">
          <a class="button" href={href('/plan')}>
            Open the plan
          </a>
        </EmptyState>
      ) : (
        <div class="board" {...still}>
          <WaitingRows held={rows.held} release={() => rows.hold(false)} />
          {columns.map((column, at) => (
            <Column
              key={column.name}
              column={column}
              cards={(inColumns[at] ?? []).flatMap((id) => rows.row(id) ?? [])}
              total={totalOf(column.name, inColumns[at]?.length ?? 0, answer.value?.totals)}
              selected={selected}
              dragged={dragged}
              drag={setDragged}
              run={run}
            />
          ))}
        </div>
      )}
      {moving ? <MoveDialog card={moving} close={() => setMoving(null)} run={run} /> : null}
    </div>
  )
}

/** The ids of each column that the address asks for. */
function groupsOf(rows: Rows<ColumnCard>, wanted: URLSearchParams): readonly (readonly string[])[] {
  const cards = rows.order.value
    .flatMap((id) => rows.row(id)?.value ?? [])
    .filter((card) => isWanted(card, wanted))
  return columns.map(({ name }) => cards.filter(({ column }) => column === name).map(({ id }) => id))
}

function nextNonEmptyColumn(inColumns: readonly (readonly unknown[])[], from: number, by: number): number {
  for (let at = from + by; at >= 0 && at < inColumns.length; at += by) if (inColumns[at]?.length) return at
  return Math.max(from, 0)
}

/** With a filter the number of shown cards; without one the server's total. */
function totalOf(
  column: ColumnCard['column'],
  shown: number,
  totals: { readonly ready: number; readonly active: number } | undefined,
): number {
  const isFiltered = ['words', 'agent', 'mission'].some((name) => query.value.has(name))
  if (isFiltered || column !== 'ready') return shown
  return Math.max(shown, totals?.ready ?? 0)
}

/** Whether a card fits the filters in the address: words, an agent, a mission. */
function isWanted(card: ColumnCard, wanted: URLSearchParams): boolean {
  const words = (wanted.get('words') ?? '').toLowerCase().split(/\s+/)
  const text = `${card.title} ${card.id} ${card.mission_name ?? ''} ${card.role ?? ''}`.toLowerCase()
  if (!words.every((word) => text.includes(word))) return false
  const agent = wanted.get('agent')
  if (agent !== null && card.agent_name !== agent) return false
  const mission = wanted.get('mission')
  return mission === null || (card.mission_id ?? 'plan') === mission
}

function Filters({ rows }: { readonly rows: Rows<ColumnCard> }) {
  const options = useComputed(() => JSON.stringify(optionsOf(rows)))
  const { agents, missions }: BoardFilterOptions = JSON.parse(options.value)
  return (
    <>
      <FilterField />
      <Choice name="agent" all="All agents" options={agents.map((agent) => [agent, agent])} />
      <Choice name="mission" all="All missions" options={missions} />
    </>
  )
}

interface BoardFilterOptions {
  readonly agents: readonly string[]
  readonly missions: readonly (readonly [id: string, name: string])[]
}

function optionsOf(rows: Rows<ColumnCard>): BoardFilterOptions {
  const cards = rows.order.value.flatMap((id) => rows.row(id)?.value ?? [])
  const missions = new Map(
    cards.map(({ mission_id, mission_name }) => [mission_id ?? 'plan', mission_name ?? 'The project’s plan']),
  )
  return {
    agents: [...new Set(cards.flatMap(({ agent_name }) => agent_name ?? []))].sort(),
    missions: [...missions],
  }
}

interface ChoiceProps {
  readonly name: 'agent' | 'mission'
  readonly all: string
  readonly options: readonly (readonly [value: string, word: string])[]
}

function Choice({ name, all, options }: ChoiceProps) {
  const chosen = query.value.get(name) ?? ''
  return (
    <select
      class="field"
      aria-label={`Filter by ${name}`}
      value={chosen}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
    >
      <option value="">{all}</option>
      {options.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  )
}

interface MoveDialogProps {
  readonly card: ColumnCard
  readonly close: () => void
  readonly run: (move: TaskMove) => void
}

/** Moves a card without dragging. */
function MoveDialog({ card, close, run }: MoveDialogProps) {
  return (
    <Dialog title={`Move “${card.title}”`} close={close}>
      <ul class="moves menu">
        {columns
          .filter(({ name }) => name !== card.column)
          .map(({ name, title, status }) => {
            const move = moveOf(card, name)
            return (
              <li key={name}>
                <button
                  type="button"
                  disabled={'refused' in move}
                  onClick={() => {
                    close()
                    run(move)
                  }}
                >
                  <StatusIcon status={status} named={false} /> {title}
                  <span class="muted">{'refused' in move ? move.refused : move.does}</span>
                </button>
              </li>
            )
          })}
      </ul>
    </Dialog>
  )
}
