import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { Failure } from '../../kernel/failure.ts'
import { authenticateRequest, requireAuth } from './auth/authenticate.ts'
import { requestInfoOf } from './auth/request-info.ts'
import type { Security } from './auth/security.ts'
import { httpApp } from './http-app.ts'
import { PacedResponse } from './paced-response.ts'
import type { HttpParts } from './parts.ts'
import { formatRefusal, refusalResponse } from './refusal.ts'
import { type HttpServingOptions, projectOfPath, type ServedProject } from './serving.ts'
import { defaultUnreadLimits, dropUnread, type UnreadLimits } from './slow-readers.ts'

/** The timeouts of clients, in milliseconds. */
export interface HttpTimeouts {
  /** For the headers of a request. */
  readonly headers: number
  /** For a whole request. */
  readonly request: number
  /** The interval of the checks. */
  readonly look: number
}

export const usualPatience: HttpTimeouts = { headers: 10_000, request: 60_000, look: 5_000 }

export interface HttpServerOptions {
  readonly security: Security
  readonly patience?: HttpTimeouts
  readonly unread?: UnreadLimits
}

/** The HTTP server, not listening yet. */
export function httpServer(
  options: HttpServingOptions,
  { security, patience = usualPatience, unread = defaultUnreadLimits }: HttpServerOptions,
  parts: HttpParts,
): Server {
  const app = httpApp(options, security, parts)
  const listener = getRequestListener(app.fetch, {
    errorHandler: (error) => refusalResponse(unreadableRequestError(error), options.log),
  })
  const server = createServer(
    {
      ServerResponse: PacedResponse,
      headersTimeout: patience.headers,
      requestTimeout: patience.request,
      connectionsCheckingInterval: patience.look,
      keepAliveTimeout: 15_000,
      maxHeaderSize: 16_384,
      // Java's client requests HTTP/2 each time; an unknown upgrade is handled as a normal request.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => {
      if (isFull()) refuseTemporarily(response, options)
      else void listener(request, response)
    },
  )
  const isFull = dropUnread(server, unread, options.log)
  server.maxRequestsPerSocket = 0
  server.maxConnections = 5_000
  server.on('upgrade', createUpgradeHandler(options, security, parts))
  countUnusedAsIdle(server)
  return server
}

/** Closes unused connections: browsers open them ahead, and Node would wait for their requests at the end. */
function countUnusedAsIdle(server: Server): void {
  const unused = new Set<Socket>()
  const use = ({ socket }: IncomingMessage) => void unused.delete(socket)
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', use)
  server.on('upgrade', use)
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    closeIdle()
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
  }
}

function refuseTemporarily(response: ServerResponse, { log }: HttpServingOptions): void {
  const failure = new Failure(
    'UNAVAILABLE',
    'The server is busy: too many long answers wait for slow clients.',
    {
      reason: 'too_many_waiting_answers',
      hint: 'Try again in a few seconds.',
    },
  )
  const { status, headers, body } = formatRefusal(failure, log)
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Retry-After': '5' })
  response.end(JSON.stringify(body))
}

/** Answers an invalid request, such as a path with a backslash. */
function unreadableRequestError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'RequestError') return error
  return new Failure('INVALID_INPUT', `The request cannot be read: ${error.message}.`, {
    reason: 'request_unreadable',
  })
}

// The timeout of a closing handshake, in milliseconds.
const farewell = 500

/** Passes an authenticated connection to the live feed; otherwise answers the refusal. */
function createUpgradeHandler(options: HttpServingOptions, security: Security, parts: HttpParts) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    upgrade(request, socket, head).catch((error: unknown) => refuse(socket, error, options))
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const caller = requireAuth(await authenticateRequest(requestInfoOf(request, security), security))
    const { directory } = security
    const projects = await directory.visible(caller)
    if (socket.destroyed) return // it closed during the check
    const project = liveProject(request, projects)
    const watchIdentities = (tell: IdentityCallback) => directory.watch(caller, project, tell)
    const end = parts.live.upgrade(request, socket, head, { project, watchIdentities })
    const closed = security.streams.keep(caller, () => {
      end()
      setTimeout(() => socket.destroy(), farewell).unref() // closes even without an answer
    })
    socket.once('close', closed)
  }
}

type IdentityCallback = (of: readonly string[]) => void

function liveProject({ url = '/', headers }: IncomingMessage, projects: readonly ServedProject[]) {
  const path = decodeURI(url.split('?')[0] ?? '/')
  const { project, rest } = projectOfPath(path, projects)
  // Node before 24.9 also sends every other upgrade here.
  if (rest === '/ws' && headers.upgrade?.toLowerCase() === 'websocket') return project
  throw new Failure('NOT_FOUND', `There is no WebSocket at ${path.slice(0, 200)}.`, {
    reason: 'page_not_found',
    hint: 'The live feed is at /ws?since=<seq>, or at /p/<project>/ws.',
  })
}

function refuse(socket: Duplex, error: unknown, { log }: HttpServingOptions): void {
  const { status, headers, body } = formatRefusal(error instanceof URIError ? badPath() : error, log)
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
  return new Failure('INVALID_INPUT', 'The path has a % without a number after it.', {
    reason: 'path_invalid',
  })
}
