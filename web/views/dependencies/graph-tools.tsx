import type { DependencyPlan } from '../../geometry/dependency-graph.ts'
import { KeyCap } from '../../parts/key-cap.tsx'
import { setQuery } from '../../router/location.ts'

interface GraphToolsProps {
  readonly plan: DependencyPlan
  readonly folded: ReadonlySet<string | null>
  readonly fold: (phase: string | null) => void
  readonly asList: boolean
}

/** How much there is, which phases are folded, and the other way to see it. */
export function GraphTools({ plan, folded, fold, asList }: GraphToolsProps) {
  const critical = plan.nodes.filter((node) => node.critical).length
  const ready = plan.nodes.filter((node) => node.mark === 'ready').length
  const used = new Set(plan.nodes.map(({ phase_id }) => phase_id))
  const phases = plan.phases.filter(({ id }) => used.has(id))
  return (
    <div class="graph-tools" role="toolbar" aria-label="Dependencies">
      <span class="legend">
        <span class="legend-node" data-mark="ready" /> {ready} ready
      </span>
      <span class="legend">
        <span class="legend-line" /> critical path, {critical === 1 ? '1 task' : `${critical} tasks`}
      </span>
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
      <button
        type="button"
        class="button push"
        data-kind="plain"
        onClick={() => setQuery({ as: asList ? null : 'list' })}
      >
        {asList ? 'As a picture' : 'As a list'} <KeyCap keys="i" />
      </button>
    </div>
  )
}
