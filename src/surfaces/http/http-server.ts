import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Failure } from '../../domain/failure.ts'
import type { Security } from './guard/security.ts'
import { httpApp } from './http-app.ts'
import type { Parts } from './parts.ts'
import { refused } from './refusal/refuse.ts'
import type { Serving } from './serving.ts'
import { dropUnread, type UnreadLimits, usualUnread } from './unread-answers.ts'
import { upgrading } from './upgrade.ts'

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
