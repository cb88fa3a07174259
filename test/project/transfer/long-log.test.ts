import { expect, test } from 'vitest'
import { readExport } from '../../../src/events/operations/event-line.ts'
import { exportProject } from '../../../src/events/operations/event-log.ts'
import { invoke } from '../../../src/kernel/operations/invoke.ts'
import { openProject } from '../../support/project.ts'

test('a long log is exported in parts, and read again from them', async () => {
  const { call, context } = await openProject()
  const { task_id: task } = await call('start_task', { name: 'Any', areas: ['src/**'] })
  for (let number = 0; number < 450; number += 1)
    await call('log_milestone', { task_id: task, message: `Step ${number}` })
  const parts: string[] = []
  const answer = await invoke(
    exportProject,
    context,
    {},
    { writeText: async (part) => void parts.push(part) },
  )
  expect(answer['text']).toBe('')
  const lines = parts.join('').split('\n')
  expect(Math.max(...parts.map((part) => part.split('\n').length))).toBeLessThan(lines.length / 2)
  const log = await readExport(lines.slice(1))
  expect(log.events).toBe(answer['events'])
  const seqs = (await Array.fromAsync(log.readEvents(300))).map(({ seq }) => seq)
  expect(seqs).toEqual(Array.from({ length: log.events - 300 }, (_, at) => at + 301))
  expect((await log.eventAt(400))?.seq).toBe(400)
})

test('a file that becomes shorter while it is read is refused', async () => {
  const { call } = await openProject()
  await call('start_task', { name: 'Any', areas: ['src/**'] })
  const { text } = await call('export')
  let lines: readonly string[] = text.split('\n').slice(1)
  const log = await readExport({ [Symbol.iterator]: () => lines[Symbol.iterator]() })
  lines = lines.slice(0, 1)
  await expect(Array.fromAsync(log.readEvents(0))).rejects.toMatchObject({ reason: 'export_incomplete' })
})
