import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PacedResponse } from './paced-response.ts'
import type { Logger } from './serving.ts'

export interface UnreadLimits {
  /** Milliseconds for which a reader may take nothing of what waits for it. */
  readonly stalledMs: number
  /** The same while more than `waitingBytes` wait for all readers together. */
  readonly crowdedMs: number
  /** Bytes that may wait for all readers together before those that take nothing are dropped early. */
  readonly waitingBytes: number
  /** Bytes from which on no further request is answered until some were read. */
  readonly maxBytes: number
}

export const usualUnread: UnreadLimits = {
  stalledMs: 20_000,
  crowdedMs: 5_000,
  waitingBytes: 48_000_000,
  maxBytes: 400_000_000,
}

/** Requests that one connection may have under way: those sent ahead are all answered into memory. */
const maxUnderWay = 64

/** Milliseconds between two looks at how much waits. */
const lookMs = 100

interface ResponseBacklog {
  readonly responses: Set<ServerResponse>
  /** What the reader took of all its answers, in bytes, and for how long it took nothing of what waits. */
  taken: number
  idleMs: number
}

/**
 * Drops readers that take nothing of what they asked for: after `stalledMs`, and after `crowdedMs` where too much waits
 * for all of them together. How long an answer is does not count: whoever goes on reading gets the whole of it. Answers
 * whether so much waits that no further request should be answered.
 */
export function dropUnread(
  server: Server,
  { stalledMs, crowdedMs, waitingBytes, maxBytes }: UnreadLimits,
  log: Pick<Logger, 'warn'>,
): () => boolean {
  const readers = new Map<Socket, ResponseBacklog>()
  const drop = (socket: Socket, reader: ResponseBacklog) => {
    const waiting = unreadBytes(socket, reader)
    socket.destroy()
    log.warn('A connection was closed: its client did not read the answer.', { waiting_bytes: waiting })
  }
  let lookedAt = performance.now()
  const look = () => {
    // While this process itself stood still, no reader could show that it reads.
    const sinceMs = Math.min(performance.now() - lookedAt, 2 * lookMs)
    lookedAt = performance.now()
    let all = 0
    const idle: { readonly socket: Socket; readonly reader: ResponseBacklog; readonly waiting: number }[] = []
    for (const [socket, reader] of readers) {
      const waiting = unreadBytes(socket, reader)
      const taken = socket.bytesWritten - socket.writableLength
      reader.idleMs = waiting === 0 || taken !== reader.taken ? 0 : reader.idleMs + sinceMs
      reader.taken = taken
      all += waiting
      if (reader.idleMs >= stalledMs) drop(socket, reader)
      else if (reader.idleMs >= crowdedMs) idle.push({ socket, reader, waiting })
    }
    if (all <= waitingBytes) return
    for (const { socket, reader, waiting } of idle.sort((one, other) => other.waiting - one.waiting)) {
      drop(socket, reader)
      all -= waiting
      if (all <= waitingBytes / 2) return
    }
  }
  let looking: NodeJS.Timeout | null = null
  server.timeout = stalledMs
  server.on('connection', (socket: Socket) => {
    readers.set(socket, { responses: new Set(), taken: 0, idleMs: 0 })
    looking ??= setInterval(look, lookMs).unref()
    socket.once('close', () => {
      readers.delete(socket)
      if (readers.size > 0 || looking === null) return
      clearInterval(looking)
      looking = null
    })
  })
  server.on('request', ({ socket }, response) => {
    const responses = readers.get(socket)?.responses
    if (responses === undefined) return
    responses.add(response)
    if (responses.size > maxUnderWay) socket.destroy()
    response.once('close', () => void responses.delete(response))
  })
  // Node tells of a socket on which nothing moved; one that waits for its answer is in no fault, and one that does not
  // read it is dropped above.
  server.on('timeout', (socket: Socket) => {
    if ((readers.get(socket)?.responses.size ?? 0) === 0) socket.destroy()
    else socket.setTimeout(stalledMs)
  })
  return () =>
    readers.entries().reduce((sum, [socket, reader]) => sum + unreadBytes(socket, reader), 0) > maxBytes
}

/** Bytes that wait for a reader. An answer behind another one of its connection waits by itself. */
function unreadBytes(socket: Socket, { responses }: ResponseBacklog): number {
  let bytes = socket.writableLength
  for (const response of responses) {
    if (response.socket === null) bytes += response.writableLength
    if (response instanceof PacedResponse) bytes += response.waitingBytes
  }
  return bytes
}
