import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { type Conversation, eras } from './eras.ts'
import { startServer, temporaryRepository } from './server-process.ts'

async function read({ ask }: Conversation, uri: string): Promise<Answer> {
  const { contents } = (await ask('resources/read', { uri })).result
  expect(contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }])
  return JSON.parse(contents[0].text)
}

async function startMission({ call }: Conversation, name = 'Authentication'): Promise<string> {
  return (await call('start_mission', { name, objective: 'o' })).structuredContent.mission_id
}

async function startTask({ call }: Conversation, input: object): Promise<string> {
  return (await call('start_task', input)).structuredContent.task_id
}

describe.each(eras)('in %s', (_, open) => {
  test('missions and the tasks that are worked on are listed, and read as JSON', async () => {
    const conversation = await open(startServer())
    const mission_id = await startMission(conversation)
    const task_id = await startTask(conversation, { mission_id, name: 'Sign in' })
    const { resources } = (await conversation.ask('resources/list')).result
    expect(resources).toMatchObject([
      { uri: `waymark://tasks/${task_id}`, name: 'Sign in', mimeType: 'application/json' },
      { uri: `waymark://missions/${mission_id}`, name: 'Authentication', mimeType: 'application/json' },
    ])
    expect(await read(conversation, `waymark://missions/${mission_id}`)).toMatchObject({
      id: mission_id,
      status: 'IN_PROGRESS',
    })
    expect(await read(conversation, `waymark://tasks/${task_id}`)).toMatchObject({
      id: task_id,
      kind: 'task',
      status: 'IN_PROGRESS',
    })
  })

  test('the line of a file tells the task that it was made for', async () => {
    const folder = temporaryRepository()
    const conversation = await open(startServer({ folder }))
    const task_id = await startTask(conversation, { name: 'Sign in' })
    writeFileSync(join(folder, 'sign in.ts'), 'export const signIn = 1\n')
    const outcome = { summary: 'done' }
    await conversation.call('complete_task', { task_id, status: 'success', outcome })
    const why = await read(conversation, 'waymark://why/sign%20in.ts:1')
    expect(why).toMatchObject({ path: 'sign in.ts', line: 1, authors: [{ task_id, task: 'Sign in' }] })
    const { error } = await conversation.ask('resources/read', { uri: 'waymark://why/nothing.ts:1' })
    expect(JSON.stringify(error)).toContain('There is no file nothing.ts')
  })

  test('templates tell the addresses, and their ids are completed', async () => {
    const conversation = await open(startServer())
    const mission_id = await startMission(conversation)
    const task_id = await startTask(conversation, { name: 'Sign in' })
    const { resourceTemplates } = (await conversation.ask('resources/templates/list')).result
    const templates = resourceTemplates.map(({ uriTemplate }: Answer) => uriTemplate)
    expect(templates).toEqual([
      'stategate://runs/{run_id}/summary',
      'waymark://missions/{id}',
      'waymark://tasks/{id}',
      'waymark://reviews/{task_id}',
      'waymark://why/{+path}:{line}',
      'waymark://tasks/{id}/changes{?cursor}',
    ])
    const completed = async (uri: string, value: string) => {
      const argument = { name: 'id', value }
      return (await conversation.ask('completion/complete', { ref: { type: 'ref/resource', uri }, argument }))
        .result.completion.values
    }
    expect(await completed(templates[1], mission_id.slice(0, 4))).toEqual([mission_id])
    expect(await completed(templates[2], 't-')).toEqual([task_id])
    expect(await completed(templates[4], task_id)).toEqual([task_id])
    expect(await completed(templates[2], 'm-')).toEqual([])
  })

  test('what is not there is -32602 with the address', async () => {
    const { ask } = await open(startServer())
    const addresses = [
      'waymark://missions/m-nowhere',
      'waymark://tasks/t-nowhere',
      'waymark://tasks/t-nowhere/changes',
      'waymark://missions/m-1/changes',
      'waymark://tasks/%E0%A4%A',
      'waymark://',
      'nope://x',
      'file:///etc/passwd',
    ]
    for (const uri of addresses) {
      const { error } = await ask('resources/read', { uri })
      expect(error, uri).toMatchObject({ code: -32602, data: { uri } })
    }
  })

  test('a task is no mission', async () => {
    const conversation = await open(startServer())
    const task_id = await startTask(conversation, { name: 'Sign in' })
    const { error } = await conversation.ask('resources/read', { uri: `waymark://missions/${task_id}` })
    expect(error.code).toBe(-32602)
  })
})

test.each(eras)('the changes of a task come in pages, each of a bounded size, in %s', async (_, open) => {
  const folder = temporaryRepository()
  const conversation = await open(startServer({ folder }))
  const id = await startTask(conversation, { name: 'Many files' })
  const names = Array.from({ length: 130 }, (__, index) => `file-${String(index).padStart(3, '0')}.txt`)
  for (const name of names) writeFileSync(join(folder, name), name)
  await conversation.call('complete_task', { task_id: id, status: 'success', outcome: { summary: 'Done.' } })
  const seen: string[] = []
  let next: string | null = `waymark://tasks/${id}/changes`
  let pages = 0
  while (next !== null) {
    const page: Answer = await read(conversation, next)
    expect(JSON.stringify(page).length).toBeLessThan(8000)
    seen.push(...page.changes.map(({ path }: Answer) => path))
    expect(page.total).toBe(130)
    next = page.next
    pages += 1
  }
  expect(seen.toSorted()).toEqual(names)
  expect(pages).toBeGreaterThan(1)
})

test.each(eras)('missions are listed a page at a time in %s', async (_, open) => {
  const conversation = await open(startServer())
  const ids: string[] = []
  for (let number = 0; number < 23; number += 1)
    ids.unshift(await startMission(conversation, `Mission ${number}`))
  const first = (await conversation.ask('resources/list')).result
  expect(first.resources).toHaveLength(20)
  const second = (await conversation.ask('resources/list', { cursor: first.nextCursor })).result
  expect(second.nextCursor).toBeUndefined()
  const listed = [...first.resources, ...second.resources].map(({ uri }) => uri)
  expect(listed).toEqual(ids.map((id) => `waymark://missions/${id}`))
})

test.each(eras)('a cursor that nobody gave out is -32602 in %s', async (_, open) => {
  const { ask } = await open(startServer())
  expect((await ask('resources/list', { cursor: 'made up' })).error.code).toBe(-32602)
})
