import { z } from 'zod'
import { prepareSteps, withMachine } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { maxTokens } from '../../sessions/domain/hook-event.ts'
import type { LocatedHookEvent } from '../../sessions/domain/turns-from-hook-events.ts'
import { type TreeStateResult, treeState } from '../../sessions/operations/locate-hook-events.ts'
import {
  decideHookEvents,
  hookEventMeasurements,
  prepareHookEvents,
} from '../../sessions/operations/record-hook-events.ts'
import type { Reads } from '../../store/ports/store.ts'
import { callIds } from './call-ids.ts'
import { assertRemoteMachine } from './machines.ts'

const path = z.string().min(1).max(4_096)
const short = z.string().max(200)
const shortOrNull = short.nullable()
// Null in an input means "not given", except in a member of a union.
const saidOrNull = shortOrNull.default(null)
const count = z.int().min(0)
const tokens = count.max(maxTokens).nullable()
const time = z.number().min(0)
const usage = z.strictObject({ input: tokens, output: tokens, cached: tokens }).nullable()
const call = { call: shortOrNull, tool: short }
const command = { ...call, program: shortOrNull, background: z.boolean() }
const oid = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{40,64}$/)
const edit = {
  ...call,
  failed: z.boolean(),
  edits: z
    .array(
      z.strictObject({
        top: path,
        path,
        content: oid.nullable().exactOptional(),
        modifiedAt: time.exactOptional(),
        explained: z.boolean().nullable(),
        meant: oid.exactOptional(),
        onto: oid.exactOptional(),
      }),
    )
    .max(500),
}

const hookEventBody = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('session_started'),
    source: z.enum(['startup', 'resume', 'clear', 'compact', 'fork']),
    parent: shortOrNull,
    transcript: z.null(),
  }),
  z.strictObject({ kind: z.literal('prompted'), length: count, text: z.null(), wake: z.boolean() }),
  z.strictObject({ kind: z.literal('edit_began'), ...edit }),
  z.strictObject({ kind: z.literal('edit_ended'), ...edit }),
  z.strictObject({ kind: z.literal('command_began'), ...command }),
  z.strictObject({ kind: z.literal('command_ended'), ...command, failed: z.boolean() }),
  z.strictObject({ kind: z.literal('own_tool'), ...call, attempt: shortOrNull }),
  z.strictObject({ kind: z.literal('agent_started') }),
  z.strictObject({ kind: z.literal('agent_stopped'), usage }),
  z.strictObject({
    kind: z.literal('items'),
    isWhole: z.boolean(),
    items: z.array(z.strictObject({ key: short, done: z.boolean() })).max(200),
  }),
  z.strictObject({ kind: z.literal('model_switched') }),
  z.strictObject({
    kind: z.literal('stopped'),
    error: shortOrNull,
    interrupted: z.boolean(),
    background: count,
    usage,
  }),
  z.strictObject({ kind: z.literal('session_ended'), reason: shortOrNull }),
  z.strictObject({ kind: z.literal('lost'), count, why: short }),
])

const hookEvent = z.strictObject({
  key: z
    .string()
    .max(200)
    .regex(/^\d{13}-[\w.+-]{1,120}$/),
  reportedAt: time,
  client: z.strictObject({ name: short, version: saidOrNull }),
  session: short.min(1),
  turn: saidOrNull,
  agent: z.strictObject({ id: short, type: saidOrNull }).nullable().default(null),
  model: saidOrNull,
  folder: path,
  coverage: z.strictObject({
    edits: z.boolean(),
    failures: z.boolean(),
    subagents: z.boolean(),
    ids: z.boolean(),
  }),
  top: path,
  what: hookEventBody,
}) satisfies z.ZodType<LocatedHookEvent, unknown>

export const ingestRemoteEvents = defineOperation({
  name: 'ingest_remote_events',
  command: 'machine ingest',
  screen: true,
  toolset: 'track',
  audience: 'both',
  title: 'Record hook events of a remote machine',
  description:
    'Record sessions and turns of a connected machine: the hook events of its clients, with the state of its work trees at that time.',
  kind: 'command',
  input: z.strictObject({
    /** When it was sent, by the clock of that machine, which may differ. */
    sentAt: time,
    hookEvents: z.array(hookEvent).max(1_000),
    states: z.array(treeState).max(200),
  }),
  output: z.object({
    recorded: z.int(),
    repeated: z.int(),
    sessions_opened: z.int(),
    turns_opened: z.int(),
    turns_closed: z.int(),
  }),
})
  .measure(hookEventMeasurements)
  .prepare((reads, input, context, measured) =>
    prepareSteps(measured, async (measure) => {
      const { machine } = assertRemoteMachine(context)
      const late = clockDifference(context.clock.now() - input.sentAt)
      // Each key is stored under this machine, so that no machine can take the keys of another.
      const hookEvents = input.hookEvents.map((one) => ({
        ...one,
        key: `${one.key}-${machine.id}`,
        reportedAt: one.reportedAt + late,
        what: withClockOf(one.what, late),
      }))
      const withClock = (
        { place: found, takenAt, error }: TreeStateResult,
        difference: number,
      ): TreeStateResult => ({
        place: found && withMachine(context, found),
        takenAt: takenAt + difference,
        error,
      })
      const sent = new Map(input.states.map((state) => [state.top, withClock(state, late)]))
      const statesOf = async (tops: readonly string[]) => {
        const lacking = tops.filter((top) => !sent.has(top))
        if (lacking.length === 0) return sent
        const { states } = await measure({ states: [...lacking] })
        return new Map([...sent, ...states.map((state) => [state.top, withClock(state, 0)] as const)])
      }
      const ids = callIds(context)
      const source = {
        context,
        ids,
        measure,
        statesOf,
        view: <Found>(look: (from: Reads) => Promise<Found>) => look(reads),
      }
      return prepareHookEvents(source, hookEvents, async (fresh) => fresh)
    }),
  )
  .record(async ({ reads, found }) => {
    const { summary, client, steps } = found
    const decided = steps.length === 0 ? { events: [] } : await decideHookEvents(reads.capture, found)
    return {
      ...decided,
      agentName: client,
      answer: {
        recorded: summary.recorded,
        repeated: summary.repeated,
        sessions_opened: summary.sessionsOpened,
        turns_opened: summary.turnsOpened,
        turns_closed: summary.turnsClosed,
      },
    }
  })

/**
 * How far a machine's clock is behind, in milliseconds. Small differences come from the network and are ignored, so that
 * two parts of one message keep their order.
 */
function clockDifference(difference: number): number {
  return Math.abs(difference) < 5_000 ? 0 : Math.round(difference / 1_000) * 1_000
}

/** The times of files by the server's clock. */
function withClockOf(what: LocatedHookEvent['what'], late: number): LocatedHookEvent['what'] {
  if (what.kind !== 'edit_began' && what.kind !== 'edit_ended') return what
  const edits = what.edits.map(({ modifiedAt, ...edit }) => ({
    ...edit,
    ...(modifiedAt !== undefined && { modifiedAt: modifiedAt + late }),
  }))
  return { ...what, edits }
}
