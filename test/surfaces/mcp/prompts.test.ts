import { expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { eras, legacy } from './eras.ts'
import { startServer } from './server-process.ts'

test.each(eras)('the prompts of %s are few and take at most two arguments', async (_, open) => {
  const { ask } = await open(startServer())
  const { prompts } = (await ask('prompts/list')).result
  expect(prompts.map(({ name }: Answer) => name)).toEqual([
    'plan_mission',
    'work_next_task',
    'review_blockers',
  ])
  for (const prompt of prompts) {
    expect(prompt.arguments.length).toBeLessThanOrEqual(2)
    const given = Object.fromEntries(prompt.arguments.map(({ name }: Answer) => [name, `the ${name}`]))
    const { messages } = (await ask('prompts/get', { name: prompt.name, arguments: given })).result
    expect(messages).toHaveLength(1)
    expect(messages[0].role).toBe('user')
    expect(messages[0].content.text.length).toBeLessThan(1200)
    for (const value of Object.values(given)) expect(messages[0].content.text).toContain(value)
  }
})

test('a prompt without its optional argument asks for what is left', async () => {
  const { ask } = await legacyOf()
  const { messages } = (await ask('prompts/get', { name: 'work_next_task' })).result
  expect(messages[0].content.text).toContain('list_missions')
  expect(messages[0].content.text).not.toContain('undefined')
})

test('an unknown prompt and a missing argument are refused with what there is', async () => {
  const { ask } = await legacyOf()
  const unknown = await ask('prompts/get', { name: 'plan' })
  expect(unknown.error).toEqual({
    code: -32602,
    message: 'Unknown prompt: plan. There are plan_mission, work_next_task, review_blockers.',
  })
  const missing = await ask('prompts/get', { name: 'plan_mission', arguments: {} })
  expect(missing.error).toEqual({
    code: -32602,
    message: 'Prompt plan_mission needs the argument "objective": Measurable goal.',
  })
})

test('arguments are completed: the words of a choice, the ids of missions', async () => {
  const { ask, call } = await legacyOf()
  const completed = async (name: string, argument: object) =>
    (await ask('completion/complete', { ref: { type: 'ref/prompt', name }, argument })).result.completion
      .values
  const { mission_id } = (await call('start_mission', { name: 'n', objective: 'o' })).structuredContent
  expect(await completed('plan_mission', { name: 'profile', value: 's' })).toEqual(['simple', 'standard'])
  expect(await completed('plan_mission', { name: 'objective', value: 's' })).toEqual([])
  expect(await completed('review_blockers', { name: 'mission', value: 'm-' })).toEqual([mission_id])
})

function legacyOf() {
  return legacy(startServer())
}
