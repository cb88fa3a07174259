import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { errorText } from '../../api/call.ts'
import {
  type DependencyNode,
  type DependencyPlan,
  indentTasks,
  withOutside,
} from '../../geometry/dependency-graph.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, Skeleton } from '../../parts/empty-state.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { markStatus, StatusIcon } from '../../parts/status.tsx'
import { href, query, setQuery } from '../../router/location.ts'
import { Graph } from './graph.tsx'
import './dependencies.css'

/** The dependencies of all open plans. */
export function View() {
  return (
    <div class="dependencies-page">
      <h1>Dependencies</h1>
      <DependencyMap />
    </div>
  )
}

/** The dependencies of tasks, as a graph or as an indented list. */
export function DependencyMap({ mission }: { readonly mission?: string }) {
  const phase = query.value.get('phase')
  const { answer, failure } = useQuery('plan_dependencies', {
    ...(mission !== undefined && { mission }),
    ...(phase !== null && { phase }),
  })
  const plan = answer.value
  const asList = showsList()
  useCommands({ 'as list': switchView })
  if (plan === null)
    return (
      <DependencyNote>
        {failure.value === null ? <Skeleton /> : <p role="alert">{errorText(failure.value)}</p>}
      </DependencyNote>
    )
  if (plan.nodes.length === 0) {
    return (
      <DependencyNote>
        {mission === undefined ? (
          <EmptyState title="Tasks appear here with their dependencies.">
            <a class="button" href={href('/plan')}>
              Open the plan
            </a>
          </EmptyState>
        ) : (
          <EmptyState title="Tasks of this mission appear here with their dependencies.">
            <a class="button" href={href('/dependencies')}>
              See the dependencies of all plans
            </a>
          </EmptyState>
        )}
      </DependencyNote>
    )
  }
  return (
    <>
      {plan.part === null ? null : <PartChoice part={plan.part} />}
      <Plan key={plan.part?.phase ?? ''} plan={withOutside(plan)} asList={asList} />
    </>
  )
}

/** Which phase of a large plan is shown. */
function PartChoice({ part }: { readonly part: NonNullable<OutputOf<'plan_dependencies'>['part']> }) {
  const { phase, phases, shown, total } = part
  return (
    <p class="dependencies-part">
      <select
        class="field"
        aria-label="Phase"
        value={phase}
        onChange={({ currentTarget }) => setQuery({ phase: currentTarget.value, select: null })}
      >
        {phases.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        <option value="none">Outside any phase</option>
      </select>{' '}
      <span class="muted">
        {shown < total ? `the first ${shown} of ${formatCount(total, 'task')}` : formatCount(total, 'task')}
      </span>
    </p>
  )
}

const phone = matchMedia('(max-width: 760px)')

/** A phone has no room for a readable graph, so the list comes first there. */
function showsList(): boolean {
  const view = query.value.get('as')
  return view === null ? phone.matches : view === 'list'
}

function switchView(): void {
  setQuery({ as: showsList() ? 'graph' : 'list' })
}

function DependencyNote({ children }: { readonly children: ComponentChildren }) {
  return <div class="dependencies-note">{children}</div>
}

function Plan({ plan, asList }: { readonly plan: DependencyPlan; readonly asList: boolean }) {
  const folded = useSignal<ReadonlySet<string | null> | null>(null)
  const current = folded.value ?? new Set<string | null>()
  const fold = (phase: string | null): void => {
    const next = new Set(current)
    if (!next.delete(phase)) next.add(phase)
    folded.value = next
  }
  const selected = query.value.get('select')
  useEffect(() => {
    // A selected task is visible, so its phase unfolds.
    const task = plan.nodes.find(({ id }) => id === selected)
    if (task && current.has(task.phase_id)) fold(task.phase_id)
  }, [selected])
  return (
    <>
      <GraphTools plan={plan} folded={current} fold={fold} asList={asList} />
      {asList ? (
        <DependencyList plan={plan} />
      ) : (
        <Graph
          plan={plan}
          folded={folded.value}
          settle={(choice) => {
            folded.value = choice
          }}
          fold={fold}
        />
      )}
    </>
  )
}

interface GraphToolsProps {
  readonly plan: DependencyPlan
  readonly folded: ReadonlySet<string | null>
  readonly fold: (phase: string | null) => void
  readonly asList: boolean
}

/** The totals, the folded phases, and the switch between graph and list. */
function GraphTools({ plan, folded, fold, asList }: GraphToolsProps) {
  const own = plan.nodes.filter(({ outside }) => !outside)
  const others = plan.nodes.length - own.length
  const critical = own.filter((node) => node.critical).length
  const ready = own.filter((node) => node.mark === 'ready').length
  const tied = new Set(plan.edges.flatMap(({ from, to }) => [from, to]))
  const loose = plan.nodes.filter(({ id }) => !tied.has(id)).length
  const used = new Set(plan.nodes.map(({ phase_id }) => phase_id))
  const phases = plan.phases.filter(({ id }) => used.has(id))
  return (
    <div class="graph-tools" role="toolbar" aria-label="Dependencies">
      <span class="legend">
        {formatCount(own.length, 'task')}
        {loose === 0 ? '' : `, ${loose} without dependencies`}
        {others === 0 ? '' : `, ${others} outside`}
      </span>
      <span class="legend">
        <span class="legend-node" data-mark="ready" /> {ready} ready
      </span>
      {critical > 0 && (
        <span class="legend">
          <span class="legend-line" /> critical path, {formatCount(critical, 'task')}
        </span>
      )}
      {!asList && phases.length > 1 && (
        <fieldset class="phase-folds" aria-label="Phases">
          {phases.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              class="phase-fold"
              aria-pressed={!folded.has(id)}
              onClick={() => fold(id)}
            >
              {name}
            </button>
          ))}
        </fieldset>
      )}
      <button type="button" class="button push" data-kind="plain" onClick={switchView}>
        {asList ? 'Show as a graph' : 'Show as a list'} <KeyCap keys="i" />
      </button>
    </div>
  )
}

/** A list: each task is indented by the number of tasks before it. */
function DependencyList({ plan }: { readonly plan: DependencyPlan }) {
  const titles = new Map(plan.nodes.map((node) => [node.id, node]))
  return (
    <div class="dependency-list">
      {indentTasks(plan).map(({ phase, rows }) => (
        <section key={phase?.id ?? ''}>
          <h2>{phase?.name ?? 'Without a phase'}</h2>
          <ul>
            {rows.map(({ node, depth, waitsFor }) => (
              <li
                key={node.id}
                data-critical={node.critical}
                style={{ '--depth': String(Math.min(depth, 12)) }}
              >
                <StatusIcon status={markStatus(node.mark, node.failed)} />
                <a
                  class="cut"
                  {...(node.mark === 'dropped' && { 'data-dropped': '' })}
                  href={href(`/tasks/${node.id}`)}
                >
                  {node.title}
                </a>
                {node.critical && <span class="critical-word">critical</span>}
                {waitsFor.length > 0 && (
                  <span class="muted cut">
                    after {waitsFor.map((id) => titleOf(titles.get(id))).join(', ')}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function titleOf(node: DependencyNode | undefined): string {
  return node?.title ?? 'a task of another plan'
}
