import { type Signal, signal, useSignalEffect } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import {
  csrf,
  logOut,
  projectName,
  readSession,
  session,
  sessionFailure,
  signInError,
  waitForSession,
} from '../api/session.ts'
import { listenToKeys, useCommands } from '../keys/commands.ts'
import { connection, follow, listenToFrames } from '../live/feed.ts'
import { FailureMessage } from '../parts/empty-state.tsx'
import { crumb, place } from '../router/current.ts'
import { base, href, listenToNavigation, navigate } from '../router/location.ts'
import { SideBar, TopBar } from './bars.tsx'
import { Outlet } from './outlet.tsx'
import { Overlays, openOverlay } from './overlays.tsx'
import { projectStatus } from './project-status.ts'
import { showToast, Toasts } from './toasts.tsx'

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
  const known = session.value
  const isUnread = known === null
  useEffect(() => (isUnread ? waitForSession() : undefined), [project, isUnread])
  if (known === 'unknown person' || signInError.value !== null)
    return <AppPage key="in" page={signInPage} load={() => import('./sign-in.tsx')} />
  if (known?.projects.length === 0)
    return <AppPage key="none" page={noProjectPage} load={() => import('./no-project.tsx')} />
  if (known !== null) return <Project key={project} />
  return (
    <>
      <FailureMessage failure={sessionFailure} />
      {isElsewhere(sessionFailure.value) ? <OtherSignIn /> : null}
    </>
  )
}

function Project() {
  useEffect(follow, [])
  useEffect(followMembers, [])
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
    'go log': () => navigate(href('/log')),
    'go lines': () => navigate(href('/lines')),
    'go statistics': () => navigate(href('/statistics')),
    'go agents': () => navigate(href('/agents')),
    'go projects': () => navigate(href('/projects')),
    'go settings': () => navigate(href('/settings')),
  })
  const page = useRef<HTMLElement>(null)
  const path = place.value?.route.name
  useEffect(() => page.current?.focus({ preventScroll: true }), [path])
  return (
    <div class="shell">
      <TopBar />
      <SideBar />
      <main class="page" ref={page} tabIndex={-1}>
        <ProjectEndNotice />
        <Outlet />
      </main>
      <Toasts />
      <Overlays />
    </div>
  )
}

/** Who becomes a member, or another kind of one, may do other things from then on. */
function followMembers(): () => void {
  return listenToFrames(({ event }) => {
    if (event.startsWith('member:')) void readSession().catch(() => undefined)
  })
}

/** Writing ended in this project: every page says so first. */
function ProjectEndNotice() {
  const ended = projectStatus.value?.ended
  return ended ? <p role="status">{ended}</p> : null
}

/** What lies outside the page's own elements: the window's title, that numbers are old, that the page itself is. */
function usePageState(): void {
  useSignalEffect(() => {
    const shown = crumb.value.at(-1)?.text ?? place.value?.route.title ?? 'Waymark'
    document.title = `${shown} · ${projectName()}`
  })
  useSignalEffect(() => {
    document.documentElement.toggleAttribute('data-stale', connection.value.is === 'stale')
  })
  // After a lost connection another version may be serving: the page says so, and loads nothing by itself.
  useSignalEffect(() => {
    const state = connection.value
    const known = session.peek()
    if (state.is !== 'live' || known === null || known === 'unknown person') return
    if (state.version === known.version) return
    const text = `Waymark ${state.version} is serving now. Reload the page to see it.`
    showToast({ kind: 'said', text }, 60_000)
  })
}

/** There is no such project, or none that one may see. */
function isElsewhere(failure: unknown): boolean {
  return failure instanceof ApiFailure && failure.status === 404
}

function OtherSignIn() {
  return (
    <p class="page-inner page-head">
      <a class="button" href="/">
        To the projects that you may see
      </a>
      {csrf() === null ? null : (
        <button type="button" class="button" onClick={() => void logOut()}>
          Sign out
        </button>
      )}
    </p>
  )
}

/** For anyone who is not signed in, and for who is where nothing is to be seen yet. */
const signInPage = signal<ComponentType | null>(null)
const noProjectPage = signal<ComponentType | null>(null)

interface PageViewProps {
  readonly page: Signal<ComponentType | null>
  readonly load: () => Promise<{ readonly Part: ComponentType }>
}

/** A page that comes when it is needed. */
function AppPage({ page, load }: PageViewProps) {
  useEffect(() => {
    load().then(
      ({ Part }) => {
        page.value = Part
      },
      (error: unknown) => {
        sessionFailure.value = error
      },
    )
  }, [])
  const Page = page.value
  return Page ? <Page /> : <FailureMessage failure={sessionFailure} />
}

const key = 'waymark theme'

/** Switches between light and dark, from whatever is shown, and remembers it. */
function switchTheme(): void {
  const { dataset } = document.documentElement
  const shown = dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  const next = shown === 'dark' ? 'light' : 'dark'
  dataset['theme'] = next
  try {
    localStorage.setItem(key, next)
  } catch {
    // Where nothing may be kept the choice lasts as long as the page.
  }
}
