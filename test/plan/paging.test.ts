import { expect, test } from 'vitest'
import { type Answer, openProject } from '../support/project.ts'

test('the log is walked backwards by its cursor, and forwards with since, each entry once', async () => {
  const project = await openProject()
  for (let number = 0; number < 7; number += 1)
    await project.call('start_mission', { name: `Mission ${number}`, objective: 'x' })
  const head: number = (await project.call('log', {})).head
  const all = Array.from({ length: head }, (_, at) => at + 1)
  const walk = async (input: object): Promise<number[][]> => {
    const pages: number[][] = []
    let cursor: string | null = null
    do {
      const answer: Answer = await project.call('log', {
        ...input,
        limit: 3,
        ...(cursor !== null && { cursor }),
      })
      pages.push(answer.events.map(({ seq }: { seq: number }) => seq))
      cursor = answer.next_cursor
    } while (cursor !== null)
    return pages
  }
  expect((await walk({})).toReversed().flat()).toEqual(all)
  expect((await walk({ since: 2 })).flat()).toEqual(all.slice(2))
})

test('phases are shown a page at a time to whoever names a limit', async () => {
  const project = await openProject()
  for (const id of ['P1', 'P2', 'P3']) await project.call('taskman_phase_add', { id, name: id })
  const first = await project.call('taskman_phase_list', { limit: 2 })
  expect(first).toMatchObject({ phases: [{ id: 'P1' }, { id: 'P2' }], total: 3 })
  const rest = await project.call('taskman_phase_list', { cursor: first.next_cursor })
  expect(rest).toMatchObject({ phases: [{ id: 'P3' }], total: 3, next_cursor: null })
})

test('a cursor of another mission, filter or list is refused', async () => {
  const project = await openProject()
  for (const id of ['P1', 'P2']) await project.call('taskman_phase_add', { id, name: id })
  const { next_cursor: cursor } = await project.call('taskman_phase_list', { limit: 1 })
  for (const [operation, input] of [
    ['taskman_milestone_list', {}],
    ['taskman_task_list', {}],
    ['log', {}],
    ['list_missions', {}],
  ] as const)
    expect(await project.refused(operation, { ...input, cursor })).toMatchObject({ reason: 'cursor_invalid' })
})
