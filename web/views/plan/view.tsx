import { signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { needsYouText } from '../../../src/inbox/domain/inbox-item.ts'
import type { InputOf, OperationName } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { MissionData, PlanPhase } from '../../api/entities.ts'
import { denialReason, isPermitted } from '../../api/session.ts'
import { bindings, type KeyCommand } from '../../keys/bindings.ts'
import { handlerOf, useCommands } from '../../keys/commands.ts'
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
  milestoneOf,
  type NewTaskHome,
  type PlanFilterMode,
  type PlanMove,
  type PlanRow,
  phaseKey,
  phaseOf,
  placeOfNew,
  planRows,
  type ShownPhase,
  stepMove,
  taskHomes,
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
  | { readonly is: 'task'; readonly phase: string | null; readonly milestone: string | null }
  | { readonly is: 'phase' }

const planSubject = { name: 'Plan', list: { path: '/plan', title: 'All open plans' } } as const

function Plan({ mission }: { readonly mission: string | null }) {
  const plan = useQuery('plan_show', mission === null ? {} : { mission })
  const missions = useQuery('list_missions', { status: 'all', limit: 100 }).answer.value?.missions ?? []
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
  const [editing, setEditing] = useState<PlanEdit | null>(() =>
    query.peek().get('add') === 'task' ? { is: 'task', phase: null, milestone: null } : null,
  )
  // A page that is loaded again does not ask again.
  useEffect(() => setQuery({ add: null }), [])
  const [dragging, setDragging] = useState<{ readonly row: PlanRow; readonly over: string | null } | null>(
    null,
  )
  const commands = useMemo(() => {
    const refresh = () => {
      plan.refresh()
      pages.refresh()
    }
    return planCommands(refresh)
  }, [plan])
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
  const moveBy = (by: 1 | -1) => letMove(() => commands.move(stepMove(now(), selected, by)))
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
      rename: () => selected !== null && setEditing({ is: 'rename', key: selected }),
    }),
    ...(isPermitted('taskman_task_add') && {
      add: () => {
        const beside = rowOf(selected ?? order.at(-1) ?? null)
        setEditing({ is: 'task', phase: phaseOf(beside), milestone: milestoneOf(beside) })
      },
    }),
    ...(isPermitted('taskman_phase_add') && { 'add phase': () => setEditing({ is: 'phase' }) }),
    ...(isPermitted('plan_move') && { 'move up': moveBy(-1), 'move down': moveBy(1) }),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
    close: () => setQuery({ select: null }),
  })

  const answer = plan.answer.value
  if (answer === null) return <Pending failure={plan.failure} subject={planSubject} />
  const homes = taskHomes(answer.phases, missions, mission)
  const settlePhase = (name: string | null) => {
    setEditing(null)
    if (name === null) return
    rows.hold(false)
    const last = phaseOf(rowOf(order.at(-1) ?? null))
    const beside = answer.phases.find(({ id }) => id === last)?.mission_id ?? null
    commands.addPhase(name, mission === null ? beside : mission === 'none' ? null : mission)
  }
  const isNew = editing !== null && editing.is !== 'rename'
  const keys = isNew
    ? order.toSpliced(editing.is === 'task' ? placeOfNew(now(), editing) : order.length, 0, 'new')
    : order
  return (
    // What the person adds is not held back.
    <div class="page-inner" {...(isNew ? {} : still)}>
      <header class="page-head">
        <h1>Plan</h1>
        {answer.tasks === 0 ? null : (
          <span class="muted">
            {answer.done} of {answer.tasks} done{needsYouText(answer.done_waiting)} · {answer.ready} ready
            {answer.critical_path.length > 0 ? ` · ${answer.critical_path.length} on the critical path` : ''}
          </span>
        )}
        <MissionChoice mission={mission} missions={missions} />
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
        <EmptyState title="Phases, milestones and tasks appear here, from people and agents." />
      ) : (
        <VirtualList
          keys={keys}
          label="The plan"
          class="full-width plan"
          selected={isNew ? 'new' : selected}
          row={(key) => {
            if (key === 'new') {
              return (
                <li key="new" class="plan-row">
                  {editing?.is === 'phase' ? (
                    <NameField label="A new phase" value="" settle={settlePhase} />
                  ) : (
                    <NewTaskFields
                      homes={homes}
                      phase={editing?.is === 'task' ? editing.phase : null}
                      add={(title, home) => {
                        rows.hold(false)
                        commands.addTask(title, home, editing?.is === 'task' ? editing : null)
                      }}
                      leave={() => setEditing(null)}
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
      <p class="full-width plan-verbs">
        <PlanButton command="add" operation="taskman_task_add" />
        <PlanButton command="add phase" operation="taskman_phase_add" />
        {selected === null ? null : (
          <>
            <PlanButton command="rename" operation="taskman_task_edit" />
            <PlanButton
              command="move up"
              operation="plan_move"
              isIdle={stepMove(now(), selected, -1) === null}
            />
            <PlanButton
              command="move down"
              operation="plan_move"
              isIdle={stepMove(now(), selected, 1) === null}
            />
          </>
        )}
      </p>
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

interface PlanButtonProps {
  readonly command: KeyCommand
  readonly operation: OperationName
  readonly isIdle?: boolean
}

/** A key of this view, for those who have none. */
function PlanButton({ command, operation, isIdle = false }: PlanButtonProps) {
  const denial = denialReason(operation)
  const { title, keys } = bindings.find((binding) => binding.command === command) ?? bindings[0]
  return (
    <button
      type="button"
      class="button"
      disabled={denial !== null || isIdle}
      title={denial ?? ''}
      onClick={() => handlerOf(command)?.()}
    >
      {title} <KeyCap keys={keys[0]} />
    </button>
  )
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

interface MissionChoiceProps {
  readonly mission: string | null
  readonly missions: readonly MissionData[]
}

/** Chooses all open plans, the project's, or a mission's. */
function MissionChoice({ mission, missions }: MissionChoiceProps) {
  if (missions.length === 0) return null
  return (
    <select
      class="field mission-choice"
      aria-label="Plan"
      value={mission ?? ''}
      onChange={({ currentTarget }) => setQuery({ mission: currentTarget.value, select: null })}
    >
      <option value="">All open plans</option>
      <option value="none">Plan of the project</option>
      {missions.map(({ mission_id, name }) => (
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
    home: NewTaskHome,
    beside: { readonly phase: string | null; readonly milestone: string | null } | null,
  ) => void
  /** To the plan of a mission, or of the project. */
  readonly addPhase: (name: string, mission: string | null) => void
}

/** The name of the phase that the first task of a plan without phases makes. */
const firstPhase = 'Tasks'

function planCommands(refresh: () => void): PlanCommands {
  const run = <Name extends OperationName>(name: Name, input: InputOf<Name>) => {
    call(name, input).then(refresh, (error: unknown) =>
      showToast({ kind: 'refused', text: errorText(error) }),
    )
  }
  const ownerOf = (mission: string | null) => (mission === null ? {} : { mission_id: mission })
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
    addTask: (title, { phase, mission }, beside) => {
      if (phase === null) {
        const tasks = [{ key: 'task', title, phase: firstPhase }]
        return run('plan_tasks', { ...ownerOf(mission), phases: [{ name: firstPhase }], tasks })
      }
      // The milestone of a row belongs to its own phase.
      const milestone = beside?.phase === phase ? beside.milestone : null
      run('taskman_task_add', { title, phase, ...(milestone !== null && { milestone }) })
    },
    addPhase: (name, mission) => run('plan_tasks', { ...ownerOf(mission), phases: [{ name }], tasks: [] }),
  }
}
