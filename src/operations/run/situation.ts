import { emitterFor } from '../../domain/gate/acting.ts'
import type { ProcessDefinition } from '../../domain/gate/definition.ts'
import type { Emission } from '../../domain/gate/emission.ts'
import { type Facts, noFacts } from '../../domain/gate/evidence.ts'
import { type PossibleEvent, possibleEvent } from '../../domain/gate/possible-events.ts'
import type { Run } from '../../domain/gate/run.ts'
import type { RunRecord } from '../../domain/gate/run-record.ts'
import type { Hold } from '../../domain/track/records.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { engineRun, factsFor, restsOnFacts } from './evidence/facts.ts'
import { gatherOutside, type Outside } from './evidence/outside.ts'
import { loadRun } from './find-run.ts'
import { type Said, saidOf } from './said.ts'

/** Where a run stands for whoever asks: everything that its guards look at, and what may be emitted. */
export interface RunSituation {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly loaded: LoadedRun
  readonly outside: Outside
  readonly run: Run
  readonly facts: Facts
  readonly events: readonly PossibleEvent[]
  /** What of it waits for a person. */
  readonly holds: readonly Hold[]
  /** What people said about it last. */
  readonly said: readonly Said[]
  /** What an event rests on when whoever asks emits it now, with nothing in its payload. */
  readonly emissionOf: (event: string) => Omit<Emission, 'event' | 'expectedRevision'>
}

/** Reads where a run stands. Starts no command and writes nothing. */
export async function situationOf(handling: Handling, runId: string | undefined): Promise<RunSituation> {
  const { store, clock, fingerprint, commandRunner } = handling
  const { loaded, holds, said } = await store.view(async (reads) => {
    const found = await loadRun(reads, runId)
    return {
      loaded: found,
      holds: await reads.holds.ofRun(found.record.id),
      said: await saidOf(reads, found.record),
    }
  })
  const outside = await gatherOutside(handling, loaded, undefined)
  const by = handling.actor
  const isAlive = (runner: string) => commandRunner.isAlive(runner)
  const facts = restsOnFacts(outside)
    ? await store.view((reads) =>
        factsFor({ reads, outside, fingerprint, now: clock.now(), by, isAlive }, loaded),
      )
    : noFacts
  const { record, definition } = loaded
  const run = engineRun(loaded, outside.standings)
  const emissionOf = emissionsBy(handling, { facts, definition })
  const events = eventsFor(handling, { run, facts, definition })
  return { record, definition, loaded, outside, run, facts, events, holds, said, emissionOf }
}

/** Each event in the role that whoever asks would emit it in. */
export function eventsFor(
  handling: Handling,
  { run, facts, definition }: Pick<RunSituation, 'run' | 'facts' | 'definition'>,
): readonly PossibleEvent[] {
  const emissionOf = emissionsBy(handling, { facts, definition })
  return definition.events.map((event) =>
    possibleEvent(definition, run, { event, situation: emissionOf(event.name) }),
  )
}

function emissionsBy(
  { actor }: Handling,
  { facts, definition }: Pick<RunSituation, 'facts' | 'definition'>,
): RunSituation['emissionOf'] {
  return (event) => {
    const emitter = emitterFor(definition, event, { actor })
    return { payload: {}, artifacts: [], emitter, facts, assumed: [] }
  }
}
