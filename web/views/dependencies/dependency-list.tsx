import { type DependencyNode, type DependencyPlan, indented } from '../../geometry/dependency-graph.ts'
import { markStatus } from '../../parts/status.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { href } from '../../router/location.ts'

/** The same as a list: each task is indented by how much has to happen before it. */
export function DependencyList({ plan }: { readonly plan: DependencyPlan }) {
  const titles = new Map(plan.nodes.map((node) => [node.id, node]))
  return (
    <div class="dependency-list">
      {indented(plan).map(({ phase, rows }) => (
        <section key={phase?.id ?? ''}>
          <h2>{phase?.name ?? 'Without a phase'}</h2>
          <ul>
            {rows.map(({ node, depth, waitsFor }) => (
              <li
                key={node.id}
                data-critical={node.critical}
                style={{ '--depth': String(Math.min(depth, 12)) }}
              >
                <StatusIcon status={markStatus(node.mark)} />
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
  return node?.title ?? 'a task elsewhere'
}
