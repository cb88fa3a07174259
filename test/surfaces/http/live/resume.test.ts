import { describe, expect, onTestFinished, test } from 'vitest'
import type { LiveLimits } from '../../../../src/surfaces/http/live/reader.ts'
import { happened } from '../../../store/events.ts'
import { soakTest } from '../../../support/amount.ts'
import { systemClock, type TemporaryStore, temporaryStore } from '../../../support/store.ts'
import { LiveClient } from './live-client.ts'
import { type LiveServer, openLiveServer } from './live-server.ts'
import { roles } from './roles.ts'

interface Served extends TemporaryStore {
  readonly server: LiveServer
  readonly connect: (...rest: ParametersAfterPort) => LiveClient
}

type ParametersAfterPort =
  ConstructorParameters<typeof LiveClient> extends [number, ...infer Rest] ? Rest : never

/** A store with that many log entries, none or at least two, and its feed. */
async function served(projectEvents: number, limits: Partial<LiveLimits> = {}): Promise<Served> {
  const temporary = await temporaryStore()
  if (projectEvents > 0) await happened(temporary.store, 1, ...roles(1, projectEvents - 1))
  const server = await openLiveServer({ store: temporary.store, clock: systemClock }, limits)
  const clients: LiveClient[] = []
  onTestFinished(async () => {
    for (const client of clients) client.end()
    await server.close()
    await temporary[Symbol.asyncDispose]()
  })
  const connect = (...rest: ParametersAfterPort) => {
    const client = new LiveClient(server.port, ...rest)
    clients.push(client)
    return client
  }
  return { ...temporary, server, connect }
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('a reader that names no position is told only what is new', async () => {
  const { store, connect } = await served(10)
  const client = connect()
  expect(await client.hello()).toMatchObject({ event: 'hello', seq: 10 })
  await happened(store, 2, ...roles(100, 3))
  await client.upTo(13)
  expect(client.seqs).toEqual([11, 12, 13])
})

test('a reader that names a position is told everything after it, then what is new, from any process', async () => {
  const { store, another, connect } = await served(730)
  const [early, late] = [connect('?since=0'), connect('?since=725')]
  await happened(another(), 2, ...roles(1000, 40))
  await happened(store, 3, ...roles(2000, 1))
  await Promise.all([early.upTo(771), late.upTo(771)])
  expect(early.seqs).toEqual(numbers(1, 771))
  expect(late.seqs).toEqual(numbers(726, 771))
  expect(early.events).toHaveLength(771)
})

test('a feed of a project that nobody has written to begins with its first log entry', async () => {
  const { store, connect } = await served(0)
  const client = connect('?since=0')
  expect(await client.hello()).toMatchObject({ event: 'hello', seq: 0 })
  await happened(store, 1, ...roles(1, 2))
  await client.upTo(3)
  expect(client.seqs).toEqual([1, 2, 3])
})

test('after the last reader left, the next one is told what happened meanwhile', async () => {
  const { store, server, connect } = await served(5)
  const first = connect()
  await first.hello()
  first.end()
  while (server.live.readers() > 0) await new Promise(setImmediate)
  await happened(store, 2, ...roles(100, 4))
  const second = connect('?since=5')
  await second.upTo(9)
  expect(second.seqs).toEqual([6, 7, 8, 9])
})

describe('what cannot be resumed', () => {
  test('a position too far behind is answered with reload', async () => {
    const { connect } = await served(50, { behind: 20 })
    const client = connect('?since=29')
    expect((await client.closed).code).toBe(4409)
    expect(client.frames.map(({ event, seq }) => [event, seq])).toEqual([
      ['hello', 50],
      ['reload', 50],
    ])
    expect(client.frames[1].reason).toContain('21 log entries happened since 29')
    const nearer = connect('?since=30')
    await nearer.upTo(50)
    expect(nearer.seqs).toEqual(numbers(31, 50))
  })

  test('a position of another journal is answered with reload', async () => {
    const { connect } = await served(5)
    const client = connect('?since=6')
    expect((await client.closed).code).toBe(4409)
    expect(client.frames[1]).toEqual({
      event: 'reload',
      reason: 'The log ends at 5, before 6: it was replaced.',
      seq: 5,
    })
  })

  test.each(['-1', '1.5', 'abc', '1e3', '99999999999999999999', `${'9'.repeat(400)}`])(
    'a position that is no number is refused: %s',
    async (since) => {
      const { connect } = await served(5)
      const { code, reason } = await connect(`?since=${since}`).closed
      expect(code).toBe(4400)
      expect(reason).toBe(`since must be a whole number, 0 or more, and is "${since.slice(0, 20)}".`)
    },
  )
})

describe('readers that cost too much', () => {
  test('no more than the limit are let in', async () => {
    const { connect } = await served(2, { readers: 2 })
    await Promise.all([connect().hello(), connect().hello()])
    const { code, reason } = await connect().closed
    expect(code).toBe(1013)
    expect(reason).toBe('2 are connected, the maximum.')
  })

  test('a long message ends its connection, and no other', async () => {
    const { store, connect } = await served(2)
    const [loud, other] = [connect(), connect()]
    await Promise.all([loud.hello(), other.hello()])
    other.socket.send('ping')
    loud.socket.send('x'.repeat(1025))
    expect((await loud.closed).code).toBe(1009)
    await happened(store, 2, ...roles(10, 1))
    await other.upTo(3)
    expect(other.seqs).toEqual([3])
  })

  test('a reader that does not read holds up nobody, and is told the rest when it reads again', async () => {
    const { store, connect } = await served(2)
    const [slow, fast] = [connect('?since=0'), connect('?since=0')]
    await Promise.all([slow.hello(), fast.hello()])
    slow.socket.pause()
    // Eight megabytes: more than the buffers of both ends and what may wait at the server.
    for (let round = 0; round < 10; round += 1) {
      await happened(store, 2, ...roles(round * 10, 10, 'x'.repeat(80_000)))
    }
    await fast.upTo(102)
    expect(fast.seqs).toEqual(numbers(1, 102))
    expect(slow.seqs.length).toBeLessThan(102)
    slow.socket.resume()
    await slow.upTo(102)
    expect(slow.seqs).toEqual(numbers(1, 102))
  })

  test('a reader that goes on not reading is closed', async () => {
    const { store, server, connect } = await served(2, { drain: 20, waiting: 10_000 })
    const stuck = connect('?since=0')
    await stuck.hello()
    stuck.socket.pause()
    for (let round = 0; round < 10; round += 1) {
      await happened(store, 2, ...roles(round * 10, 10, 'x'.repeat(80_000)))
    }
    // Before that it would read again in time.
    while (server.live.readers() > 0) await new Promise(setImmediate)
    stuck.socket.resume()
    expect((await stuck.closed).code).toBe(4408)
  })

  soakTest('a peer that does not answer a ping is dropped', async () => {
    const { server, connect } = await served(2, { ping: 500 })
    const [dead, alive] = [connect('', { autoPong: false }), connect()]
    await Promise.all([dead.hello(), alive.hello()])
    expect((await dead.closed).code).toBe(1006)
    while (server.live.readers() > 1) await new Promise(setImmediate)
    expect(alive.socket.readyState).toBe(alive.socket.OPEN)
  })
})

test('when the server ends, its readers are told', async () => {
  const { server, connect } = await served(2)
  const client = connect()
  await client.hello()
  await server.live.close()
  expect(await client.closed).toEqual({ code: 1001, reason: 'The server is stopping.' })
})
