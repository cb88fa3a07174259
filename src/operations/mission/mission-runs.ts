import { lossWords } from '../../domain/gate/forbids.ts'
import type { Mission } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { saidOf } from '../run/said.ts'

const mostRuns = 5

/** The runs that gate a mission, newest first, and what a completed mission was completed in spite of. */
export async function missionRuns(
  { runs, holds }: Pick<Reads, 'runs' | 'holds'>,
  { id, status }: Pick<Mission, 'id' | 'status'>,
) {
  const page = await runs.list({ missionId: id }, { limit: mostRuns })
  const said = await Promise.all(page.items.map(({ item }) => saidOf({ runs, holds }, item)))
  const lost = status === 'completed' ? await runs.lost(id) : []
  return {
    runs: page.items.map(({ item }, place) => ({
      run_id: item.id,
      process_id: item.process.id,
      status: item.status,
      current_state: item.state,
      ...((said[place]?.length ?? 0) > 0 && { said: said[place] }),
    })),
    runs_total: page.total,
    completed_despite: lost.slice(0, mostRuns).map(lossWords),
  }
}
