import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { task: '' }

const { open, serving } = useScreens({
  fill: async ({ agent, write }) => {
    const { task_id } = await agent('codex')('start_task', { name: 'Add a note', goal: 'A note' })
    write('note.txt', 'a note\n')
    const outcome = { summary: 'Added note.txt.' }
    await agent('codex')('complete_task', { task_id, status: 'success', outcome })
    ids.task = task_id
  },
})

test('the page of a task has the command that undoes it, and then says who undid it', async () => {
  const screen = await open(`/tasks/${ids.task}`)
  await screen.see(`undo ${ids.task}`, '.task-undo')
  await serving().call('undo', { id: ids.task, yes: true })
  await screen.see('Undone by Tess', '.task-undone')
  expect(screen.all('.task-undo')).toHaveLength(0)
})
