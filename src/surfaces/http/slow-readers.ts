import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PacedResponse } from './paced-response.ts'
import type { Logger } from './serving.ts'

export interface UnreadLimits {
  /** Milliseconds that a reader may read nothing of its unsent data. */
  readonly stalledMs: number
  /** The same while all readers together have more than `waitingBytes` unsent. */
  readonly crowdedMs: number
  /** Unsent bytes of all readers from which on stalled readers are dropped early. */
  readonly waitingBytes: number
  /** Unsent bytes from which on new requests are refused. */
  readonly maxBytes: number
}

export const defaultUnreadLimits: UnreadLimits = {
  stalledMs: 20_000,
  crowdedMs: 5_000,
  waitingBytes: 48_000_000,
  maxBytes: 400_000_000,
}

/** The maximum of pipelined requests per connection: their answers wait in memory. */
const maxUnderWay = 64

/** Milliseconds between two checks of unsent data. */
const checkEveryMs = 100

interface ResponseBacklog {
  readonly responses: Set<ServerResponse>
  /** The bytes that the reader has read, and how long it has been stalled. */
  taken: number
  idleMs: number
}

/**
 * Drops readers that stop reading: after `stalledMs`, or after `crowdedMs` if too much data is unsent. A reader that keeps
 * reading gets its whole answer, however long. Returns whether new requests should be refused.
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
  let checkedAt = performance.now()
  const checkReaders = () => {
    // While this process was suspended, no reader could make progress.
    const sinceMs = Math.min(performance.now() - checkedAt, 2 * checkEveryMs)
    checkedAt = performance.now()
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
  let timer: NodeJS.Timeout | null = null
  server.timeout = stalledMs
  server.on('connection', (socket: Socket) => {
    readers.set(socket, { responses: new Set(), taken: 0, idleMs: 0 })
    timer ??= setInterval(checkReaders, checkEveryMs).unref()
    socket.once('close', () => {
      readers.delete(socket)
      if (readers.size > 0 || timer === null) return
      clearInterval(timer)
      timer = null
    })
  })
  server.on('request', ({ socket }, response) => {
    const responses = readers.get(socket)?.responses
    if (responses === undefined) return
    responses.add(response)
    if (responses.size > maxUnderWay) socket.destroy()
    response.once('close', () => void responses.delete(response))
  })
  // Node reports idle sockets. One that waits for its answer is fine; one that does not read is dropped above.
  server.on('timeout', (socket: Socket) => {
    if ((readers.get(socket)?.responses.size ?? 0) === 0) socket.destroy()
    else socket.setTimeout(stalledMs)
  })
  return () =>
    readers.entries().reduce((sum, [socket, reader]) => sum + unreadBytes(socket, reader), 0) > maxBytes
}

/** The unsent bytes of a reader. A pipelined answer waits in its own buffer. */
function unreadBytes(socket: Socket, { responses }: ResponseBacklog): number {
  let bytes = socket.writableLength
  for (const response of responses) {
    if (response.socket === null) bytes += response.writableLength
    if (response instanceof PacedResponse) bytes += response.waitingBytes
  }
  return bytes
}
