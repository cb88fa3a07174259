import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure } from '../../domain/failure.ts'
import { admit, known } from './guard/admit.ts'
import { knockOf } from './guard/knock.ts'
import type { Security } from './guard/security.ts'
import type { Parts } from './parts.ts'
import { projectOfPath } from './project-named.ts'
import { written } from './refusal/refuse.ts'
import type { Serving } from './serving.ts'

// How long the closing handshake of a reader who is let in no more may take, in milliseconds.
const farewell = 500

/** Hands a connection over to the live feed once it was checked as every request is; else says why not. */
export function upgrading(serving: Serving, security: Security, parts: Parts) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    try {
      const caller = known(admit(knockOf(request), security))
      const end = parts.live.upgrade(request, socket, head, liveProject(request, serving))
      const closed = security.streams.keep(caller, () => {
        end()
        setTimeout(() => socket.destroy(), farewell).unref() // who does not answer the farewell is gone all the same
      })
      socket.once('close', closed)
    } catch (error) {
      refuse(socket, error, serving)
    }
  }
}

function liveProject({ url = '/', headers }: IncomingMessage, serving: Serving) {
  const path = decodeURI(url.split('?')[0] ?? '/')
  const { project, rest } = projectOfPath(path, serving)
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
  return new Failure('INVALID_INPUT', 'The path has a % that is followed by no number.')
}
