import { connect, createServer, type Socket } from 'node:net'

/** One transaction as it went over the wire. */
export interface Transaction {
  readonly statements: readonly string[]
  /** Those after the one that locks the project, without the commit. */
  readonly underLock: readonly string[]
  /** How often the caller waited for an answer before it went on. */
  readonly roundTrips: number
  readonly roundTripsUnderLock: number
}

/** Between a caller and PostgreSQL: passes everything on and keeps what was asked. */
export interface Wire extends AsyncDisposable {
  readonly url: string
  /** The transactions with a lock since the last time, and all statements outside of them. */
  readonly taken: () => {
    readonly locked: readonly Transaction[]
    readonly others: number
    readonly waits: number
  }
}

interface Open {
  readonly statements: string[]
  readonly underLock: string[]
  roundTrips: number
  roundTripsUnderLock: number
  isLocked: boolean
}

export async function tapped(database: string): Promise<Wire> {
  const { port, hostname } = new URL(database)
  const locked: Transaction[] = []
  let others = 0
  let waits = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true))
      socket.on('error', () => undefined) // the other side ends with it
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.pipe(client)
    let open: Open | null = null
    // Answers that are on their way say nothing: only who has all of them has waited.
    let unanswered = 0
    const answers = backend(() => {
      unanswered = Math.max(0, unanswered - 1)
    })
    upstream.on('data', answers)
    const read = frontend((statement) => {
      const isNewTrip = unanswered === 0
      unanswered += 1
      if (/^\s*(begin|start transaction)/i.test(statement)) {
        open = { statements: [], underLock: [], roundTrips: 0, roundTripsUnderLock: 0, isLocked: false }
      }
      if (!open) {
        others += 1
        if (isNewTrip) waits += 1
        return
      }
      open.statements.push(statement)
      if (isNewTrip) open.roundTrips += 1
      if (isNewTrip && open.isLocked) open.roundTripsUnderLock += 1
      if (/^\s*(commit|rollback)\s*;?\s*$/i.test(statement)) {
        if (open.isLocked) locked.push(open)
        else {
          others += open.statements.length
          waits += open.roundTrips
        }
        open = null
      } else if (open.isLocked) open.underLock.push(statement)
      else if (/for (no key )?update/i.test(statement)) open.isLocked = true
    })
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      upstream.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  const url = new URL(database)
  url.port = String(address.port)
  return {
    url: url.href,
    taken: () => {
      const told = { locked: locked.splice(0), others, waits }
      others = 0
      waits = 0
      return told
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Reads what a client of PostgreSQL sends, and tells each statement as it is run. */
function frontend(run: (statement: string) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>()
  let bound = ''
  let rest: Buffer = Buffer.alloc(0)
  let hasGreeted = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = hasGreeted ? 1 : 0 // the greeting has a length and no type
      if (rest.length < head + 4) return
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return
      const type = hasGreeted ? String.fromCharCode(rest[0] ?? 0) : ''
      const words = rest.subarray(head + 4, length)
      rest = rest.subarray(length)
      hasGreeted = true
      if (type === 'P') prepared.set(...two(words))
      if (type === 'B') bound = prepared.get(two(words)[1]) ?? ''
      if (type === 'E') run(bound)
      if (type === 'Q') run(words.toString('utf8', 0, words.length - 1))
    }
  }
}

/** Reads what PostgreSQL answers, and tells each time that it is ready for the next statement. */
function backend(ready: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1)
      if (rest.length < length) return
      if (rest[0] === readyForQuery) ready()
      rest = rest.subarray(length)
    }
  }
}

const readyForQuery = 'Z'.charCodeAt(0)

function two(words: Buffer): [string, string] {
  const first = words.indexOf(0)
  const second = words.indexOf(0, first + 1)
  return [words.toString('utf8', 0, first), words.toString('utf8', first + 1, second)]
}
