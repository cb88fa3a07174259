import { connect, createServer, type Socket } from 'node:net'
import { errorOf, kindOf, Messages, messageOf, readyForQuery, Statements } from './wire.ts'

/** A pooler in transaction mode: each transaction gets the connection that has been idle for longest. */
export interface Pooler extends AsyncDisposable {
  /** The URL that leads to the server through it. */
  readonly url: string
  /** How often a client's transaction got another connection than the one before. */
  readonly changes: () => number
  /** The most connections to the server that served at once. */
  readonly most: number
}

/**
 * Does what PgBouncer did before it learned to keep prepared statements: a name stays on the connection where it was
 * given, for whoever comes next, and LISTEN is refused. Each client proves itself to the server over a connection of its
 * own, which serves all from then on.
 */
export async function transactionPooler(url: string, most = 3): Promise<Pooler> {
  const target = new URL(url)
  const upstreams = new Upstreams(() => connect(Number(target.port), target.hostname), most)
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    new Session(client, upstreams).begin()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const own = new URL(url)
  own.port = String(address !== null && typeof address === 'object' ? address.port : 0)
  return {
    url: own.href,
    changes: () => upstreams.changes,
    most,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const client of clients) client.destroy()
      upstreams.end()
      await closed
    },
  }
}

const sync = messageOf('S', '')
const rollback = messageOf('Q', 'rollback\0')

/** A connection to the server, and who uses it now. */
class Upstream {
  readonly socket: Socket
  user: Session | null
  last: Session | null = null

  constructor(socket: Socket, user: Session) {
    this.socket = socket
    this.user = user
    const messages = new Messages('server')
    socket.setNoDelay(true).on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      for (const message of messages.read(chunk)) this.user?.answered(message)
    })
  }
}

class Upstreams {
  readonly #open: () => Socket
  readonly #most: number
  readonly #all = new Set<Upstream>()
  readonly #idle: Upstream[] = []
  readonly #waiting: Session[] = []
  changes = 0

  constructor(open: () => Socket, most: number) {
    this.#open = open
    this.#most = most
  }

  /** One that nobody has proved themselves over yet. */
  fresh(user: Session): Upstream {
    const upstream = new Upstream(this.#open(), user)
    this.#all.add(upstream)
    upstream.socket.on('close', () => {
      this.#all.delete(upstream)
      const at = this.#idle.indexOf(upstream)
      if (at >= 0) this.#idle.splice(at, 1)
      upstream.user?.leave()
    })
    return upstream
  }

  take(session: Session): void {
    const upstream = this.#idle.shift()
    if (upstream) this.#give(upstream, session)
    else this.#waiting.push(session)
  }

  release(upstream: Upstream): void {
    upstream.last = upstream.user
    upstream.user = null
    const next = this.#waiting.shift()
    if (next) this.#give(upstream, next)
    else if (this.#all.size > this.#most) upstream.socket.destroy()
    else this.#idle.push(upstream)
  }

  #give(upstream: Upstream, session: Session): void {
    if (upstream.last !== session) this.changes += 1
    upstream.user = session
    session.takes(upstream)
  }

  end(): void {
    for (const { socket } of this.#all) socket.destroy()
  }
}

/** One client. */
class Session {
  readonly #client: Socket
  readonly #upstreams: Upstreams
  readonly #statements = new Statements()
  readonly #unsent: { readonly bytes: Buffer; readonly statement: string | null }[] = []
  #upstream: Upstream | null = null
  #isWaiting = false
  #hasLeft = false
  #isProved = false
  // How many answers are to come; the first one is that of the proof.
  #open = 1
  /** Whether the server was told to answer all that was sent. */
  #isWhole = true

  constructor(client: Socket, upstreams: Upstreams) {
    this.#client = client
    this.#upstreams = upstreams
  }

  begin(): void {
    this.#upstream = this.#upstreams.fresh(this)
    this.#client.setNoDelay(true).on('error', () => undefined)
    this.#client.on('close', () => this.leave())
    this.#client.on('data', (chunk: Buffer) => {
      this.#unsent.push(...this.#statements.read(chunk))
      this.#send()
    })
  }

  takes(upstream: Upstream): void {
    this.#isWaiting = false
    this.#upstream = upstream
    if (this.#hasLeft) this.#release(upstream)
    else this.#send()
  }

  answered(message: Buffer): void {
    if (!this.#hasLeft) this.#client.write(message)
    if (kindOf(message) !== 'Z') return
    this.#isProved = true
    this.#open -= 1
    const isOutside = String.fromCharCode(message[5] ?? 0) === 'I'
    if (this.#upstream && isOutside && this.#open === 0 && this.#isWhole) this.#release(this.#upstream)
  }

  /** What it left open is undone before another one goes on over the same connection. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#client.destroy()
    if (!this.#upstream) return
    if (!this.#isProved) this.#upstream.socket.destroy()
    else this.#upstream.socket.write(Buffer.concat([...(this.#isWhole ? [] : [sync]), rollback]))
    this.#open += this.#isWhole ? 1 : 2
    this.#isWhole = true
  }

  #send(): void {
    for (let next = this.#unsent[0]; next && !this.#hasLeft; next = this.#unsent[0]) {
      const kind = kindOf(next.bytes)
      if (kind === 'X') {
        this.leave()
        return
      }
      if (!this.#upstream && kind === 'Q' && /^listen /i.test(next.statement ?? '')) {
        this.#unsent.shift()
        this.#client.write(Buffer.concat([errorOf('0A000'), readyForQuery]))
        continue
      }
      if (!this.#upstream) {
        if (!this.#isWaiting) {
          this.#isWaiting = true
          this.#upstreams.take(this)
        }
        return
      }
      this.#unsent.shift()
      if (kind === 'Q' || kind === 'S') this.#open += 1
      this.#isWhole = !/^[BCDEFHP]$/.test(kind)
      this.#upstream.socket.write(next.bytes)
    }
  }

  #release(upstream: Upstream): void {
    this.#upstream = null
    this.#upstreams.release(upstream)
  }
}
