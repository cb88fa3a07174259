import { EmptyState } from '../../parts/empty-state.tsx'
import type { ViewProps } from '../../router/routes.ts'

export function View({ params }: ViewProps) {
  return (
    <div class="page-inner">
      <h1>History</h1>
      <EmptyState title={`This view is being built. ${params['id'] ?? ''}`} />
    </div>
  )
}
