import type { Cast } from './cast.ts'
import { findCircles, passAtLast } from './circles.ts'
import type { Agent } from './client.ts'
import { startGated } from './gated-mission.ts'
import { explore, nameHappenings } from './plan-beginning.ts'
import { orderWork } from './plan-order.ts'

/** A mission gated by a process: explored, planned, built, refused, reworked; its tests are run by the server. */
export async function planMission(
  cast: Cast,
  cleo: Agent,
  meanwhile: (missionId: string) => void,
): Promise<void> {
  const mission = await startGated(cleo, 'cleo', {
    name: 'Plans with dependencies',
    objective: 'A plan knows what is ready, what waits for what, and which chain is the longest.',
    profile: 'complex',
    scope: 'src/domain/plan/, test/',
    process_id: 'feature',
    process_context: { request: 'plans with dependencies' },
  })
  await explore(cast, cleo, mission)
  await nameHappenings(cast, cleo, mission)
  meanwhile(mission.id)
  await cast.think(12)
  await findCircles(cast, cleo, mission)
  await passAtLast(cast, cleo, mission)
  await orderWork(cast, cleo, mission)
}
