import { Failure } from '../../domain/failure.ts'
import { emitterFor } from '../../domain/gate/acting.ts'
import { noFacts } from '../../domain/gate/evidence.ts'
import { type Refused, transition } from '../../domain/gate/transition.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { runCommands } from './commands/run-commands.ts'
import { decideEvent, type Sending, type Sent } from './decide-event.ts'
import { emissionOf } from './emission.ts'
import { engineRun } from './evidence/facts.ts'
import { gatherOutside, type Outside } from './evidence/outside.ts'
import { loadRun } from './find-run.ts'

const mostRounds = 5

/**
 * Sends an event: gathers what its guards look at, runs the commands they ask for (waiting for them at most 25 seconds),
 * and decides in one transaction. Gathers again where the run moved meanwhile. Fails with IDEMPOTENCY_KEY_REUSED.
 */
export async function sendEvent(handling: Handling, sending: Sending): Promise<Sent> {
  for (let round = 0; round < mostRounds; round += 1) {
    const loaded = await handling.store.view((reads) => loadRun(reads, sending.runId))
    const outside = isRefusedEarly(handling, loaded, sending)
      ? nothingOutside(handling, loaded)
      : await gatherOutside(handling, loaded, sending.sent.event)
    if (!sending.dryRun && outside.commands.length > 0) await runCommands(handling, loaded.record, outside)
    const sent = sending.dryRun
      ? await handling.store.view(async (reads) => {
          const setting = { at: handling.clock.now(), ids: handling.ids }
          return (await decideEvent(reads, setting, { handling, sending, outside })).answer
        })
      : await handling.recordAside((reads, setting) =>
          decideEvent(reads, setting, { handling, sending, outside }),
        )
    if (sent !== 'moved') return sent
  }
  throw new Failure(
    'CONFLICT',
    `Run ${sending.runId} moves too fast: it was never the same for long enough.`,
    {
      hint: 'Look at it with state_gate_get_state and try again.',
    },
  )
}

/** Whether something stands against an event whatever its guards say: then nothing need be gathered for it. */
function isRefusedEarly({ actor }: Handling, loaded: LoadedRun, { sent, role }: Sending): boolean {
  const { definition } = loaded
  const emitter = emitterFor(definition, sent.event, { actor, asked: role })
  const emission = { ...emissionOf(sent, { emitter, facts: noFacts }), assumed: ['*'] }
  const result = transition(definition, engineRun(loaded, new Map()), emission)
  return !result.accepted && !onlyGuards(result)
}

function onlyGuards({ code }: Refused): boolean {
  return code === 'GUARD_FAILED'
}

function nothingOutside({ folder }: Handling, { record }: LoadedRun): Outside {
  return {
    revision: record.revision,
    needs: [],
    standings: new Map(),
    openChanges: new Map(),
    tree: null,
    commands: [],
    folder,
  }
}
