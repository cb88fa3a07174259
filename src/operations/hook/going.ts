import type { Going } from '../../domain/gate/hook/brief.ts'
import type { HookSituation } from '../../domain/gate/hook/pre-tool-use.ts'
import type { Mission } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { saidLine, saidOf } from '../run/said.ts'

const mostMissions = 3
const mostHolds = 5
const mostRunsHeard = 5

/** What goes on: the missions of the open work in the tree, else the project's open ones, and what waits for a person. */
export async function whatGoesOn(reads: Reads, { attempts, runs }: HookSituation): Promise<Going> {
  const waiting = await reads.holds.list({ status: 'open' }, { limit: mostHolds })
  return {
    missions: await missionsOf(reads, { attempts, runs }),
    attempts,
    runs,
    said: await wordsAbout(reads, runs),
    holds: waiting.items.map(({ item }) => item.hold),
    moreHolds: waiting.total - waiting.items.length,
  }
}

async function missionsOf(
  reads: Reads,
  { attempts, runs }: Pick<HookSituation, 'attempts' | 'runs'>,
): Promise<readonly Mission[]> {
  const named = [
    ...attempts.map(({ attempt }) => attempt.missionId),
    ...runs.map(({ record }) => record.missionId),
  ]
  const ids = [...new Set(named.filter((id) => id !== null))].slice(0, mostMissions)
  if (ids.length > 0) {
    const found = await Promise.all(ids.map((id) => reads.missions.find(id)))
    return found.filter((mission) => mission !== null)
  }
  const open = await reads.missions.list({ limit: mostMissions, statuses: ['pending', 'in_progress'] })
  return open.items.map(({ item }) => item)
}

async function wordsAbout(
  reads: Reads,
  runs: HookSituation['runs'],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const words = new Map<string, readonly string[]>()
  for (const { record } of runs.slice(0, mostRunsHeard)) {
    words.set(record.id, (await saidOf(reads, record)).map(saidLine))
  }
  return words
}
