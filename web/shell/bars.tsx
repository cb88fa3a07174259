import { formatCount } from '../../src/kernel/text.ts'
import { projectName, session } from '../api/session.ts'
import { keysOf } from '../keys/bindings.ts'
import { type ConnectionState, connection } from '../live/feed.ts'
import { AgentMark } from '../parts/agent.tsx'
import { clockText } from '../parts/duration.ts'
import { KeyCap } from '../parts/key-cap.tsx'
import { now } from '../parts/time.tsx'
import { crumb, place } from '../router/current.ts'
import { href } from '../router/location.ts'
import { routes } from '../router/routes.ts'
import { Account } from './account.tsx'
import { Menu } from './menu.tsx'
import { openOverlay } from './overlays.tsx'
import { agents, projectStatus, useProjectStatus } from './project-status.ts'
import { ProjectSwitcher } from './switcher.tsx'
import { switchTheme, theme } from './theme.ts'

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
  const current = session.value
  const several = current !== null && current !== 'unknown person' && current.projects.length > 1
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

const mainViews = ['inbox', 'board', 'missions', 'plan', 'processes', 'history'] as const
const otherViews = ['statistics', 'agents', 'projects', 'settings'] as const
type ViewName = (typeof mainViews)[number] | (typeof otherViews)[number]

/** On a phone the bar has room for these; the others are in its menu. */
const phoneViews: readonly ViewName[] = ['inbox', 'board', 'missions', 'plan']
const menuViews: readonly ViewName[] = [...mainViews, ...otherViews].filter(
  (name) => !phoneViews.includes(name),
)

export function SideBar() {
  useProjectStatus()
  const current = currentEntry()
  return (
    <nav class="side" aria-label="Views">
      {mainViews.map((name) => (
        <Entry key={name} name={name} />
      ))}
      <span class="side-gap" />
      {otherViews.map((name) => (
        <Entry key={name} name={name} />
      ))}
      <Menu
        class="side-more"
        toRight
        button={<span {...(menuViews.some((name) => name === current) && { 'data-current': '' })}>More</span>}
      >
        {(close) => (
          <>
            {menuViews.map((name) => (
              <Entry key={name} name={name} onClick={close} />
            ))}
            <ThemeButton />
            <HelpButtons onClick={close} />
          </>
        )}
      </Menu>
      <RunningTasks />
      <div class="side-foot">
        <ThemeButton />
        <HelpButtons />
      </div>
    </nav>
  )
}

/** The entry of the sidebar for the view that is shown. */
function currentEntry(): string | undefined {
  const route = place.value?.route
  return route?.under ?? route?.name
}

function Entry({ name, onClick }: { readonly name: ViewName; readonly onClick?: () => void }) {
  const route = routes.find((known) => known.name === name)
  if (!route) return null
  return (
    <a
      href={href(route.path.split('/:')[0] ?? '/')}
      onClick={onClick}
      {...(!phoneViews.includes(name) && { 'data-wide': '' })}
      {...(currentEntry() === name && { 'aria-current': 'page' })}
    >
      {route.title}
      <EntryCount name={name} />
    </a>
  )
}

function ThemeButton() {
  return (
    <button type="button" onClick={switchTheme}>
      {theme.value === 'dark' ? 'Light theme' : 'Dark theme'} <KeyCap keys={keysOf('theme')} />
    </button>
  )
}

function HelpButtons({ onClick }: { readonly onClick?: () => void }) {
  const open = (overlay: 'help' | 'glossary') => () => {
    onClick?.()
    openOverlay(overlay)
  }
  return (
    <>
      <button type="button" onClick={open('glossary')}>
        Glossary{' '}
        <span>
          <KeyCap keys={keysOf('glossary')} />
        </span>
      </button>
      <button type="button" onClick={open('help')}>
        Keyboard shortcuts <KeyCap keys={keysOf('help')} />
      </button>
    </>
  )
}

function EntryCount({ name }: { readonly name: ViewName }) {
  const status = projectStatus.value
  if (name === 'inbox' && status && status.waiting > 0) {
    return (
      <span class="badge">
        {status.waiting}
        <span class="visually-hidden"> {status.waiting === 1 ? 'needs you' : 'need you'}</span>
      </span>
    )
  }
  if (name === 'missions' && status && status.missions_total > 0)
    return <span class="count">{status.missions_total}</span>
  return null
}

/** More tasks than this are on the page of agents. */
const maxRunning = 12

function RunningTasks() {
  const running = projectStatus.value?.running ?? []
  if (running.length === 0) return null
  return (
    <div class="side-running">
      <h2>
        <a href={href('/agents')}>Running now</a>
      </h2>
      {running.slice(0, maxRunning).map(({ task_id, agent_name, name, stale }) => (
        <a
          key={task_id}
          href={href(`/tasks/${task_id}`)}
          title={
            stale
              ? `${agent_name}: ${name}. No call for two hours, or its person is disabled.`
              : `${agent_name}: ${name}`
          }
        >
          <AgentMark name={agent_name} />
          <span class="visually-hidden">{agent_name}: </span>
          <span class="cut side-task">{name}</span>
          {stale ? <span class="count">stale</span> : null}
        </a>
      ))}
    </div>
  )
}
