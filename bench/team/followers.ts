import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { obey } from './child.ts'
import type { Served } from './load.ts'

// Readers of the live feed in one process. Told to, it answers when each log entry came to each of them.

export type FollowOrder =
  | { readonly open: readonly Served[]; readonly each: number; readonly token: string }
  | { readonly until: number; readonly longest: number }

export interface Followed {
  /** Of each reader: the log entries in the order in which they came, and when, in milliseconds since the epoch. */
  readonly readers: readonly { readonly seqs: readonly number[]; readonly at: readonly number[] }[]
}

interface Reader {
  readonly seqs: number[]
  readonly at: number[]
}

const readers: Reader[] = []
const sockets: WebSocket[] = []

async function opened({ url }: Served, token: string): Promise<void> {
  const reader: Reader = { seqs: [], at: [] }
  const address = `${url.replace(/^http/, 'ws')}/ws`
  const socket = new WebSocket(address, {
    headers: { Authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  })
  sockets.push(socket)
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer) => {
      const now = Date.now()
      const text = data.toString()
      const seq = /^\{"seq":(\d+),"n":0,/.exec(text)?.[1]
      if (seq === undefined) {
        if (text.includes('"hello"')) resolve()
        return
      }
      reader.seqs.push(Number(seq))
      reader.at.push(now)
    })
  })
  readers.push(reader)
}

async function work(order: FollowOrder): Promise<object> {
  if ('open' in order) {
    for (const served of order.open) {
      for (let one = 0; one < order.each; one += 1) await opened(served, order.token)
    }
    return {}
  }
  const deadline = performance.now() + order.longest
  while (readers.some(({ seqs }) => (seqs.at(-1) ?? 0) < order.until) && performance.now() < deadline)
    await sleep(20)
  await sleep(200) // what came twice would come now
  return { readers } satisfies Followed
}

obey(work, async () => {
  for (const socket of sockets) socket.terminate()
})
