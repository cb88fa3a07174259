import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './free-port.ts'
import { errorOf, readyForQuery, Statements } from './wire.ts'

/** A way to a server of PostgreSQL on which a test cuts connections, answers for the server, or stops listening. */
export interface CuttingProxy extends AsyncDisposable {
  /** The URL that leads to the server through the proxy. */
  readonly url: string
  /** Looks at each commit on its way: `before` cuts the connection so that it never arrives, `after` once it was done. */
  atCommit: (() => 'pass' | 'before' | 'after') | null
  /** Answers a statement in the server's place with an error: the SQLSTATE, or null to let it pass. */
  instead: ((statement: string) => string | null) | null
  /** Lets no connection in, and ends those that there are. */
  readonly close: () => Promise<void>
  readonly open: () => Promise<void>
  readonly cuts: () => number
  /** How many connections lead through it now. */
  readonly connections: () => number
}

export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url)
  const pairs = new Set<Socket>()
  let cuts = 0
  const proxy: Pick<CuttingProxy, 'atCommit' | 'instead'> = { atCommit: null, instead: null }

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    pairs.add(client)
    const end = () => {
      client.destroy()
      upstream.destroy()
      pairs.delete(client)
    }
    let isCutting = false
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.setNoDelay(true)
    upstream.setNoDelay(true)
    const statements = new Statements()
    let isAnswered = false
    client.on('data', (chunk: Buffer) => {
      for (const { bytes, statement } of statements.read(chunk)) {
        if (isAnswered) return
        const code = statement === null ? null : (proxy.instead?.(statement) ?? null)
        if (code !== null) {
          isAnswered = true
          // After the answers to what was sent before it.
          setTimeout(() => client.end(Buffer.concat([errorOf(code), readyForQuery])), 20)
          return
        }
        const fate = statement === 'commit' ? (proxy.atCommit?.() ?? 'pass') : 'pass'
        if (fate !== 'pass') cuts += 1
        if (fate === 'before') return end()
        isCutting = fate === 'after'
        upstream.write(bytes)
      }
    })
    upstream.on('data', (chunk: Buffer) => {
      if (isCutting && chunk.includes('COMMIT\0')) end()
      else client.write(chunk)
    })
  })
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of pairs) socket.destroy()
    await closed
  }
  const port = await freePort()
  await listen(port)
  const own = new URL(url)
  own.port = String(port)
  return Object.assign(proxy, {
    url: own.href,
    cuts: () => cuts,
    connections: () => pairs.size,
    close,
    open: () => listen(port),
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await close()
    },
  })
}
