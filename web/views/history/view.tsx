import { EmptyState } from '../../parts/empty-state.tsx'
import { MissionList } from '../../parts/mission-list.tsx'
import { href, query } from '../../router/location.ts'
import { RunList } from './run-list.tsx'

/** What has ended. */
export function View() {
  const of = query.value.get('of') === 'runs' ? 'runs' : 'missions'
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>History</h1>
        <a class="link" href={href('/journal')}>
          The whole journal
        </a>
      </header>
      <nav class="tabs history-tabs" aria-label="What has ended">
        <a href={href('/history')} {...(of === 'missions' && { 'aria-current': 'page' })}>
          Missions
        </a>
        <a href={href('/history?of=runs')} {...(of === 'runs' && { 'aria-current': 'page' })}>
          Runs
        </a>
      </nav>
      {of === 'runs' ? (
        <RunList />
      ) : (
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
      )}
    </div>
  )
}
