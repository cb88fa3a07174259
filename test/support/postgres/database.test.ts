import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { asked, emptyPostgres, isPostgresLeftOut } from './database.ts'

describe.skipIf(isPostgresLeftOut)('the PostgreSQL of the tests', () => {
  test('is of a version that is claimed, and gives an empty database that is gone afterwards', async () => {
    const name = await (async () => {
      await using database = await emptyPostgres()
      const client = new Client({ connectionString: database.url })
      await client.connect()
      const { rows } = await client.query<{ version: number; tables: number }>(
        `select current_setting('server_version_num')::int / 10000 as version,
          (select count(*)::int from pg_tables where schemaname = 'public') as tables`,
      )
      await client.end()
      expect(rows[0]?.version).toBeGreaterThanOrEqual(15)
      expect(rows[0]?.tables).toBe(0)
      return database.name
    })()
    expect(await asked(`select 1 from pg_database where datname = '${name}'`)).toEqual([])
  })

  test('keeps the order of a language where a test asks for one', async () => {
    await using database = await emptyPostgres({ language: 'tr-TR' })
    const found = await asked(`select datlocprovider from pg_database where datname = '${database.name}'`)
    expect(found).toEqual([{ datlocprovider: 'i' }])
  })
})
