import { z } from 'zod'
import { MeasureRequest, SentMeasurement } from './remote-measurement.ts'

/** A call that a remote machine sends to the server, and the answer. */

/** A machine's description of itself. Its id is derived from its key, so that nobody else can claim it. */
const MachineIdentity = z.strictObject({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string().min(1).max(100),
  /** Whether commands that a person approved at the server run there. */
  trusts_commands: z.boolean().default(false),
})

export const RemoteCallRequest = z.strictObject({
  /** The measurements that the machine supports. */
  contract: z.int().min(0),
  version: z.string().max(50),
  machine: MachineIdentity,
  /** The key of the call, the same in each retry. */
  call: z.string().regex(/^[0-9a-zA-Z-]{16,64}$/),
  folder: z.string().min(1).max(4_096),
  channel: z.enum(['stdio', 'cli']),
  /** An agent uses a person's token, but acts as an agent. */
  caller: z.enum(['agent', 'token']),
  inside_command: z.boolean().optional(),
  /** The name that the agent's client gives itself. */
  client: z.string().max(200).optional(),
  connection: z.string().max(100).optional(),
  operation: z.string().max(100).optional(),
  input: z.unknown().optional(),
  key: z.string().max(200).optional(),
  tool: z.string().max(200).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
  /** Whether the client can ask its person, and the answer to a question. */
  can_ask: z.boolean().optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
  /** The measurements for this call so far. */
  measured: z.array(SentMeasurement).max(500).default([]),
})
export type RemoteCallRequest = z.output<typeof RemoteCallRequest>

export const RemoteCallAnswer = z.union([
  /** With the server's time, which the machine uses for its measurements. */
  z.object({ measure: MeasureRequest, now: z.number() }),
  z.object({ answer: z.record(z.string(), z.unknown()) }),
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ protocol_error: z.object({ code: z.int(), message: z.string() }) }),
])
export type RemoteCallAnswer = z.output<typeof RemoteCallAnswer>
