import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** What stands before several servers, and gives each request to the next of them. */
export interface HttpProxy {
  readonly address: string
  /** How many requests a server did not answer. */
  readonly failed: () => number
  /** Of requests whose answer is to be lost once a server gave it: how often. By path, and by what the answer holds. */
  readonly lose: (path: string, times: number, holding?: string) => void
  readonly lost: () => number
  /** Keeps the next request for a path from its server until it is let go. */
  readonly hold: (path: string) => HeldRequest
}

export interface HeldRequest {
  readonly isThere: () => boolean
  readonly letGo: () => void
}

/** How long a server is left out after it did not answer, in milliseconds. */
const leftOutFor = 300

/** Proxies as Caddy and nginx do: a server that is gone makes a 502, is left out for a while, and is tried again. */
export async function proxyBefore(...ports: readonly number[]): Promise<HttpProxy> {
  let sent = 0
  let failed = 0
  let lost = 0
  const leftOut = new Map<number, number>()
  const losing = new Map<string, { readonly left: number; readonly holding: string }>()
  const held = new Map<string, (pass: () => void) => void>()
  const receive = (asked: IncomingMessage, answer: ServerResponse) => {
    const { url: path = '/' } = asked
    const hold = held.get(path)
    held.delete(path)
    if (hold) hold(() => pass(asked, answer))
    else pass(asked, answer)
  }
  const pass = (asked: IncomingMessage, answer: ServerResponse) => {
    const now = performance.now()
    const there = ports.filter((port) => (leftOut.get(port) ?? 0) <= now)
    sent += 1
    const port = (there.length > 0 ? there : ports)[sent % (there.length || ports.length)] ?? 0
    const { method, url: path = '/' } = asked
    const headers = { ...asked.headers, host: `127.0.0.1:${port}` }
    const failing = () => {
      failed += 1
      leftOut.set(port, performance.now() + leftOutFor)
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(502, { 'Content-Type': 'text/plain' }).end('Bad Gateway')
    }
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (received) => {
      const { left, holding } = losing.get(path) ?? { left: 0, holding: '' }
      if (left > 0) {
        void text(received).then((body) => {
          if (!body.includes(holding)) {
            answer.writeHead(received.statusCode ?? 500, received.headers).end(body)
            return
          }
          losing.set(path, { left: left - 1, holding })
          lost += 1
          asked.socket.destroy()
        }, failing)
        return
      }
      answer.writeHead(received.statusCode ?? 500, received.headers)
      received.once('error', failing).pipe(answer)
    })
    onward.once('error', failing)
    asked.pipe(onward)
  }
  const server = createServer(receive)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    address: `http://127.0.0.1:${port}`,
    failed: () => failed,
    lose: (path, times, holding = '') => void losing.set(path, { left: times, holding }),
    lost: () => lost,
    hold: (path) => {
      let isThere = false
      const { promise, resolve: letGo } = Promise.withResolvers<void>()
      held.set(path, (pass) => {
        isThere = true
        void promise.then(pass)
      })
      return { isThere: () => isThere, letGo }
    },
  }
}
