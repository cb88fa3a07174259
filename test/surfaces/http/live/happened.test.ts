import { expect, onTestFinished, test } from 'vitest'
import { happenedAt } from '../../../../src/events/domain/project-event.ts'
import { openCase } from '../../../sessions/driver.ts'
import type { Answer } from '../../../support/project.ts'
import { LiveClient } from './live-client.ts'
import { openLiveServer } from './live-server.ts'

const minute = 60_000

test('what hooks report an hour later has the time at which it happened, in the log and live', async () => {
  const stage = await openCase()
  const { project } = stage
  const server = await openLiveServer(project.context)
  const client = new LiveClient(server.port)
  onTestFinished(async () => {
    client.end()
    await server.close()
  })
  await client.hello()
  const claude = stage.session('one')
  const began = project.context.clock.now()
  claude.start()
  claude.prompt()
  claude.edit('src/auth.ts', 'export const auth = 2\n')
  claude.stop()
  claude.end()
  const ended = began + minute
  project.wait(60 * minute)
  await stage.drain()

  const { events: projectEvents } = await project.call('log', { since: 0 })
  const kinds = ['session.opened', 'turn.opened', 'edits.reported', 'turn.closed', 'session.closed']
  const own = projectEvents.filter(({ kind }: Answer) => kinds.includes(kind))
  expect(own.map(({ kind }: Answer) => kind)).toEqual(kinds)
  for (const { happened_at, recorded_at } of own) {
    expect(Date.parse(happened_at)).toBeGreaterThanOrEqual(began)
    expect(Date.parse(happened_at)).toBeLessThan(ended)
    expect(Date.parse(recorded_at)).toBeGreaterThan(ended)
  }
  const isEnd = ({ event }: Answer) => event === 'captured_session:closed'
  await client.until(() => client.events.some(isEnd))
  const timeOf = new Map(projectEvents.map(({ seq, happened_at }: Answer) => [seq, happened_at]))
  for (const { seq, happened_at } of client.events) expect(happened_at).toBe(timeOf.get(seq))
  const [session] = await stage.sessions()
  expect(Date.parse(session?.['ended_at'])).toBeLessThan(ended)
})

test.each([
  ['a time before its recording is its own', 500, 500],
  ['a time after its recording is the recording’s', 2_000, 1_000],
  ['no time at all is the recording’s', 0, 1_000],
])('%s', (_, to, shown) => {
  const body = { kind: 'capture.lost', sessionId: 'cs-a', turnId: null, from: to, to, count: 1, why: 'x' }
  expect(happenedAt({ recordedAt: 1_000, body: body as never })).toBe(shown)
})
