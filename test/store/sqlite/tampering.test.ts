import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

const tampered: readonly { readonly what: string; readonly statement: string; readonly brokenAt: number }[] =
  [
    {
      what: 'time',
      statement: 'update project_event set recorded_at = recorded_at + 1 where seq = 3',
      brokenAt: 3,
    },
    { what: 'kind', statement: `update project_event set kind = 'mission.ended' where seq = 3`, brokenAt: 3 },
    { what: 'version', statement: 'update project_event set version = 2 where seq = 3', brokenAt: 3 },
    {
      what: 'actor',
      statement: `update project_event set actor = replace(actor, 'claude', 'clause') where seq = 3`,
      brokenAt: 3,
    },
    { what: 'channel', statement: `update project_event set channel = 'cli' where seq = 3`, brokenAt: 3 },
    {
      what: 'body',
      statement: `update project_event set body = replace(body, 'Auth', 'Math') where seq = 3`,
      brokenAt: 3,
    },
    {
      what: 'hash',
      statement: `update project_event set hash = 'f' || substr(hash, 2) || 'f' where seq = 3`,
      brokenAt: 3,
    },
    { what: 'seq', statement: 'update project_event set seq = 9 where seq = 5', brokenAt: 5 },
    { what: 'missing fact', statement: 'delete from project_event where seq = 3', brokenAt: 3 },
    { what: 'missing end', statement: 'delete from project_event where seq = 5', brokenAt: 5 },
    { what: 'missing beginning', statement: 'delete from project_event where seq = 1', brokenAt: 1 },
    {
      what: 'text moved from one column into another',
      statement: `update project_event set actor = actor || ',"stdio",' || substr(body, 1, 1), channel = 'stdio',
      body = substr(body, 2) where seq = 3`,
      brokenAt: 3,
    },
  ]

test.each(tampered)('a tampered $what is found', async ({ statement, brokenAt }) => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  for (const number of [1, 2, 3, 4]) await recordMission(store, `m-${number}`)
  expect(await store.view(({ eventLog: log }) => log.verify())).toEqual({ events: 5, brokenAt: null })
  const database = new Database(file)
  const { changes } = database.prepare(statement).run()
  database.close()
  expect(changes).toBe(1)
  expect(await store.inspect()).toMatchObject({ events: brokenAt - 1, brokenAt })
})
