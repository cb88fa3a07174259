import type { GraphNode } from '../../geometry/dependency-graph.ts'
import type { PlacedNode } from '../../geometry/layered-layout.ts'
import { markStatus } from '../../parts/status.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { href } from '../../router/location.ts'

interface GraphNodeProps {
  readonly node: GraphNode
  readonly box: PlacedNode
  readonly selected: boolean
  readonly fold: (phase: string | null) => void
}

export const nodeSize = { width: 204, height: 34 } as const

/** A task, or a folded phase with how its tasks stand. */
export function GraphNodeBox({ node, box, selected, fold }: GraphNodeProps) {
  const place = {
    transform: `translate(${box.x - box.width / 2}px, ${box.y - box.height / 2}px)`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  }
  const current = selected && { 'aria-current': 'true' as const }
  if (node.kind === 'phase') {
    const { done, in_progress, ready, blocked } = node.marks
    const total = done + in_progress + ready + blocked
    const name = node.name ?? 'Without a phase'
    return (
      <button
        type="button"
        class="node"
        data-node={node.id}
        data-mark="phase"
        data-critical={node.critical}
        title={`${name}: unfold`}
        style={place}
        onClick={() => fold(node.id === 'phase:' ? null : node.id.slice('phase:'.length))}
        {...current}
      >
        <span class="cut">{name}</span>
        <span class="count">
          {done} / {total}
        </span>
      </button>
    )
  }
  const { task } = node
  return (
    <a
      class="node"
      data-node={node.id}
      data-mark={task.mark}
      data-critical={task.critical}
      data-colour={markStatus(task.mark)}
      title={task.title}
      style={place}
      href={href(`/tasks/${task.id}`)}
      {...current}
    >
      <StatusIcon status={markStatus(task.mark)} />
      <span class="cut" {...(task.mark === 'dropped' && { 'data-dropped': '' })}>
        {task.title}
      </span>
      {task.critical && <span class="visually-hidden">, on the critical path</span>}
    </a>
  )
}
