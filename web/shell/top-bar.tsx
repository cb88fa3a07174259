import { projectName, session } from '../api/session.ts'
import { KeyCap } from '../parts/key-cap.tsx'
import { crumb, place } from '../router/current.ts'
import { href } from '../router/location.ts'
import { routes } from '../router/routes.ts'
import { LiveState } from './live-state.tsx'
import { openOverlay } from './overlays.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'

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
