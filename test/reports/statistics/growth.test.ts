import { expect, test } from 'vitest'
import { openProject } from '../../support/project.ts'
import { allStatementsSent } from '../../support/statements.ts'

test('figures of attempts come from columns: no outcome is parsed and no changed file is read', async () => {
  const { call, write } = await openProject()
  const metadata = { tokens_input: 100, tokens_output: 20 }
  for (const number of [1, 2]) {
    const { task_id } = await call('start_task', { name: `Task ${number}`, areas: ['src/**'] })
    for (const file of ['auth', 'api'])
      write(`src/${file}.ts`, `export const ${file} = '${number}'\nexport {}\n`)
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done' }, metadata })
  }
  const sent = allStatementsSent()
  const { all } = await call('stats', {})
  expect(sent.filter(({ sql }) => /attempt_change|outcome|evidence/.test(sql))).toEqual([])
  expect(all).toMatchObject({ lines: { added: 6 }, tokens: { input: { sum: 200 }, output: { sum: 40 } } })
})
