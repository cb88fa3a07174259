import { expect, test } from 'vitest'
import { connect, eras } from './clients.ts'
import { exchange, openSession, request, said } from './raw.ts'
import { type ServedMcp, serveProject } from './serving.ts'

const mission = { name: 'start_mission', arguments: { name: 'n', objective: 'o' } }

/** Who recorded what is in the log. */
async function actors({ project }: ServedMcp) {
  const events = await project.context.store.view(({ eventLog: log }) => log.since(0, 100))
  return events.filter(({ body }) => body.kind === 'mission.started').map(({ actor }) => actor)
}

test.each(eras)('%s: a client acts under its own name where the token has none', async (era) => {
  const served = await serveProject()
  const { call } = await connect(served.url, { era })
  await call('start_mission', { name: 'n', objective: 'o' })
  expect(await actors(served)).toMatchObject([{ name: 'http-client', kind: 'agent', channel: 'http' }])
})

test.each(eras)('%s: the name of a token counts more', async (era) => {
  const served = await serveProject()
  const { call } = await connect(served.url, { era, token: 'ada' })
  await call('start_mission', { name: 'n', objective: 'o' })
  expect(await actors(served)).toMatchObject([{ name: 'ada', kind: 'agent', channel: 'http' }])
})

test('two sessions of one token are told apart, two exchanges are not', async () => {
  const served = await serveProject()
  for (const _ of ['one', 'two']) {
    const session = await openSession(served.url)
    await said(await session.send(request('tools/call', mission)))
    await said(await exchange(served.url, 'tools/call', mission))
  }
  const [one, single, two, again] = (await actors(served)).map(({ connection }) => connection)
  expect(new Set([one, two, single]).size).toBe(3)
  expect(again).toBe(single)
})
