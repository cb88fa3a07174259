import { z } from 'zod'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { place } from '../../kernel/operations/shapes.ts'
import type { LocatedHookEvent } from '../../sessions/domain/session-reducer.ts'
import type { TreeStateResult } from '../../sessions/operations/locate-hook-events.ts'
import { recordLocatedEvents } from '../../sessions/operations/record-hook-events.ts'
import { assertRemoteMachine } from './machines.ts'

const path = z.string().min(1).max(4_096)
const short = z.string().max(200)
const shortOrNull = short.nullable()
// An input's null is taken for nothing said, but in a member of a union.
const saidOrNull = shortOrNull.default(null)
const count = z.int().min(0)
const time = z.number().min(0)
const usage = z
  .strictObject({ input: count.nullable(), output: count.nullable(), cached: count.nullable() })
  .nullable()
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
        explained: z.boolean().nullable(),
        meant: oid.exactOptional(),
        onto: oid.exactOptional(),
      }),
    )
    .max(500),
}

const told = z.discriminatedUnion('kind', [
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

const moment = z.strictObject({
  key: z
    .string()
    .max(200)
    .regex(/^\d{13}-[\w.+-]{1,120}$/),
  at: time,
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
  what: told,
}) satisfies z.ZodType<LocatedHookEvent, unknown>

const state = z.strictObject({
  top: path,
  place: place.nullable().default(null),
  at: time,
  trouble: z.string().max(2_000),
})

export const edgeTold = defineOperation({
  name: 'edge_told',
  command: 'edge told',
  screen: true,
  toolset: 'track',
  audience: 'both',
  title: 'What hooks told on another machine',
  description:
    'Records sessions and turns of a machine that is connected to this server, by what the hooks of its clients told and by the states of its work trees at that time.',
  kind: 'command',
  input: z.strictObject({
    /** By the clock of that machine, when it was put together: the clocks may differ. */
    at: time,
    moments: z.array(moment).max(1_000),
    states: z.array(state).max(200),
  }),
  output: z.object({
    recorded: z.int(),
    repeated: z.int(),
    sessions_opened: z.int(),
    turns_opened: z.int(),
    turns_closed: z.int(),
  }),
}).handler(async (handling, input) => {
  const { edge } = assertRemoteMachine(handling)
  const late = clockDifference(handling.clock.now() - input.at)
  // A key is one of this machine's, whatever it says: nobody takes the keys of another.
  const moments = input.moments.map((one) => ({ ...one, key: `${one.key}-${edge.id}`, at: one.at + late }))
  const states = new Map(
    input.states.map(({ top, place: found, at, trouble }): [string, TreeStateResult] => [
      top,
      { place: found && { ...found, edge: edge.id, machine: edge.name }, at: at + late, trouble },
    ]),
  )
  const done = await recordLocatedEvents(handling, moments, states)
  return {
    recorded: done.recorded,
    repeated: done.repeated,
    sessions_opened: done.sessionsOpened,
    turns_opened: done.turnsOpened,
    turns_closed: done.turnsClosed,
  }
})

/**
 * By how much the clock of a machine is behind, in milliseconds. What a network makes of it is left out, so that what comes
 * in two parts keeps its order.
 */
function clockDifference(difference: number): number {
  return Math.abs(difference) < 5_000 ? 0 : Math.round(difference / 1_000) * 1_000
}
