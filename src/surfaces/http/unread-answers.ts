import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface UnreadLimits {
  /** Milliseconds for which a reader may take nothing of what waits for it. */
  readonly stalled: number
  /** Bytes that may wait for all readers together. */
  readonly waiting: number
}

export const usualUnread: UnreadLimits = { stalled: 20_000, waiting: 48_000_000 }

/** Milliseconds between two looks at how much waits. */
const look = 100

/**
 * Drops readers who do not read what they asked for. One that takes nothing for too long is dropped; where too much waits
 * for all of them together, those go first for whom most waits. A stream in which nothing happens waits for nothing.
 */
export function dropUnread(server: Server, { stalled, waiting }: UnreadLimits): void {
  const open = new Set<Socket>()
  const busy = new Set<Socket>()
  const makeRoom = () => {
    let all = 0
    for (const socket of open) all += socket.writableLength
    if (all <= waiting) return
    for (const socket of [...open].sort((one, other) => other.writableLength - one.writableLength)) {
      all -= socket.writableLength
      socket.destroy()
      if (all <= waiting / 2) return
    }
  }
  let looking: NodeJS.Timeout | null = null
  server.timeout = stalled
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    looking ??= setInterval(makeRoom, look).unref()
    socket.once('close', () => {
      open.delete(socket)
      busy.delete(socket)
      if (open.size > 0 || looking === null) return
      clearInterval(looking)
      looking = null
    })
  })
  server.on('request', ({ socket }, response) => {
    makeRoom()
    busy.add(socket)
    response.once('close', () => busy.delete(socket))
  })
  // Node tells of a socket that took nothing and sent nothing; it counts what the other end took of one long answer.
  server.on('timeout', (socket: Socket) => {
    if (busy.has(socket) && socket.writableLength === 0) socket.setTimeout(stalled)
    else socket.destroy()
  })
}
