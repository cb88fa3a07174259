import { EmptyState } from '../../parts/empty-state.tsx'
import { MissionList } from '../../parts/mission-list.tsx'
import { href } from '../../router/location.ts'

/** The missions that go on. */
export function View() {
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Missions</h1>
        <a class="link" href={href('/history')}>
          Ended missions
        </a>
      </header>
      <MissionList
        status="open"
        label="Open missions"
        empty={
          <EmptyState
            title="No mission is open. One appears here when an agent starts it."
            command="waymark mission start --name 'A first mission' --objective 'What must be true at the end'"
          />
        }
      />
    </div>
  )
}
