import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDefinition } from '../../../src/gate/process-files/read-definition.ts'
import { person } from '../../support/project.ts'
import { runOf } from './run.ts'

const guide = readFileSync(
  join(import.meta.dirname, '..', '..', '..', 'docs', 'guide', 'processes.md'),
  'utf8',
)

/** Every whole process that the guide shows, by its id. */
const examples = new Map(
  [...guide.matchAll(/```yaml\n([^`]*\nprocess: [^`]*)```/g)].map(([, text = '']) => {
    const flow = /^process: \{ dialect: 1, id: (\S+), version: "(.*)", name: (.*), initial_state: (\S+) \}$/m
    const [line = '', id = '', version = '', name = '', initial = ''] = flow.exec(text) ?? []
    const block = `process:\n  dialect: 1\n  id: ${id}\n  version: "${version}"\n  name: ${name}\n  initial_state: ${initial}`
    return [id, text.replace(line, block)] as const
  }),
)

function example(id: string): string {
  const text = examples.get(id)
  if (text === undefined) throw new Error(`The guide has no process ${id}.`)
  return text
}

test('the processes of the guide are read without a finding', () => {
  expect([...examples.keys()]).toEqual(['review', 'red-green'])
  for (const [id, text] of examples) expect(readDefinition(text).findings, id).toEqual([])
})

test('the guide’s review goes to its end, also after it was sent back', async () => {
  const run = await runOf(example('review'))
  const { project, id } = run
  const handIn = async (text: string) => {
    project.write('docs/plan.md', text.repeat(30))
    return run.emit('submit', { artifact_paths: ['docs/plan.md'] })
  }
  expect(await run.refused('submit')).toMatchObject({ code: 'GUARD_FAILED' })
  await handIn('first ')
  await project.call('reject', { id, reason: 'Say more.' }, { actor: person })
  expect(await run.state()).toMatchObject({ current_state: 'write' })
  expect(await run.refused('submit')).toMatchObject({ code: 'GUARD_FAILED' })
  await handIn('second ')
  await project.call('approve', { id }, { actor: person })
  expect(await run.state()).toMatchObject({ status: 'succeeded', current_state: 'done' })
})
