import { useMemo } from 'preact/hooks'
import { Agent } from '../../../parts/agent.tsx'
import type { Status } from '../../../parts/status.ts'
import { StatusIcon } from '../../../parts/status-icon.tsx'
import { href } from '../../../router/location.ts'
import { sourceOf, type Timeline, type TimelineTask } from '../timeline/source.ts'
import './tabs.css'

/** More cards than this are counted, not drawn. */
const most = 100

const columns = [
  { standing: 'blocked', title: 'Waiting', status: 'planned' },
  { standing: 'ready', title: 'Ready', status: 'ready' },
  { standing: 'in_progress', title: 'In progress', status: 'active' },
  { standing: 'done', title: 'Done', status: 'done' },
] as const satisfies readonly { readonly standing: string; readonly title: string; readonly status: Status }[]

/** The mission's tasks by how they stand. Cards are moved on the project's board. */
export function BoardTab({ mission }: { readonly mission: Timeline }) {
  const tasks = useMemo(() => new Map(sourceOf(mission).tasks.map((task) => [task.id, task])), [mission])
  return (
    <div class="tab-page">
      <div class="mission-board">
        {columns.map(({ standing, title, status }) => {
          const inColumn = mission.tasks.filter((task) => task.standing === standing)
          return (
            <section key={standing} aria-label={title}>
              <h2>
                <StatusIcon status={status} named={false} /> {title}{' '}
                <span class="count">{inColumn.length}</span>
              </h2>
              <ul>
                {inColumn.slice(0, most).map(({ id }) => (
                  <BoardCard key={id} task={tasks.get(id)} />
                ))}
              </ul>
              {inColumn.length > most && <p class="muted">and {inColumn.length - most} more</p>}
            </section>
          )
        })}
      </div>
      <p class="tab-foot">
        <a class="link" href={href(`/board?mission=${encodeURIComponent(mission.id)}`)}>
          Move them on the board
        </a>
      </p>
    </div>
  )
}

function BoardCard({ task }: { readonly task: TimelineTask | undefined }) {
  if (!task) return null
  return (
    <li>
      <a href={href(`/tasks/${task.id}`)}>
        <span>{task.name}</span>
        <span class="board-card-foot">
          <StatusIcon status={task.status} />
          {task.agent === null ? <span class="muted">Unclaimed</span> : <Agent name={task.agent} />}
        </span>
      </a>
    </li>
  )
}
