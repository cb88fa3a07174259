import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isPostgresLeftOut } from '../../support/postgres/database.ts'
import { openProject } from '../../support/project.ts'

/** The tests of a file, below `test/`, once more with every project in a database on a server. */
export function alsoOnPostgres(file: string): void {
  describe.skipIf(isPostgresLeftOut)(`on PostgreSQL, ${file}`, async () => {
    beforeAll(() => {
      process.env['WAYMARK_TEST_ENGINE'] = 'postgres'
    })
    afterAll(() => {
      delete process.env['WAYMARK_TEST_ENGINE']
    })
    test('every project is on a server', async () => {
      const { context } = await openProject()
      expect((await context.store.health()).location).toMatch(/^postgres:/)
    })
    // Under a name of its own it is read again where it was read before.
    await import(/* @vite-ignore */ `../../${file}?on=postgres`)
  })
}
