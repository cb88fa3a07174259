import { useEffect, useState } from 'preact/hooks'
import { crumb, type Place, place } from '../router/current.ts'
import type { View } from '../router/routes.ts'
import { NotFound } from '../views/not-found/view.tsx'
import { ErrorBoundary } from './error-boundary.tsx'

const loaded = new Map<string, View>()

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
      <Loaded route={current.route} params={current.params} />
    </ErrorBoundary>
  )
}

function Loaded({ route, params }: Place) {
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
  if (failed) throw new Error('A part of the dashboard could not be loaded; it may have been built anew.')
  return Shown ? <Shown params={params} /> : null
}
