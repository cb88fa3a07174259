import { expect, onTestFinished, test } from 'vitest'
import { usualTimes } from '../../../src/store/postgres/database.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { refusedBy } from '../../support/project.ts'

test('a database that cannot be reached is refused without its password', async () => {
  const store = openPostgresStore({
    url: 'postgres://me:secret@127.0.0.1:9/db',
    project: { root: '/shop', name: null, machine: 'laptop' },
    ids: randomIds,
    times: { ...usualTimes, awayMs: 200 },
  })
  onTestFinished(() => store.close())
  const refused = await refusedBy(store.view(({ eventLog: log }) => log.head()))
  expect(refused).toMatchObject({ code: 'UNAVAILABLE', reason: 'database_unreachable' })
  expect(refused.message).toContain('postgres://127.0.0.1:9/db')
  expect(JSON.stringify(refused)).not.toContain('secret')
})
