import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { review: '', failed: '', mission: '', next: '' }

const { open, serving } = useScreens({
  fill: async ({ person, agent, write }) => {
    const juno = agent('juno')
    await person('taskman_phase_add', { id: 'P1', name: 'Orders' })
    await person('taskman_phase_add', { id: 'P2', name: 'Later' })
    const add = async (title: string) => (await person('taskman_task_add', { title, phase: 'P1' })).id
    ids.review = await add('Filter by price')
    ids.failed = await add('Import prices')
    ids.next = await add('Show prices')
    await juno('start_task', { planned_task_id: ids.review, areas: ['src/'] })
    write('src/price.ts', 'export const price = 1\n')
    await juno('complete_task', {
      task_id: ids.review,
      status: 'success',
      outcome: {
        summary: 'Filters by price.',
        limitations: ['Only whole euros'],
        manual_review_needed: true,
        manual_review_reason: 'Should a book without a price stay?',
      },
    })
    await juno('start_task', { planned_task_id: ids.failed })
    await juno('complete_task', { task_id: ids.failed, status: 'failed', outcome: { summary: 'No file.' } })
    const { mission_id } = await juno('start_mission', { name: 'Search', objective: 'Find books' })
    ids.mission = mission_id
    const { task_id } = await juno('start_task', { mission_id, name: 'Rank the results' })
    const description = 'By price or by title?'
    await juno('log_issue', {
      task_id,
      type: 'unclear_requirement',
      description,
      requires_human_review: true,
    })
  },
})

test('a review shows the question of the agent and the limits that it names', async () => {
  const screen = await open(`/review/task/${ids.review}`)
  await screen.see('Should a book without a price stay?', '.review-questions')
  await screen.see('Only whole euros', '.review-questions')
})

test('the question is answered on the page of its review', async () => {
  const screen = await open(`/review/task/${ids.review}`)
  await screen.see('Should a book without a price stay?', '.review-questions')
  await screen.click('Answer')
  await screen.fill('Answer', 'It stays, at the end.')
  const [form] = screen.all('dialog form')
  if (form instanceof HTMLFormElement) form.requestSubmit()
  await expect.poll(() => screen.text('.review-questions')).not.toContain('Should a book')
})

test('a mission names the question that blocks it', async () => {
  const screen = await open(`/missions/${ids.mission}`)
  await screen.see('By price or by title?', '.mission-waits')
  const [link] = screen.named('By price or by title?')
  expect(link?.getAttribute('href')).toContain('select=h-')
})

test('a failed task reads failed on board, plan and its own page', async () => {
  const screen = await open('/board')
  await screen.see('Failed', `[id="${ids.failed}"]`)
  expect(screen.text(`[id="${ids.next}"]`)).not.toContain('Failed')
  screen.go('/plan')
  const row = () => screen.all('.plan-row').find(({ textContent }) => textContent?.includes('Import prices'))
  await expect.poll(() => row()?.querySelector('title')?.textContent).toBe('Failed')
  screen.go(`/tasks/${ids.failed}`)
  await screen.see('Failed', '.task-head')
  await screen.see(`(${ids.failed}) and complete it.`, '.ask-agent')
})

test('a new task goes to the phase that is chosen beside its title', async () => {
  const screen = await open('/plan')
  await screen.see('Filter by price')
  await screen.see('no tasks yet')
  screen.key('c')
  await screen.fill('A new task', 'Sort by price')
  expect(screen.options('Phase of the new task')).toEqual(['Orders', 'Later', 'Phase 1, Search'])
  await screen.fill('Phase of the new task', 'P1')
  const field = () => screen.all('[aria-label="A new task"]')
  const press = (key: string) =>
    field()[0]?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  press('Enter')
  await screen.see('Sort by price', '.plan')
  await screen.fill('A new task', 'Sort by title')
  press('Enter')
  await screen.see('Sort by title', '.plan')
  await screen.fill('A new task', 'Not this one')
  press('Escape')
  await expect.poll(() => field().length).toBe(0)
  const { tasks } = await serving().day.person('taskman_task_list', { phase: 'P1' })
  const titles = tasks.map(({ title }: { readonly title: string }) => title)
  expect(titles).toEqual(expect.arrayContaining(['Sort by price', 'Sort by title']))
  expect(titles).not.toContain('Not this one')
})

test('a click on a line selects it, and a comment is on that line', async () => {
  const screen = await open(`/review/task/${ids.review}`)
  await screen.see('export const price = 1', '.review-line')
  screen
    .all('.review-line')
    .find(({ textContent }) => textContent?.includes('price = 1'))
    ?.click()
  await expect.poll(() => screen.all('.review-line[aria-current]').length).toBe(1)
  screen.key('c')
  await screen.see('Comment on line 1', '.review form')
  screen.key('Escape')
})

test('a decided review offers no decision until it is taken up again, and the log names it', async () => {
  const screen = await open(`/review/task/${ids.review}`)
  await screen.click('Approve A')
  await screen.see('Filters by price')
  await expect.poll(() => screen.all('dialog form').length).toBe(1)
  screen.all('dialog form')[0]?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
  await screen.see('Approved by', '.review-bar')
  expect(screen.named('Approve A')).toEqual([])
  await screen.click('Change the decision')
  await expect.poll(() => screen.named('Approve A').length).toBe(1)
  screen.go('/log')
  await screen.see('approved "Filter by price"', '.log')
  expect(screen.text('.log')).not.toMatch(/[0-9a-f]{40}/)
})
