import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reviewShow } from '../../src/review/cli/review.ts'
import { missionPage } from '../../src/track/cli/mission.ts'
import { openProject, person } from '../support/project.ts'

const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() } as never
const outcome = { summary: 'Done.' }

test('a review of several work trees says in which of them each file is', async () => {
  const project = await openProject()
  project.git('worktree', 'add', '-q', '-b', 'beside', '../beside')
  const beside = join(project.folder, '../beside')
  const { mission_id } = await project.call('start_mission', { name: 'Shop', objective: 'A shop' })
  const one = await project.call('start_task', { mission_id, name: 'One', areas: ['src/'] })
  project.write('notes.ts', 'one\n')
  project.write('src/one.ts', 'export {}\n')
  await project.call('complete_task', { task_id: one.task_id, status: 'success', outcome })
  const two = await project.call('start_task', { mission_id, name: 'Two', work_tree: beside })
  project.write('../beside/notes.ts', 'two\n')
  await project.call('complete_task', { task_id: two.task_id, status: 'success', outcome })
  const as = { actor: person }
  const text = reviewShow((await project.call('review_show', { mission: mission_id }, as)) as never, page)
  expect(text).toContain('3 files in 2 work trees, +')
  expect(text).toContain('notes.ts in beside +1 -0')
  const shown = missionPage((await project.call('show', { id: mission_id }, as)) as never, page)
  expect(shown).toContain('2 files, not all in scope')
})
