import { z } from 'zod'
import { MeasureRequest, SentMeasurement } from './remote-measurement.ts'

/** How a remote machine sends a call of its agent or person to the server, and what it is answered. */

/** What a machine says of itself. Its id is made from its key, so that nobody else can claim it. */
const MachineIdentity = z.strictObject({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string().min(1).max(100),
})

export const RemoteCallRequest = z.strictObject({
  /** What the machine knows to measure. */
  contract: z.int().min(0),
  version: z.string().max(50),
  machine: MachineIdentity,
  /** Names the call: the same whenever it is sent again. */
  call: z.string().regex(/^[0-9a-zA-Z-]{16,64}$/),
  folder: z.string().min(1).max(4_096),
  channel: z.enum(['stdio', 'cli']),
  /** An agent works with a person's token as an agent. */
  as: z.enum(['agent', 'token']),
  inside_command: z.boolean().optional(),
  /** What the agent's client calls itself. */
  client: z.string().max(200).optional(),
  connection: z.string().max(100).optional(),
  operation: z.string().max(100).optional(),
  input: z.unknown().optional(),
  key: z.string().max(200).optional(),
  tool: z.string().max(200).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
  /** Whether the client can put a question to its person, and what came back for one. */
  can_ask: z.boolean().optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
  /** What was measured for this call so far. */
  measured: z.array(SentMeasurement).max(500).default([]),
})
export type RemoteCallRequest = z.output<typeof RemoteCallRequest>

export const RemoteCallAnswer = z.union([
  /** With the time of the server, by which the machine says when it measured. */
  z.object({ measure: MeasureRequest, now: z.number() }),
  z.object({ answer: z.record(z.string(), z.unknown()) }),
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ protocol_error: z.object({ code: z.int(), message: z.string() }) }),
])
export type RemoteCallAnswer = z.output<typeof RemoteCallAnswer>
