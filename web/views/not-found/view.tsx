import { EmptyState } from '../../parts/empty-state.tsx'
import { href, path } from '../../router/location.ts'

export function NotFound() {
  return (
    <div class="page-inner">
      <h1>Nothing is here</h1>
      <EmptyState title={`The dashboard has no view at ${path.value}.`}>
        <a class="link" href={href('/')}>
          To the inbox
        </a>
      </EmptyState>
    </div>
  )
}
