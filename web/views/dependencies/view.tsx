import type { ViewProps } from '../../router/routes.ts'
import { Dependencies } from './dependencies.tsx'

/** The dependencies of the project's own plan. */
export function View(_: ViewProps) {
  return (
    <div class="dependencies-page">
      <h1>Dependencies</h1>
      <Dependencies />
    </div>
  )
}
