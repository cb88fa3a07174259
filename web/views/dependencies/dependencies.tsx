import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { told } from '../../api/call.ts'
import { type DependencyPlan, foldedAtFirst, graphPicture } from '../../geometry/dependency-graph.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { query, setQuery } from '../../router/location.ts'
import { DependencyList } from './dependency-list.tsx'
import { Graph } from './graph.tsx'
import { GraphTools } from './graph-tools.tsx'
import './dependencies.css'

/** What waits for what: as a picture, or the same as an indented list. */
export function Dependencies({ mission }: { readonly mission?: string }) {
  const { answer, failure } = useQuery('plan_dependencies', mission === undefined ? {} : { mission })
  const plan = answer.value
  const asList = query.value.get('as') === 'list'
  useCommands({ 'as list': () => setQuery({ as: asList ? null : 'list' }) })
  if (plan === null)
    return failure.value === null ? null : (
      <Told>
        <EmptyState title={told(failure.value)} />
      </Told>
    )
  if (plan.nodes.length === 0) {
    return (
      <Told>
        <EmptyState
          title="Tasks appear here, each behind what it waits for."
          command="waymark task dep add --task-id <task> --dep-id <what it waits for>"
        />
      </Told>
    )
  }
  return <Plan plan={plan} asList={asList} />
}

function Told({ children }: { readonly children: ComponentChildren }) {
  return <div class="dependencies-told">{children}</div>
}

function Plan({ plan, asList }: { readonly plan: DependencyPlan; readonly asList: boolean }) {
  const folded = useSignal<ReadonlySet<string | null> | null>(null)
  const shown = folded.value ?? foldedAtFirst(plan)
  const fold = (phase: string | null): void => {
    const next = new Set(shown)
    if (!next.delete(phase)) next.add(phase)
    folded.value = next
  }
  const selected = query.value.get('select')
  useEffect(() => {
    // A selected task is seen, also where its phase was folded.
    const task = plan.nodes.find(({ id }) => id === selected)
    if (task && shown.has(task.phase_id)) fold(task.phase_id)
  }, [selected])
  return (
    <>
      <GraphTools plan={plan} folded={shown} fold={fold} asList={asList} />
      {asList ? <DependencyList plan={plan} /> : <Graph picture={graphPicture(plan, shown)} fold={fold} />}
    </>
  )
}
