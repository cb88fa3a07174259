import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { PacedResponse } from '../../../src/surfaces/http/paced-response.ts'
import { defaultUnreadLimits } from '../../../src/surfaces/http/slow-readers.ts'
import { answerOrStream } from '../../../src/surfaces/http/streamed-answer.ts'
import { soakTest } from '../../support/amount.ts'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'
import { closed } from './raw.ts'

/** Of a file of the dashboard, which is read once. */
const longBytes = 1_000_000

/** Fewer than may be under way on one connection, and more than the system keeps of answers. */
const asked = 12

/** Asks for a long answer many times, and reads nothing. */
function reader({ port, write }: HttpProject, times: number): Socket {
  write('web/index.html', '')
  write('web/assets/long.txt', 'x'.repeat(longBytes))
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  const request = `GET /assets/long.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  socket.write(request.repeat(times))
  onTestFinished(() => void socket.destroy())
  return socket
}

/** How many bytes come to a reader that wakes up now. */
async function taken(socket: Socket): Promise<number> {
  let bytes = 0
  socket.on('data', (data) => {
    bytes += data.length
  })
  await closed(socket)
  return bytes
}

/** The connections of the servers of this process, as the servers see them, with the answers made for each. */
function serverSide(): ReadonlyMap<Socket, readonly ServerResponse[]> {
  const connections = new Map<Socket, ServerResponse[]>()
  const began = (message: unknown) => {
    const { socket, response } = message as { socket: Socket; response: ServerResponse }
    const responses = connections.get(socket) ?? []
    responses.push(response)
    connections.set(socket, responses)
  }
  subscribe('http.server.request.start', began)
  onTestFinished(() => void unsubscribe('http.server.request.start', began))
  return connections
}

/** Whether the whole answer was made, taken or not. */
function isMade(response: ServerResponse): boolean {
  return response.writableEnded || (response instanceof PacedResponse && response.waitingBytes > 0)
}

/** Bytes that the server holds for a reader. An answer behind another one of its connection waits by itself. */
function heldFor([socket, responses]: readonly [Socket, readonly ServerResponse[]]): number {
  if (socket.destroyed) return 0
  const behind = responses.filter((response) => response.socket === null)
  const paced = responses.filter((response) => response instanceof PacedResponse)
  return [
    socket.writableLength,
    ...behind.map((response) => response.writableLength),
    ...paced.map((response) => response.waitingBytes),
  ].reduce((all, bytes) => all + bytes)
}

test('whoever takes nothing of an answer is dropped, and others are served', async () => {
  const project = await openHttpProject({ unread: { ...defaultUnreadLimits, stalledMs: 500 } })
  const connections = serverSide()
  const socket = reader(project, asked)
  await vi.waitFor(() => expect([...connections.keys()].map(({ destroyed }) => destroyed)).toEqual([true]), {
    timeout: 90_000,
  })
  expect(await taken(socket)).toBeLessThan(longBytes * asked)
  expect((await fetch(`${project.address}/healthz`)).status).toBe(200)
})

test('whoever sends too many requests ahead is dropped', async () => {
  const project = await openHttpProject({
    unread: { stalledMs: 600_000, crowdedMs: 600_000, waitingBytes: 900_000_000, maxBytes: 900_000_000 },
  })
  expect(await taken(reader(project, 200))).toBe(0)
  expect((await fetch(`${project.address}/healthz`)).status).toBe(200)
})

soakTest(
  'what waits for many readers together stays small: those for whom most waits are dropped first',
  async () => {
    const waiting = 12_000_000
    const project = await openHttpProject({
      unread: { stalledMs: 600_000, crowdedMs: 500, waitingBytes: waiting, maxBytes: 900_000_000 },
    })
    const each = 8
    const connections = serverSide()
    const readers = Array.from({ length: 9 }, () => reader(project, each))
    await vi.waitFor(
      () => {
        const answered = [...connections].filter(
          ([socket, responses]) => socket.destroyed || (responses.length === each && responses.every(isMade)),
        )
        expect(answered).toHaveLength(readers.length)
      },
      { timeout: 90_000 },
    )
    const heldNow = () => [...connections].map(heldFor)
    // Without a limit, it would be all that the system does not keep of 72 MB: some 35. The server looks ten times a second.
    await expect
      .poll(() => heldNow().reduce((all, bytes) => all + bytes), { timeout: 30_000 })
      .toBeLessThanOrEqual(waiting)
    const held = heldNow()
    expect(held.some((bytes) => bytes > 0)).toBe(true)
    expect([...connections.keys()].some((socket) => socket.destroyed)).toBe(true)
    expect((await fetch(`${project.address}/healthz`)).status).toBe(200)
  },
)

/** Facts with so long a text that the export of them is as long. */
async function longRecord({ contexts: [context] }: HttpProject, megabytes: number): Promise<void> {
  const subject = 'x'.repeat(1_000_000)
  const events = Array.from(
    { length: megabytes },
    () => ({ kind: 'lines.forgotten', subject, steps: [] }) as const,
  )
  const decide = async () => ({ events, answer: null })
  await context.store.record({ actor: context.actor, at: context.clock.now(), decide })
}

test('delivers an answer longer than what may wait for all readers, also several at once', async () => {
  const project = await openHttpProject({ unread: { ...defaultUnreadLimits, waitingBytes: 1_000_000 } })
  await longRecord(project, 4)
  const headers = { Authorization: `Bearer ${project.personToken}`, 'Content-Type': 'application/json' }
  const exported = async () => {
    const answer = await fetch(`${project.address}/api/export`, { method: 'POST', headers, body: '{}' })
    const length = answer.headers.get('content-length')
    return { status: answer.status, length, body: await jsonOf(answer) }
  }
  const answers = await Promise.all([exported(), exported()])
  for (const { status, length, body } of answers) {
    expect([status, length]).toEqual([200, null])
    expect(body).toMatchObject({ events: 5, diffs: 0 })
    const lines = body.text.trimEnd().split('\n')
    const lengths = lines.map((line: string) => JSON.stringify(JSON.parse(line)).length)
    expect(lengths.filter((long: number) => long > 1_000_000)).toHaveLength(4)
  }
  expect(project.logged.filter(({ level }) => level === 'warn')).toEqual([])
})

describe('a streamed answer', () => {
  const part = 'one "é" \\\n'

  test('is written as it is read, whole', async () => {
    let written = 0
    const stream = await answerOrStream(async (writeText) => {
      for (; written < 50; written += 1) await writeText(part)
      return { events: 3, text: '' }
    })
    const reader = (stream as ReadableStream<Uint8Array>).getReader()
    const chunks = [(await reader.read()).value]
    expect(written).toBeLessThan(5)
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
    const json = Buffer.concat(chunks.filter((chunk) => chunk !== undefined)).toString('utf8')
    expect(JSON.parse(json)).toEqual({ text: part.repeat(50), events: 3 })
  })

  test('ends its call when the reader leaves, and ends without its JSON when the call fails', async () => {
    const ended = Promise.withResolvers<unknown>()
    const left = await answerOrStream(async (writeText) => {
      try {
        for (;;) await writeText(part)
      } catch (error) {
        ended.resolve('ended')
        throw error
      }
    })
    await (left as ReadableStream).cancel()
    expect(await ended.promise).toBe('ended')
    const broken = await answerOrStream(async (writeText) => {
      await writeText(part)
      throw new Error('replaced')
    })
    await expect(new Response(broken as ReadableStream).text()).rejects.toThrow('replaced')
  })

  test('without a text is an answer or a failure like any other', async () => {
    expect(await answerOrStream(async () => ({ total: 1 }))).toEqual({ total: 1 })
    await expect(answerOrStream(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  })
})
