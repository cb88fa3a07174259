import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { useBrowser } from '../../support-web/browser.ts'
import { openDashboard } from '../../support-web/dashboard.ts'
import { overhang } from '../looks.ts'

const browser = useBrowser()

test('a task shows the work tree that was made for it, on a phone too', async () => {
  const shown = { task: '', tree: '' }
  const { page, show } = await openDashboard(browser(), {
    viewport: { width: 390, height: 844 },
    fill: async ({ agent, person }) => {
      await person('taskman_phase_add', { id: 'P1', name: 'Build' })
      const { id } = await agent('lead')('taskman_task_add', { title: 'Draw', phase: 'P1' })
      const { path } = await agent('lead')('worktree_add', { task_id: id })
      onTestFinished(() => rmSync(path, { recursive: true, force: true }))
      shown.task = id
      shown.tree = path
    },
  })
  await show(`/tasks/${shown.task}`)
  await page.locator('.task-tree code').waitFor()
  expect(await page.locator('.task-tree code').textContent()).toBe(shown.tree)
  await expect.poll(() => overhang(page)).toBe(0)
})
