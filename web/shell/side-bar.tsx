import { logOut } from '../api/session.ts'
import { Agent } from '../parts/agent.tsx'
import { shortId } from '../parts/short-id.ts'
import { place } from '../router/current.ts'
import { href } from '../router/location.ts'
import { routes } from '../router/routes.ts'
import { projectStatus, useProjectStatus } from './running.ts'

const entries = ['inbox', 'board', 'missions', 'plan', 'processes', 'history'] as const

export function SideBar() {
  useProjectStatus()
  const route = place.value?.route
  const lit = route?.under ?? route?.name
  return (
    <nav class="side" aria-label="Views">
      {entries.map((name) => {
        const entry = routes.find((known) => known.name === name)
        if (!entry) return null
        return (
          <a
            key={name}
            href={href(entry.path.split('/:')[0] ?? '/')}
            {...(lit === name && { 'aria-current': 'page' })}
          >
            {entry.title}
            <Count of={name} />
          </a>
        )
      })}
      <RunningNow />
      <button type="button" class="side-log-out" onClick={() => void logOut()}>
        Log out
      </button>
    </nav>
  )
}

function Count({ of }: { readonly of: (typeof entries)[number] }) {
  const known = projectStatus.value
  if (of === 'inbox' && known && known.waiting > 0) {
    return (
      <span class="badge">
        {known.waiting}
        <span class="visually-hidden"> waiting for you</span>
      </span>
    )
  }
  if (of === 'missions' && known && known.missions_total > 0)
    return <span class="count">{known.missions_total}</span>
  return null
}

function RunningNow() {
  const running = projectStatus.value?.running ?? []
  if (running.length === 0) return null
  return (
    <div class="side-running">
      <h2>Running now</h2>
      {running.slice(0, 12).map(({ task_id, agent_name, name, stale }) => (
        <a
          key={task_id}
          href={href(`/tasks/${task_id}`)}
          title={stale ? `${name}: silent for two hours` : name}
        >
          <Agent name={agent_name} />
          <span class="count">{stale ? 'silent' : shortId(task_id)}</span>
        </a>
      ))}
    </div>
  )
}
