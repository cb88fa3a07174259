import { Component, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { errorText } from '../api/call.ts'
import { EmptyState, Skeleton } from '../parts/empty-state.tsx'
import { crumb, place, type RouteMatch } from '../router/current.ts'
import { href, path } from '../router/location.ts'
import type { RouteView } from '../router/routes.ts'

const loaded = new Map<string, RouteView>()

/** The view of the address. */
export function Outlet() {
  const current = place.value
  const name = current?.route.name ?? ''
  useEffect(() => {
    crumb.value = []
  }, [name])
  if (!current) return <NotFound />
  // Another mission is another view: nothing of the one before stays.
  return (
    <ErrorBoundary key={`${name} ${current.params['id'] ?? ''}`}>
      <LoadedPage route={current.route} params={current.params} />
    </ErrorBoundary>
  )
}

function LoadedPage({ route, params }: RouteMatch) {
  const [, redraw] = useState(0)
  const [failed, setFailed] = useState(false)
  const Shown = route.view ?? loaded.get(route.name)
  useEffect(() => {
    if (Shown || !route.load) return
    route.load().then(
      ({ View }) => {
        loaded.set(route.name, View)
        redraw((count) => count + 1)
      },
      () => setFailed(true),
    )
  }, [route, Shown])
  if (failed)
    throw new Error(
      'A part of the dashboard could not be loaded. Waymark may have been updated: reload the page.',
    )
  return Shown ? <Shown params={params} /> : <Skeleton title={route.title} />
}

interface OutletProps {
  readonly children: ComponentChildren
}

interface OutletState {
  readonly error: unknown
}

/** A view that breaks says so in its own place; the rest of the page goes on. */
class ErrorBoundary extends Component<OutletProps, OutletState> {
  override state: OutletState = { error: null }

  static override getDerivedStateFromError(error: unknown): OutletState {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return (
      <div class="page-inner" role="alert">
        <h1>This view failed</h1>
        <p class="muted">{errorText(this.state.error)}</p>
        <p>
          <button type="button" class="button" onClick={() => this.setState({ error: null })}>
            Try again
          </button>{' '}
          <button type="button" class="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </p>
      </div>
    )
  }
}

function NotFound() {
  return (
    <div class="page-inner">
      <h1>Page not found</h1>
      <EmptyState title={`The dashboard has no page at ${path.value}.`}>
        <a class="button" href={href('/')}>
          Inbox
        </a>
      </EmptyState>
    </div>
  )
}
