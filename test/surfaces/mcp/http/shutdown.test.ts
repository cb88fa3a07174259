import { expect, test } from 'vitest'
import { envelope } from '../eras.ts'
import { exchange, openSession, post, request, said } from './raw.ts'
import { serveProject } from './serving.ts'

test('a server that stops answers what is asked, ends its streams and lets nobody in', async () => {
  const { url, mcp } = await serveProject()
  const session = await openSession(url)
  const stream = await session.stream()
  const listening = await post(
    url,
    request(
      'subscriptions/listen',
      { notifications: { resourcesListChanged: true }, _meta: envelope },
      'ear',
    ),
    { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' },
  )
  const task = { name: 'start_mission', arguments: { name: 'n', objective: 'o' } }
  const answers = [session.send(request('tools/call', task)), exchange(url, 'tools/call', task)]
  const begun = await Promise.all(answers)
  await mcp.shutdown()

  for (const answer of begun) expect((await said(answer)).result.isError).toBe(false)
  await stream.text() // it ends
  expect(await said(listening)).toMatchObject({ id: 'ear', result: { resultType: 'complete' } })
  expect((await session.send(request('ping'))).status).toBe(503)
  expect((await exchange(url, 'tools/list')).status).toBe(503)
})
