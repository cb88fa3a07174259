import type { Actor } from '../../domain/actor.ts'
import type { Happening } from '../../domain/fact.ts'
import { isForPeople } from '../../domain/gate/awaited-decision.ts'
import { eventNamed } from '../../domain/gate/definition.ts'
import type { Emission } from '../../domain/gate/emission.ts'
import { runHold } from '../../domain/gate/run-holds.ts'
import type { Tried } from '../../domain/gate/run-record.ts'
import type { Refused } from '../../domain/gate/transition.ts'
import type { Setting } from '../../domain/id.ts'
import type { Hold } from '../../domain/track/records.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Reads } from '../../ports/store.ts'
import { guardLine } from './refusal.ts'

/** How many refusals that are alike are kept while a run stays in a state, and how many of an event in all. */
const mostAlike = 20
const mostOfEvent = 200

interface Refusing {
  readonly loaded: LoadedRun
  readonly refused: Refused
  readonly emission: Emission
  readonly tried: Tried | null
  readonly by: Actor
}

/**
 * What is kept of a refused event: who was refused what and why. Where an agent asked for what only people decide, the
 * question waits for them as a hold.
 */
export async function refusedHappenings(
  reads: Reads,
  refusing: Refusing,
  setting: Setting,
): Promise<{ readonly happenings: readonly Happening[]; readonly holdId: string | null }> {
  const { loaded, refused, emission, tried, by } = refusing
  const { record, visits } = loaded
  const { code, message, missing } = refused
  const since = visits.find(({ state }) => state === record.state)?.last ?? 1
  const about = { event: emission.event, code, since }
  const alike = await reads.runs.refusalsAlike(record.id, { ...about, tried })
  const ofEvent = await reads.runs.refusalsAlike(record.id, about)
  const happenings: Happening[] = []
  if (alike < mostAlike && ofEvent < mostOfEvent) {
    happenings.push({
      kind: 'run.refused',
      runId: record.id,
      missionId: record.missionId,
      taskId: record.taskId,
      refusal: {
        runId: record.id,
        event: emission.event,
        code,
        message,
        missing: missing.map(guardLine),
        ...(tried !== null && { tried }),
        state: record.state,
        revision: record.revision,
        role: emission.emitter.role,
        by: by.name,
        at: setting.at,
      },
    })
  }
  const asked = await question(reads, refusing, setting)
  if (asked?.isNew) happenings.push({ kind: 'hold.opened', hold: asked.hold })
  return { happenings, holdId: asked?.hold.id ?? null }
}

async function question(
  reads: Reads,
  { loaded, refused, emission, by }: Refusing,
  setting: Setting,
): Promise<{ readonly hold: Hold; readonly isNew: boolean } | null> {
  const { record, definition } = loaded
  const event = eventNamed(definition, emission.event)
  if (refused.code !== 'FORBIDDEN' || by.kind === 'person' || !event || !isForPeople(definition, event))
    return null
  const open = await reads.holds.ofRun(record.id)
  const known = open.find(
    ({ request }) => request?.kind === 'decision' && request.events.includes(event.name),
  )
  if (known) return { hold: known, isNew: false }
  const { state, revision } = record
  const hold = runHold(
    record,
    {
      kind: 'approval',
      request: { kind: 'decision', state, revision, events: [event.name], approvals: [] },
      reason: `${by.name} asks for "${event.name}" of run ${record.id} (${definition.name}), which is in "${state}".`,
    },
    setting,
  )
  return { hold, isNew: true }
}
