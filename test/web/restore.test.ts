import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { task: '' }

const { open, serving } = useScreens({
  fill: async ({ agent, write }, { day }) => {
    const codex = agent('codex')
    const { task_id } = await codex('start_task', { name: 'Add notes', goal: 'Notes' })
    write('note.txt', 'a note\n')
    write('list.txt', 'a list\n')
    write('other.txt', 'another\n')
    const outcome = { summary: 'Added note.txt and list.txt.', not_mine: ['other.txt'] }
    await codex('complete_task', { task_id, status: 'success', outcome })
    ids.task = task_id
    for (const name of ['note.txt', 'list.txt']) rmSync(join(day.context.folder, name))
    await codex('start_task', { name: 'Look around', goal: 'Look' })
    write('list.txt', 'by hand\n')
  },
})

const read = (name: string) => readFileSync(join(serving().day.context.folder, name), 'utf8')

test('the page of a task, the inbox and a review name the files that the agent denies', async () => {
  const screen = await open(`/tasks/${ids.task}`)
  for (const path of [`/tasks/${ids.task}`, `/review/task/${ids.task}`]) {
    screen.go(path)
    await screen.see('other.txt', '.completion .denied-files')
  }
})

test('lost files are restored from the inbox, after a look at what would be written', async () => {
  const screen = await open('/')
  await screen.see('Lost files', '.card')
  await screen.click('Restore A')
  await screen.see('a note', '.restore .diff')
  await screen.see('list.txt', '.restore [aria-label="Newer content, which stays"]')
  expect(() => read('note.txt')).toThrow()
  await screen.click('Cancel')
  await expect.poll(() => screen.all('.restore').length).toBe(0)
  await screen.click('Restore A')
  await screen.click('Write 1 file')
  await expect.poll(() => screen.all('.restore').length).toBe(0)
  expect([read('note.txt'), read('list.txt')]).toEqual(['a note\n', 'by hand\n'])

  await screen.click('Restore A')
  await expect.poll(() => screen.all('.restore-force input').length).toBe(1)
  screen.all('.restore-force input')[0]?.click()
  await screen.see('a list', '.restore .diff')
  await screen.click('Write 1 file')
  await expect.poll(() => screen.text('.card')).not.toContain('Lost files')
  expect(read('list.txt')).toBe('a list\n')
})
