import { formatCount } from '../../src/kernel/text.ts'
import { projectName, session } from '../api/session.ts'
import { type ConnectionState, connection } from '../live/feed.ts'
import { Agent } from '../parts/agent.tsx'
import { clockText } from '../parts/duration.ts'
import { KeyCap } from '../parts/key-cap.tsx'
import { shortId } from '../parts/text.tsx'
import { now } from '../parts/time.tsx'
import { crumb, place } from '../router/current.ts'
import { href } from '../router/location.ts'
import { routes } from '../router/routes.ts'
import { Account } from './account.tsx'
import { openOverlay } from './overlays.tsx'
import { agents, projectStatus, useProjectStatus } from './project-status.ts'
import { ProjectSwitcher } from './switcher.tsx'

export function TopBar() {
  return (
    <header class="bar">
      <Crumbs />
      <button type="button" class="search-button" onClick={() => openOverlay('palette')}>
        <span>
          Search<span class="search-more"> or run a command</span>
        </span>
        <KeyCap keys="mod+k" />
      </button>
      <LiveState />
      <Account />
    </header>
  )
}

function Crumbs() {
  const known = session.value
  const several = known !== null && known !== 'unknown person' && known.projects.length > 1
  const route = place.value?.route
  const under = routes.find(({ name }) => name === route?.under)
  const last = crumb.value.length > 0 ? crumb.value : [{ text: route?.title ?? 'Not found' }]
  const above = under ? [{ text: under.title, href: href(under.path.split('/:')[0] ?? '/') }] : []
  const crumbs = [...above, ...last]
  return (
    <nav class="crumbs" aria-label="Where you are">
      {several ? <ProjectSwitcher /> : <a href={href('/')}>{projectName()}</a>}
      {crumbs.map(({ text, href: to }, at) => (
        <span key={text} {...(at === crumbs.length - 1 && { 'aria-current': 'page' })}>
          {to && at < crumbs.length - 1 ? <a href={to}>{text}</a> : text}
        </span>
      ))}
    </nav>
  )
}

/** Milliseconds from one breath of the dot to the next. */
const breath = 4_000

/** Whether the numbers are of now, and how many agents make them. */
function LiveState() {
  const state = connection.value
  return (
    <div class="live" data-state={state.is} role="status">
      {/* It breathes now and then: an animation that never ended would draw every frame, and delay what is new. */}
      <span key={Math.floor(now.value / breath)} class="live-dot" />
      <span class="live-word">{wordOf(state, agents.value.length)}</span>
    </div>
  )
}

function wordOf(state: ConnectionState, working: number): string {
  switch (state.is) {
    case 'connecting':
      return 'Connecting'
    case 'live':
      return working === 0 ? 'Live' : `Live · ${formatCount(working, 'agent')}`
    case 'reconnecting':
      return 'Reconnecting'
    case 'stale':
      return `As of ${clockText(state.since, now.peek())}`
  }
}

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
      <RunningCommands />
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

function RunningCommands() {
  const running = projectStatus.value?.running ?? []
  if (running.length === 0) return null
  return (
    <div class="side-running">
      <h2>
        <a href={href('/agents')}>Running now</a>
      </h2>
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
