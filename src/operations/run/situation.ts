import { emitterFor } from '../../domain/gate/acting.ts'
import type { ProcessDefinition } from '../../domain/gate/definition.ts'
import type { Facts } from '../../domain/gate/evidence.ts'
import { type PossibleEvent, possibleEvents } from '../../domain/gate/possible-events.ts'
import type { Run } from '../../domain/gate/run.ts'
import type { RunRecord } from '../../domain/gate/run-record.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { engineRun, factsFor } from './evidence/facts.ts'
import { gatherOutside, type Outside } from './evidence/outside.ts'
import { findRun, loadRun } from './find-run.ts'

/** Where a run stands for whoever asks: everything that its guards look at, and what may be emitted. */
export interface RunSituation {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly loaded: LoadedRun
  readonly outside: Outside
  readonly run: Run
  readonly facts: Facts
  readonly events: readonly PossibleEvent[]
}

/** Reads where a run stands. Starts no command and writes nothing. */
export async function situationOf(handling: Handling, runId: string | undefined): Promise<RunSituation> {
  const { store, clock, fingerprint, commandRunner } = handling
  const before = await store.view(async (reads) => loadRun(reads, (await findRun(reads, runId)).id))
  const outside = await gatherOutside(handling, before, undefined)
  const isAlive = (runner: string) => commandRunner.isAlive(runner)
  const judge = async (loaded: LoadedRun): Promise<RunSituation> =>
    store.view(async (reads) => {
      const run = engineRun(loaded, outside.standings)
      const facts = await factsFor({ reads, outside, fingerprint, now: clock.now(), isAlive }, loaded)
      const { record, definition } = loaded
      return {
        record,
        definition,
        loaded,
        outside,
        run,
        facts,
        events: eventsFor(handling, { run, facts, definition }),
      }
    })
  return judge(before)
}

/** Each event in the role that whoever asks would emit it in. */
export function eventsFor(
  { actor }: Handling,
  { run, facts, definition }: Pick<RunSituation, 'run' | 'facts' | 'definition'>,
): readonly PossibleEvent[] {
  return definition.events.flatMap(({ name }) => {
    const emitter = emitterFor(definition, name, { actor })
    const seen = possibleEvents(definition, run, { payload: {}, artifacts: [], emitter, facts, assumed: [] })
    return seen.filter(({ event }) => event.name === name)
  })
}
