import { expect, test } from 'vitest'
import { jsonOf, openHttpProject } from './http-project.ts'

test('a server is ready where each of its projects could be recorded, and says why to those who may come in', async () => {
  const { address, personToken, write } = await openHttpProject({ folders: ['shop', 'mill'] })
  const asked = () => fetch(`${address}/readyz`)
  expect((await asked()).status).toBe(200)
  write(
    'mill/.waymark/waymark.db',
    'no database, but a text that is long enough to be taken for one'.repeat(20),
  )
  const refused = await asked()
  expect(refused.status).toBe(503)
  expect(await jsonOf(refused)).toEqual({ status: 'not ready' })
  const said = fetch(`${address}/readyz`, { headers: { Authorization: `Bearer ${personToken}` } })
  expect(await jsonOf(said)).toMatchObject({ status: 'not ready', reason: expect.stringContaining('mill') })
})
