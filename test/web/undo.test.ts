import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { task: '' }

const { open, serving } = useScreens({
  fill: async ({ agent, write }) => {
    const { task_id } = await agent('codex')('start_task', { name: 'Add a note', goal: 'A note' })
    write('note.txt', 'a note\n')
    const outcome = { summary: 'Added note.txt. Added test/note.test.js.' }
    await agent('codex')('complete_task', { task_id, status: 'success', outcome })
    ids.task = task_id
  },
})

test('the page of a task has the command that undoes it, and then says who undid it', async () => {
  const screen = await open(`/tasks/${ids.task}`)
  await screen.see(`undo ${ids.task}`, '.task-undo')
  await screen.see('needs you', '.completion-verdict')
  await serving().call('undo', { id: ids.task, yes: true })
  await screen.see('Undone by Tess', '.task-undone')
  await screen.see('Status Undone', '.task-head')
  const { undone } = await serving().day.person('show', { id: ids.task })
  await screen.see(`restore ${undone.snapshot_id}`, '.task-undone')
  await screen.see(/Undid 1 file .*Tess/, '.stream')
  expect(screen.all('.task-undo')).toHaveLength(0)
  await screen.see(/Tess dismissed it The work was undone\. Asked by Waymark, because: /, '.task-answers')
  screen.go('/')
  await screen.see('Nothing needs you')
  await serving().call('restore', { id: undone.snapshot_id, yes: true })
  screen.go(`/tasks/${ids.task}`)
  await screen.see(/Restored 1 file .*Tess/, '.stream')
})
