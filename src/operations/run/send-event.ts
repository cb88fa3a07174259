import { Failure } from '../../domain/failure.ts'
import { emitterFor } from '../../domain/gate/acting.ts'
import { noFacts } from '../../domain/gate/evidence.ts'
import { type Refused, transition } from '../../domain/gate/transition.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { runCommands } from './commands/run-commands.ts'
import { type Deciding, decideEvent, repeatedEvent, type Sending, type Sent } from './decide-event.ts'
import { emissionOf } from './emission.ts'
import { engineRun } from './evidence/facts.ts'
import { readHandedIn } from './evidence/handed-in.ts'
import { gatherOutside, type Outside } from './evidence/outside.ts'
import { loadRun } from './find-run.ts'

const mostRounds = 5

/**
 * Sends an event: reads its files, gathers what its guards look at, runs the commands they ask for (waiting for them at
 * most 25 seconds), and decides in one transaction. Gathers again where the run moved meanwhile. Fails with
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function sendEvent(handling: Handling, sending: Sending): Promise<Sent> {
  for (let round = 0; round < mostRounds; round += 1) {
    const { loaded, repeated } = await handling.store.view(async (reads) => {
      const run = await loadRun(reads, sending.runId)
      return { loaded: run, repeated: await repeatedEvent(reads, run, sending) }
    })
    if (repeated) return repeated
    const outside = await gather(handling, loaded, sending)
    if (!sending.dryRun && outside.commands.length > 0) await runCommands(handling, loaded.record, outside)
    const deciding = { handling, sending: { ...sending, runId: loaded.record.id }, outside }
    const sent = sending.dryRun ? await decideDry(deciding) : await decideNow(deciding)
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

function decideNow(deciding: Deciding): Promise<Sent | 'moved'> {
  return deciding.handling.recordAside((reads, setting) => decideEvent(reads, setting, deciding))
}

async function decideDry(deciding: Deciding): Promise<Sent | 'moved'> {
  const { store, clock, ids } = deciding.handling
  const setting = { at: clock.now(), ids }
  return store.view(async (reads) => (await decideEvent(reads, setting, deciding)).answer)
}

async function gather(handling: Handling, loaded: LoadedRun, sending: Sending): Promise<Outside> {
  const { event, files } = sending.sent
  if (isRefusedEarly(handling, loaded, sending)) return nothingOutside(handling, loaded)
  const outside = await gatherOutside(handling, loaded, event, sending.approvals)
  if (files.length === 0) return outside
  return { ...outside, ...(await readHandedIn(handling, loaded.definition, files)) }
}

/** Whether something stands against an event whatever its guards say: then nothing need be gathered for it. */
function isRefusedEarly({ actor }: Handling, loaded: LoadedRun, { sent, role }: Sending): boolean {
  const { definition } = loaded
  const emitter = emitterFor(definition, sent.event, { actor, asked: role })
  const emission = { ...emissionOf(sent, { emitter, facts: noFacts, handedIn: [] }), assumed: ['*'] }
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
    changes: null,
    tree: null,
    stamps: new Map(),
    commands: [],
    handedIn: [],
    unusable: [],
    folder,
  }
}
