import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { Failure } from '../../domain/failure.ts'
import { guardRequest, requireAuth } from './guard/guard.ts'
import { requestInfoOf } from './guard/request-info.ts'
import type { Security } from './guard/security.ts'
import { httpApp } from './http-app.ts'
import type { Parts } from './parts.ts'
import { refused, written } from './refusal.ts'
import { projectOfPath, type ServedProject, type Serving } from './serving.ts'

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
function dropUnread(server: Server, { stalled, waiting }: UnreadLimits): void {
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

/** How long a client may take, in milliseconds. */
export interface Patience {
  /** To send its headers. */
  readonly headers: number
  /** To send a whole request. */
  readonly request: number
  /** How often that is looked at. */
  readonly look: number
}

export const usualPatience: Patience = { headers: 10_000, request: 60_000, look: 5_000 }

export interface HttpServerOptions {
  readonly security: Security
  readonly patience?: Patience
  readonly unread?: UnreadLimits
}

/** The HTTP server, not listening yet. */
export function httpServer(
  serving: Serving,
  { security, patience = usualPatience, unread = usualUnread }: HttpServerOptions,
  parts: Parts,
): Server {
  const app = httpApp(serving, security, parts)
  const listener = getRequestListener(app.fetch, {
    errorHandler: (error) => refused(unusable(error), serving.log),
  })
  const server = createServer(
    {
      headersTimeout: patience.headers,
      requestTimeout: patience.request,
      connectionsCheckingInterval: patience.look,
      keepAliveTimeout: 15_000,
      maxHeaderSize: 16_384,
      // Java's client asks with every request for HTTP/2; an upgrade that we do not know is a request like others.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => void listener(request, response),
  )
  dropUnread(server, unread)
  server.maxRequestsPerSocket = 0
  server.maxConnections = 5_000
  server.on('upgrade', upgrading(serving, security, parts))
  return server
}

/** What cannot be turned into a request at all, such as a path with a backslash. */
function unusable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'RequestError') return error
  return new Failure('INVALID_INPUT', `The request cannot be read: ${error.message}.`)
}

// How long the closing handshake of a reader who is let in no more may take, in milliseconds.
const farewell = 500

/** Hands a connection over to the live feed once it was checked as every request is; else says why not. */
function upgrading(serving: Serving, security: Security, parts: Parts) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    upgrade(request, socket, head).catch((error: unknown) => refuse(socket, error, serving))
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const caller = requireAuth(await guardRequest(requestInfoOf(request, security), security))
    const { directory } = security
    const projects = directory ? await directory.visible(caller) : serving.projects
    if (socket.destroyed) return // it left while it was looked at
    const project = liveProject(request, projects)
    const watchIdentities = directory && ((tell: Tell) => directory.watch(caller, project, tell))
    const end = parts.live.upgrade(request, socket, head, { project, watchIdentities })
    const closed = security.streams.keep(caller, () => {
      end()
      setTimeout(() => socket.destroy(), farewell).unref() // who does not answer the farewell is gone all the same
    })
    socket.once('close', closed)
  }
}

type Tell = (of: readonly string[]) => void

function liveProject({ url = '/', headers }: IncomingMessage, projects: readonly ServedProject[]) {
  const path = decodeURI(url.split('?')[0] ?? '/')
  const { project, rest } = projectOfPath(path, projects)
  // A Node older than 24.9 sends every other upgrade here, too.
  if (rest === '/ws' && headers.upgrade?.toLowerCase() === 'websocket') return project
  throw new Failure('NOT_FOUND', `There is no WebSocket at ${path.slice(0, 200)}.`, {
    hint: 'The live feed is at /ws?since=<seq>, or at /p/<project>/ws.',
  })
}

function refuse(socket: Duplex, error: unknown, { log }: Serving): void {
  const { status, headers, body } = written(error instanceof URIError ? badPath() : error, log)
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

function badPath(): Failure {
  return new Failure('INVALID_INPUT', 'The path has a % without a number after it.')
}
