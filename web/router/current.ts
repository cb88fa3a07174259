import { computed, signal } from '@preact/signals'
import { path } from './location.ts'
import { matchPath, type Params } from './match.ts'
import { type Route, routes } from './routes.ts'

export interface RouteMatch {
  readonly route: Route
  readonly params: Params
}

/** The route that is shown; null where no view has this address. */
export const place = computed((): RouteMatch | null => {
  for (const route of routes) {
    const params = matchPath(route.path, path.value)
    if (params) return { route, params }
  }
  return null
})

/** What a view calls the thing it shows: the last crumb. Empty for the route's own title. */
export const crumb = signal<readonly Crumb[]>([])

interface Crumb {
  readonly text: string
  readonly href?: string
}
