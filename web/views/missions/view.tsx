import { EmptyState } from '../../parts/empty-state.tsx'
import { MissionList } from '../../parts/mission-list.tsx'
import { href } from '../../router/location.ts'
import { OperationButton } from '../../shell/operation-button.tsx'

/** The open missions. */
export function View() {
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Missions</h1>
        <a class="link" href={href('/history')}>
          Ended missions
        </a>
        <OperationButton operation="start_mission">Start a mission</OperationButton>
      </header>
      <MissionList
        status="open"
        label="Open missions"
        empty={
          <EmptyState title="No mission is open. A mission appears here when an agent or a person starts it." />
        }
      />
    </div>
  )
}
