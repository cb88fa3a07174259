import { identityOf } from '../../domain/actor.ts'
import { excerpt } from '../../domain/budget.ts'
import { Failure } from '../../domain/failure.ts'
import { emitterFor } from '../../domain/gate/acting.ts'
import { advanceRun } from '../../domain/gate/advance-run.ts'
import type { Emission } from '../../domain/gate/emission.ts'
import type { EmissionRepeat } from '../../domain/gate/happening.ts'
import type { RunApproval, RunRecord, Tried } from '../../domain/gate/run-record.ts'
import { type Accepted, type Refused, transition } from '../../domain/gate/transition.ts'
import type { Setting } from '../../domain/id.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Decided, Reads } from '../../ports/store.ts'
import type { Handling } from '../context.ts'
import type { Answer } from '../operation.ts'
import { acceptedAnswer } from './accepted-answer.ts'
import { type GivenApproval, type GivenApprovals, giveApprovals } from './approvals.ts'
import { emissionOf, type SentEvent } from './emission.ts'
import { engineRun, factsFor } from './evidence/facts.ts'
import { moverOf } from './evidence/mover.ts'
import type { Outside } from './evidence/outside.ts'
import { loadRun } from './find-run.ts'
import { refusedHappenings } from './refused-happenings.ts'
import { saidOf } from './said.ts'

export interface Sending {
  /** Without one, the project's only active run. */
  readonly runId: string | undefined
  readonly sent: SentEvent
  readonly dryRun: boolean
  /** The role that a person asks for; an agent's is the connection's. */
  readonly role?: string | undefined
  /** The caller's key with the hash of what it sent; null for people's verbs, whose keys are the command's. */
  readonly repeat: Required<Pick<EmissionRepeat, 'key' | 'owner' | 'inputHash'>> | null
  /** Approvals that whoever sends it gives first, in the same transaction. */
  readonly approvals?: readonly GivenApproval[]
}

export type Sent =
  | { readonly kind: 'repeated'; readonly answer: Answer; readonly eventId: string; readonly run: RunRecord }
  | {
      readonly kind: 'accepted'
      readonly accepted: Accepted
      readonly answer: Answer
      readonly eventId: string
      readonly run: RunRecord
      readonly already: readonly RunApproval[]
    }
  | {
      readonly kind: 'refused'
      readonly refused: Refused
      readonly run: RunRecord
      readonly holdId: string | null
      /** Approvals that came with it and that the same person had given before. */
      readonly already: readonly RunApproval[]
    }

export interface Deciding {
  readonly handling: Handling
  readonly sending: Sending
  readonly outside: Outside
}

/** Decides about an event inside the one write transaction. `moved`: what was gathered is about another revision. */
export async function decideEvent(
  reads: Reads,
  setting: Setting,
  deciding: Deciding,
): Promise<Decided<Sent | 'moved'>> {
  const { handling, sending, outside } = deciding
  const loaded = await loadRun(reads, sending.runId)
  const repeated = await repeatedEvent(reads, loaded, sending)
  if (repeated) return { happenings: [], answer: repeated }
  if (hasMoved(loaded, deciding)) return { happenings: [], answer: 'moved' }

  const { record, definition } = loaded
  const run = engineRun(loaded, outside.standings)
  const facts = await factsFor(sourcesOf(reads, deciding), loaded)
  const mover = await moverOf(reads, loaded)
  const known = sending.approvals === undefined ? [] : await reads.runs.approvals(record.id)
  const given = giveApprovals(
    { loaded, run, outside, handling, mover, known },
    sending.approvals ?? [],
    setting,
  )
  const emission = emissionOf(sending.sent, {
    emitter: emitterFor(definition, sending.sent.event, { actor: handling.actor, asked: sending.role }),
    facts: { ...facts, approvals: [...facts.approvals, ...given.facts] },
    handedIn: outside.handedIn,
  })
  const result = withUsableFiles(transition(definition, run, emission), outside)
  const approves = given.happenings.length > 0 || given.already.length > 0
  if (!result.accepted && approves && result.code === 'GUARD_FAILED') {
    // An approval was given, and others are still to come: nobody was refused anything.
    return {
      happenings: given.happenings,
      answer: { kind: 'refused', refused: result, run: record, holdId: null, already: given.already },
    }
  }
  if (!result.accepted) {
    const noticed = await refusedHappenings(
      reads,
      { loaded, refused: result, emission, tried: triedOf(sending.sent, outside), by: handling.actor },
      setting,
    )
    return {
      happenings: [...given.happenings, ...noticed.happenings],
      answer: { kind: 'refused', refused: result, run: record, holdId: noticed.holdId, already: [] },
    }
  }
  return accept({ reads, loaded, accepted: result, emission, given }, deciding, setting)
}

const mostTried = 20
const longestTried = 500

/** What a refused event came with, as it is kept; null where it was nothing. */
function triedOf({ files, payload }: SentEvent, { unusable }: Outside): Tried | null {
  const shown = files.slice(0, mostTried).map((file, at) => {
    const problem = unusable.find(({ path }) => path === `/artifact_paths/${at}`)
    return {
      path: excerpt(typeof file === 'string' ? file : file.path, longestTried),
      reason: problem === undefined ? null : excerpt(problem.message, longestTried),
    }
  })
  const isEmpty = Object.keys(payload).length === 0
  if (shown.length === 0 && isEmpty) return null
  return { files: shown, payload: isEmpty ? null : excerpt(JSON.stringify(payload), longestTried) }
}

/** An event whose files cannot be evidence is refused for that before its guards are. */
function withUsableFiles(result: Accepted | Refused, { unusable, revision }: Outside): Accepted | Refused {
  if (unusable.length === 0 || !(result.accepted || result.code === 'GUARD_FAILED')) return result
  return {
    accepted: false,
    code: 'INVALID_PAYLOAD',
    message: unusable
      .slice(0, 5)
      .map(({ message }) => message)
      .join(' '),
    currentRevision: revision,
    missing: [],
    validationErrors: unusable,
  }
}

interface Accepting {
  readonly reads: Reads
  readonly loaded: LoadedRun
  readonly accepted: Accepted
  readonly emission: Emission
  readonly given: GivenApprovals
}

async function accept(
  { reads, loaded, accepted, emission, given }: Accepting,
  { handling, sending, outside }: Deciding,
  setting: Setting,
): Promise<Decided<Sent>> {
  const { record, definition } = loaded
  const advanced = advanceRun(
    {
      record,
      definition,
      accepted,
      emission,
      artifacts: outside.handedIn,
      holds: await reads.holds.ofRun(record.id),
      by: handling.actor.name,
      author: identityOf(handling.actor),
    },
    setting,
  )
  const answer = acceptedAnswer(definition, advanced, accepted, await saidOf(reads, record))
  return {
    happenings: [
      ...given.happenings,
      ...advanced.happenings(sending.repeat && { ...sending.repeat, answer }),
    ],
    answer: {
      kind: 'accepted',
      accepted,
      answer,
      eventId: advanced.event.id,
      run: advanced.record,
      already: given.already,
    },
  }
}

/** The answer of the same event sent before with the same key. Fails when the key came with other content. */
export async function repeatedEvent(
  reads: Reads,
  { record }: LoadedRun,
  { repeat, sent }: Sending,
): Promise<Sent | null> {
  if (repeat === null) return null
  const known = await reads.runs.repeat(record.id, repeat)
  if (known === null) return null
  if (known.inputHash === repeat.inputHash) {
    return { kind: 'repeated', answer: known.answer, eventId: known.eventId, run: record }
  }
  throw new Failure(
    'IDEMPOTENCY_KEY_REUSED',
    `The idempotency key "${repeat.key}" was used in run ${record.id} for ${known.eventId}, with other content than this ${sent.event}.`,
    {
      hint: 'Give every event a key of its own; repeat a key only with the very same event, payload and files.',
    },
  )
}

/** What was gathered is worth nothing for another revision, unless that alone refuses the event. */
function hasMoved({ record }: LoadedRun, { sending, outside }: Deciding): boolean {
  const { expectedRevision } = sending.sent
  if (record.revision === outside.revision) return false
  return expectedRevision === null || expectedRevision === record.revision
}

function sourcesOf(reads: Reads, { handling, outside }: Deciding) {
  const { fingerprint, clock, commandRunner } = handling
  return {
    reads,
    outside,
    fingerprint,
    now: clock.now(),
    by: handling.actor,
    isAlive: (runner: string) => commandRunner.isAlive(runner),
  }
}
