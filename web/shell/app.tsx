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
import { switchTheme } from './theme.ts'
import { showToast, Toasts } from './toasts.tsx'

/** The page: the sign-in, or the bars with the current view. */
export function App() {
  useEffect(() => {
    const stops = [listenToNavigation(), listenToKeys()]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  // Each project has its own session, feed and data.
  const project = base.value
  const current = session.value
  const isUnread = current === null
  useEffect(() => (isUnread ? waitForSession() : undefined), [project, isUnread])
  if (current === 'unknown person' || signInError.value !== null)
    return <AppPage key="in" page={signInPage} load={() => import('./sign-in.tsx')} />
  if (current?.projects.length === 0)
    return <AppPage key="none" page={noProjectPage} load={() => import('./no-project.tsx')} />
  if (current !== null) return <Project key={project} />
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
    glossary: () => openOverlay('glossary'),
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

/** A change of a member changes permissions, so the session loads again. */
function followMembers(): () => void {
  return listenToFrames(({ event }) => {
    if (event.startsWith('member:')) void readSession().catch(() => undefined)
  })
}

/** A notice on every page of a project that is read-only. */
function ProjectEndNotice() {
  const ended = projectStatus.value?.ended
  return ended ? <p role="status">{ended}</p> : null
}

/** The title of the window, and the signs of stale data and an old page. */
function usePageState(): void {
  useSignalEffect(() => {
    const title = crumb.value.at(-1)?.text ?? place.value?.route.title ?? 'Waymark'
    document.title = `${title} · ${projectName()}`
  })
  useSignalEffect(() => {
    document.documentElement.toggleAttribute('data-stale', connection.value.is === 'stale')
  })
  // After a lost connection another version may be running. The page does not reload by itself.
  useSignalEffect(() => {
    const state = connection.value
    const current = session.peek()
    if (state.is !== 'live' || current === null || current === 'unknown person') return
    if (state.version === current.version) return
    const text = `This server now runs Waymark ${state.version}. Reload the page.`
    showToast({ kind: 'done', text }, 60_000)
  })
}

/** The project does not exist, or the person may not see it. */
function isElsewhere(failure: unknown): boolean {
  return failure instanceof ApiFailure && failure.status === 404
}

function OtherSignIn() {
  return (
    <p class="page-inner page-head">
      <a class="button" href="/">
        Show your projects
      </a>
      {csrf() === null ? null : (
        <button type="button" class="button" onClick={() => void logOut()}>
          Sign out
        </button>
      )}
    </p>
  )
}

/** The pages for a person who is not signed in, or has no project. */
const signInPage = signal<ComponentType | null>(null)
const noProjectPage = signal<ComponentType | null>(null)

interface PageViewProps {
  readonly page: Signal<ComponentType | null>
  readonly load: () => Promise<{ readonly Part: ComponentType }>
}

/** A page that loads when it is needed. */
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
