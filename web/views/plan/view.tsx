import { signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { needsYouText } from '../../../src/inbox/domain/inbox-item.ts'
import type { InputOf, OperationName } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { PlanPhase } from '../../api/entities.ts'
import { denialReason, isPermitted } from '../../api/session.ts'
import { keysOf } from '../../keys/bindings.ts'
import { useCommands } from '../../keys/commands.ts'
import { startQuery, useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { WaitingRows } from '../../parts/list.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { showToast } from '../../shell/toasts.tsx'
import {
  dropMove,
  freePhaseId,
  type PlanFilterMode,
  type PlanMove,
  type PlanRow,
  phaseKey,
  planRows,
  type ShownPhase,
  stepMove,
  unfoldPhase,
} from './plan-rows.ts'
import { NameField, NewTaskFields, Row } from './row.tsx'
import './plan.css'

/** All open plans, or one of them. */
export function View() {
  const mission = query.value.get('mission')
  return <Plan key={mission ?? ''} mission={mission} />
}

type PlanEdit =
  | { readonly is: 'rename'; readonly key: string }
  | { readonly is: 'task' | 'phase'; readonly after: string }

const planSubject = { name: 'Plan', list: { path: '/plan', title: 'All open plans' } } as const

function Plan({ mission }: { readonly mission: string | null }) {
  const plan = useQuery('plan_show', mission === null ? {} : { mission })
  const pages = usePhasePages(mission)
  const isRead = plan.answer.value !== null
  useEffect(() => {
    // Of a single phase nothing would be seen.
    const [only, ...others] = plan.answer.peek()?.phases ?? []
    if (only?.folded === true && others.length === 0) pages.load(only)
  }, [isRead, pages])
  const folded = useSignal<ReadonlySet<string>>(new Set())
  const only = useComputed(() => parseFilter(query.value.get('only')))
  const { rows, still } = useRows<PlanRow>(
    () => {
      const answer = plan.answer.value
      return (
        answer && planRows(answer.phases.map(pages.shownPhase), { folded: folded.value, only: only.value })
      )
    },
    ({ key }) => key,
  )
  const [editing, setEditing] = useState<PlanEdit | null>(null)
  const [dragging, setDragging] = useState<{ readonly row: PlanRow; readonly over: string | null } | null>(
    null,
  )
  const commands = useMemo(() => {
    const refresh = () => {
      plan.refresh()
      pages.refresh()
    }
    return planCommands(mission, refresh)
  }, [mission, plan])
  const order = rows.order.value
  const selected = query.value.get('select')
  const rowOf = (key: string | null) => (key === null ? null : (rows.row(key)?.peek() ?? null))
  const now = () => order.flatMap((key) => rowOf(key) ?? [])

  const step = (by: number) => () => {
    const next = order[Math.min(Math.max(order.indexOf(selected ?? '') + by, 0), order.length - 1)]
    if (next !== undefined) setQuery({ select: next })
  }
  const phaseWithKey = (key: string) => plan.answer.peek()?.phases.find((phase) => phaseKey(phase) === key)
  const loadMore = (row: PlanRow | null) => {
    const phase = row?.kind === 'more' ? phaseWithKey(row.phaseKey) : undefined
    if (!row || !phase) return
    // Asked for by the person, whose pointer is over the list.
    rows.hold(false)
    // The list stays where it is: a selected row would be kept in sight at the new end.
    setQuery({ select: order[order.indexOf(row.key) - 1] ?? null })
    pages.load(phase)
  }
  const fold = (key: string) => {
    const phase = phaseWithKey(key)
    if (phase?.folded === true) {
      rows.hold(false)
      if (pages.isLoaded(key)) pages.unload(key)
      else pages.load(phase)
      return
    }
    const next = new Set(folded.value)
    if (!next.delete(key)) next.add(key)
    // A fold by the person moves rows at once.
    rows.hold(false)
    folded.value = next
  }
  const letMove = (change: () => void) => () => {
    rows.hold(false)
    change()
  }
  const phaseOf = (row: PlanRow | null) => (row?.kind === 'phase' ? row.id : (row?.phase ?? null))
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => {
      const row = rowOf(selected)
      if (row?.kind === 'task') navigate(href(`/tasks/${row.id}`))
      else if (row?.kind === 'phase') fold(row.key)
      else loadMore(row)
    },
    peek: () => {
      const row = rowOf(selected)
      const phase = row?.kind === 'phase' ? row.key : phaseOf(row)
      if (phase !== null) fold(phase)
    },
    ...(isPermitted('taskman_task_edit') && {
      rename: () => selected && setEditing({ is: 'rename', key: selected }),
    }),
    ...(isPermitted('taskman_task_add') && {
      add: () => {
        const after = selected ?? order.at(-1)
        if (after !== undefined) setEditing({ is: 'task', after })
      },
    }),
    ...(isPermitted('taskman_phase_add') && {
      'add phase': () => setEditing({ is: 'phase', after: order.at(-1) ?? '' }),
    }),
    ...(isPermitted('plan_move') && {
      'move up': letMove(() => selected && commands.move(stepMove(now(), selected, -1))),
      'move down': letMove(() => selected && commands.move(stepMove(now(), selected, 1))),
    }),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
    close: () => setQuery({ select: null }),
  })

  const answer = plan.answer.value
  if (answer === null) return <Pending failure={plan.failure} subject={planSubject} />
  const settleTask = (title: string | null, phase: string) => {
    setEditing(null)
    if (editing?.is !== 'task' || title === null) return
    rows.hold(false)
    const after = rowOf(editing.after)
    // The milestone of the row belongs to its own phase.
    const milestone = phaseOf(after) === phase ? milestoneOf(after) : null
    commands.addTask(title, { phase, milestone })
  }
  const settleNew = (name: string | null) => {
    setEditing(null)
    if (editing === null || editing.is === 'rename' || name === null) return
    rows.hold(false)
    const after = rowOf(editing.after)
    const phase = phaseOf(after)
    const home = answer.phases.find(({ id }) => id === phase)?.mission_id ?? null
    commands.addPhase(name, { phases: answer.phases, home })
  }
  const keys =
    editing && editing.is !== 'rename' ? order.toSpliced(order.indexOf(editing.after) + 1, 0, 'new') : order
  return (
    <div class="page-inner" {...still}>
      <header class="page-head">
        <h1>Plan</h1>
        {answer.tasks === 0 ? null : (
          <span class="muted">
            {answer.done} of {answer.tasks} done{needsYouText(answer.done_waiting)} · {answer.ready} ready
            {answer.critical_path.length > 0 ? ` · ${answer.critical_path.length} on the critical path` : ''}
          </span>
        )}
        <MissionChoice mission={mission} />
        <OnlyChoice only={only.value} />
        <a
          class="button"
          href={href(
            mission === null || mission === 'none' ? '/dependencies' : `/missions/${mission}/dependencies`,
          )}
        >
          Dependencies
        </a>
      </header>
      <WhyNot />
      <WaitingRows held={rows.held} release={() => rows.hold(false)} />
      {answer.phases.length === 0 && editing === null ? (
        <EmptyState title="Phases, milestones and tasks appear here, from people and agents.">
          <button
            type="button"
            class="button"
            disabled={!isPermitted('taskman_phase_add')}
            title={denialReason('taskman_phase_add') ?? ''}
            onClick={() => setEditing({ is: 'phase', after: '' })}
          >
            Add a phase <KeyCap keys={keysOf('add phase')} />
          </button>
        </EmptyState>
      ) : (
        <VirtualList
          keys={keys}
          label="The plan"
          class="full-width plan"
          selected={selected}
          row={(key) => {
            if (key === 'new') {
              return (
                <li key="new" class="plan-row">
                  {editing?.is === 'phase' ? (
                    <NameField label="A new phase" value="" settle={settleNew} />
                  ) : (
                    <NewTaskFields
                      phases={answer.phases}
                      phase={editing?.is === 'task' ? phaseOf(rowOf(editing.after)) : null}
                      settle={settleTask}
                    />
                  )}
                </li>
              )
            }
            const row = rows.row(key)
            if (!row) return null
            const move = () => dragging && dropMove(dragging.row, row.peek())
            return (
              <Row
                key={key}
                row={row}
                isSelected={key === selected}
                isRenamed={editing?.is === 'rename' && editing.key === key}
                isTarget={dragging?.over === key}
                isMovable={isPermitted('plan_move')}
                select={() => setQuery({ select: key })}
                fold={() => fold(key)}
                loadMore={() => loadMore(row.peek())}
                rename={(name) => {
                  setEditing(null)
                  if (name !== null) commands.rename(row.peek(), name)
                }}
                drag={{
                  start: () => setDragging({ row: row.peek(), over: null }),
                  over: () => {
                    const isPossible = move() !== null
                    if (dragging && isPossible && dragging.over !== key)
                      setDragging({ ...dragging, over: key })
                    return isPossible
                  },
                  drop: letMove(() => commands.move(move() ?? null)),
                  end: () => setDragging(null),
                }}
              />
            )
          }}
        />
      )}
      <KeyHint />
    </div>
  )
}

interface PhasePages {
  /** The phase with the pages of it that were read. */
  readonly shownPhase: (phase: PlanPhase) => ShownPhase
  readonly isLoaded: (key: string) => boolean
  /** Reads the next page of a phase. */
  readonly load: (phase: PlanPhase) => void
  readonly unload: (key: string) => void
  readonly refresh: () => void
}

/** The unfolded phases of a large plan: their tasks are read in pages. */
function usePhasePages(mission: string | null): PhasePages {
  const pages = useMemo(() => createPhasePages(mission), [mission])
  useEffect(() => pages.stop, [pages])
  return pages
}

function createPhasePages(mission: string | null): PhasePages & { readonly stop: () => void } {
  const read = signal<ReadonlyMap<string, readonly ReturnType<typeof startQuery<'plan_show'>>[]>>(new Map())
  const unload = (key: string) => {
    const next = new Map(read.peek())
    for (const page of next.get(key) ?? []) page.stop()
    next.delete(key)
    read.value = next
  }
  return {
    shownPhase: (phase) => {
      const pages = read.value.get(phaseKey(phase))
      if (pages === undefined || phase.folded !== true) return phase
      const answers = pages.map(({ answer }) => answer.value)
      return unfoldPhase(
        phase,
        answers.map((answer) => answer?.phases[0]),
        typeof answers.at(-1)?.next_cursor === 'string',
      )
    },
    isLoaded: (key) => read.peek().has(key),
    load: (phase) => {
      const key = phaseKey(phase)
      const before = read.peek().get(key) ?? []
      const cursor = before.at(-1)?.answer.peek()?.next_cursor ?? null
      if (before.length > 0 && cursor === null) return
      const span = phase.id === null ? (phase.mission_id ?? 'none') : mission
      const page = startQuery('plan_show', {
        phase: phase.id ?? 'none',
        ...(span !== null && { mission: span }),
        ...(cursor !== null && { cursor }),
      })
      read.value = new Map(read.peek()).set(key, [...before, page])
    },
    unload,
    refresh: () => {
      for (const pages of read.peek().values()) for (const page of pages) page.refresh()
    },
    stop: () => {
      for (const key of read.peek().keys()) unload(key)
    },
  }
}

/** Why the person cannot change or reorder the plan. */
function WhyNot() {
  const adding = denialReason('taskman_task_add')
  const moving = denialReason('plan_move')
  if (adding === null && moving === null) return null
  return <p class="muted plan-why-not">{adding ?? `Cannot reorder the plan: ${moving}`}</p>
}

/** The keys of this view. */
function KeyHint() {
  const [adds, moves] = [isPermitted('taskman_task_add'), isPermitted('plan_move')]
  return (
    <p class="hint">
      {adds ? (
        <>
          <KeyCap keys="c" /> add a task · <KeyCap keys="p" /> a phase · <KeyCap keys="F2" /> rename ·{' '}
        </>
      ) : null}
      {moves ? (
        <>
          <KeyCap keys="alt+ArrowUp" /> <KeyCap keys="alt+ArrowDown" /> move ·{' '}
        </>
      ) : null}
      <KeyCap keys="Space" /> fold
    </p>
  )
}

function milestoneOf(row: PlanRow | null): string | null {
  if (row?.kind === 'milestone') return row.id
  return row?.kind === 'task' ? row.milestone : null
}

function parseFilter(word: string | null): PlanFilterMode {
  return word === 'ready' || word === 'critical' ? word : null
}

function OnlyChoice({ only }: { readonly only: PlanFilterMode }) {
  return (
    <select
      class="field"
      aria-label="Filter tasks"
      value={only ?? ''}
      onChange={({ currentTarget }) => setQuery({ only: currentTarget.value })}
    >
      <option value="">All tasks</option>
      <option value="ready">Ready only</option>
      <option value="critical">Critical path only</option>
    </select>
  )
}

/** Chooses all open plans, the project's, or a mission's. */
function MissionChoice({ mission }: { readonly mission: string | null }) {
  const missions = useQuery('list_missions', { status: 'all', limit: 100 })
  const listed = missions.answer.value?.missions ?? []
  if (listed.length === 0) return null
  return (
    <select
      class="field mission-choice"
      aria-label="Plan"
      value={mission ?? ''}
      onChange={({ currentTarget }) => setQuery({ mission: currentTarget.value, select: null })}
    >
      <option value="">All open plans</option>
      <option value="none">Plan of the project</option>
      {listed.map(({ mission_id, name }) => (
        <option key={mission_id} value={mission_id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The changes of a plan, one operation each. A toast shows a refusal. */
interface PlanCommands {
  readonly move: (move: PlanMove | null) => void
  readonly rename: (row: PlanRow, name: string) => void
  readonly addTask: (
    title: string,
    home: { readonly phase: string; readonly milestone: string | null },
  ) => void
  readonly addPhase: (name: string, place: PhaseInsertion) => void
}

interface PhaseInsertion {
  /** The phases that are shown. */
  readonly phases: readonly { readonly id: string | null }[]
  /** The mission of the phase that it comes after. */
  readonly home: string | null
}

function planCommands(mission: string | null, refresh: () => void): PlanCommands {
  const run = <Name extends OperationName>(name: Name, input: InputOf<Name>) => {
    call(name, input).then(refresh, (error: unknown) =>
      showToast({ kind: 'refused', text: errorText(error) }),
    )
  }
  return {
    move: (move) => {
      if (move) run('plan_move', move)
    },
    rename: (row, name) => {
      if (row.id === null) return
      if (row.kind === 'phase') run('taskman_phase_edit', { id: row.id, name })
      else if (row.kind === 'milestone') run('taskman_milestone_edit', { id: row.id, name })
      else run('taskman_task_edit', { id: row.id, title: name })
    },
    addTask: (title, { phase, milestone }) =>
      run('taskman_task_add', { title, phase, ...(milestone !== null && { milestone }) }),
    addPhase: (name, { phases, home }) => {
      const owner = mission === null ? home : mission === 'none' ? null : mission
      run('taskman_phase_add', {
        id: freePhaseId(phases),
        name,
        'sort-order': (phases.length + 1) * 10,
        ...(owner !== null && { mission: owner }),
      })
    },
  }
}
