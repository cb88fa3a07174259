import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { logOut, projectName, session, sessionFailure, untilSession } from '../api/session.ts'
import { useCommands } from '../keys/commands.ts'
import { listenToKeys } from '../keys/dispatcher.ts'
import { connection, follow } from '../live/connection.ts'
import { Failed } from '../parts/failed.tsx'
import { crumb, place } from '../router/current.ts'
import { base, href, listenToNavigation, navigate } from '../router/location.ts'
import { BuiltAnew } from './built-anew.tsx'
import { LogIn } from './log-in.tsx'
import { Outlet } from './outlet.tsx'
import { Overlays, openOverlay } from './overlays.tsx'
import { SideBar } from './side-bar.tsx'
import { switchTheme } from './theme.ts'
import { Toasts } from './toasts.tsx'
import { TopBar } from './top-bar.tsx'

/** The page: who is not logged in is told how; the rest is a bar, a list of views, and the view. */
export function App() {
  useEffect(() => {
    const stops = [listenToNavigation(), listenToKeys()]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  // Another project is another page: its session, its feed, its answers.
  const project = base.value
  useEffect(untilSession, [project])
  const known = session.value
  if (known === 'unknown person') return <LogIn />
  return known === null ? <Failed failure={sessionFailure} /> : <Project key={project} />
}

function Project() {
  useEffect(follow, [])
  usePageState()
  useCommands({
    palette: () => openOverlay('palette'),
    help: () => openOverlay('help'),
    theme: switchTheme,
    'log out': () => void logOut(),
    'go inbox': () => navigate(href('/')),
    'go board': () => navigate(href('/board')),
    'go missions': () => navigate(href('/missions')),
    'go plan': () => navigate(href('/plan')),
    'go dependencies': () => navigate(href('/dependencies')),
    'go processes': () => navigate(href('/processes')),
    'go history': () => navigate(href('/history')),
    'go journal': () => navigate(href('/journal')),
  })
  const page = useRef<HTMLElement>(null)
  const path = place.value?.route.name
  useEffect(() => page.current?.focus({ preventScroll: true }), [path])
  return (
    <div class="shell">
      <TopBar />
      <SideBar />
      <main class="page" ref={page} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      <Overlays />
      <BuiltAnew />
    </div>
  )
}

/** What lies outside the page's own elements: the window's title, and that numbers are old. */
function usePageState(): void {
  useSignalEffect(() => {
    const shown = crumb.value.at(-1)?.text ?? place.value?.route.title ?? 'Waymark'
    document.title = `${shown} · ${projectName()}`
  })
  useSignalEffect(() => {
    document.documentElement.toggleAttribute('data-stale', connection.value.is === 'stale')
  })
}
