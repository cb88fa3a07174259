import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What came in by a webhook. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The body, read as JSON. */
  readonly said: any
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** How requests are answered from now on; 204 unless it is said. */
  readonly answer: (how: (response: ServerResponse) => void) => void
  /** Resolves once so many came in. */
  readonly has: (count: number) => Promise<readonly Received[]>
}

/** A real server on loopback that gets webhooks. */
export async function openReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = []
  let how = (response: ServerResponse): void => void response.writeHead(204).end()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      received.push({ path: request.url ?? '', headers: request.headers, body, said: JSON.parse(body) })
      how(response)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}`,
    received,
    answer: (given) => {
      how = given
    },
    has: async (count) => {
      const end = Date.now() + 30_000
      while (received.length < count) {
        if (Date.now() > end) throw new Error(`${received.length} of ${count} came in`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return received
    },
  }
}

/** What the signature of a request must be, by standardwebhooks.com. */
export function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}
