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
    write('other.txt', 'another\n')
    const outcome = { summary: 'Added note.txt and other.txt.', not_mine: ['other.txt'] }
    await codex('complete_task', { task_id, status: 'success', outcome })
    ids.task = task_id
    rmSync(join(day.context.folder, 'note.txt'))
    await codex('start_task', { name: 'Look around', goal: 'Look' })
  },
})

const note = () => join(serving().day.context.folder, 'note.txt')

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
  await screen.see('created', '.restore')
  expect(() => readFileSync(note())).toThrow()
  await screen.click('Cancel')
  await expect.poll(() => screen.all('.restore').length).toBe(0)
  await screen.click('Restore A')
  await screen.click('Write 1 file')
  await expect.poll(() => screen.text('.card')).not.toContain('Lost files')
  expect(readFileSync(note(), 'utf8')).toBe('a note\n')
})
