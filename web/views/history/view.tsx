import { EmptyState } from '../../parts/empty-state.tsx'
import { MissionList } from '../../parts/mission-list.tsx'
import { href } from '../../router/location.ts'

/** What has ended. */
export function View() {
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>History</h1>
        <a class="link" href={href('/journal')}>
          The whole journal
        </a>
      </header>
      <MissionList
        status="ended"
        label="Ended missions"
        empty={
          <EmptyState
            title="Missions appear here once they have ended."
            command="waymark mission complete <id> --status completed --summary 'What was reached'"
          />
        }
      />
    </div>
  )
}
