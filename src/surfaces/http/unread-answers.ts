import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface UnreadLimits {
  /** Milliseconds for which a reader may take nothing of what waits for it. */
  readonly stalled: number
  /** Bytes that may wait for all readers together. */
  readonly waiting: number
}

export const usualUnread: UnreadLimits = { stalled: 20_000, waiting: 48_000_000 }

/** Requests that one connection may have under way: those sent ahead are all answered into memory. */
const mostUnderWay = 64

/** Milliseconds between two looks at how much waits. */
const look = 100

/**
 * Drops readers who do not read what they asked for. One that takes nothing for too long is dropped; where too much waits
 * for all of them together, those go first for whom most waits. A stream in which nothing happens waits for nothing.
 */
export function dropUnread(server: Server, { stalled, waiting }: UnreadLimits): void {
  const open = new Set<Socket>()
  const busy = new Map<Socket, Set<ServerResponse>>()
  // An answer behind another one of its connection waits by itself, until the connection is its own.
  const waitingFor = (socket: Socket) => {
    let bytes = socket.writableLength
    for (const response of busy.get(socket) ?? [])
      if (response.socket === null) bytes += response.writableLength
    return bytes
  }
  const makeRoom = () => {
    let all = 0
    for (const socket of open) all += waitingFor(socket)
    if (all <= waiting) return
    for (const socket of [...open].sort((one, other) => waitingFor(other) - waitingFor(one))) {
      all -= waitingFor(socket)
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
    const underWay = busy.get(socket) ?? new Set()
    busy.set(socket, underWay.add(response))
    if (underWay.size > mostUnderWay) socket.destroy()
    response.once('close', () => {
      underWay.delete(response)
      if (underWay.size === 0) busy.delete(socket)
    })
  })
  // Node tells of a socket that took nothing and sent nothing; it counts what the other end took of one long answer.
  server.on('timeout', (socket: Socket) => {
    if (busy.has(socket) && socket.writableLength === 0) socket.setTimeout(stalled)
    else socket.destroy()
  })
}
