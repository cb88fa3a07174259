import { useQuery } from '../../live/query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'

export function View() {
  const { answer } = useQuery('inbox', { limit: 100 })
  if (answer.value === null) return null
  const { holds } = answer.value
  return (
    <div class="page-inner">
      <h1>Waiting for you</h1>
      {holds.length === 0 ? (
        <EmptyState title="What agents ask of a person appears here: approvals, blockers, files outside the scope." />
      ) : (
        holds.map((hold) => <p key={hold.hold_id}>{hold.reason}</p>)
      )}
    </div>
  )
}
