import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { mission: '', asking: '', outside: '', checked: '', again: '' }

const { open, serving } = useScreens({
  fill: async ({ agent, write }) => {
    const codex = agent('codex')
    const { mission_id } = await codex('start_mission', { name: 'Discounts', objective: 'o' })
    const outside = await codex('start_task', { mission_id, name: 'Add it', goal: 'g', areas: ['docs/'] })
    write('src/discount.ts', 'export const discount = 5\n')
    await codex('complete_task', {
      task_id: outside.task_id,
      status: 'success',
      outcome: { summary: 'Added src/discount.ts.' },
    })
    const again = await codex('start_task', { name: 'Repeat it', areas: ['lib/'] })
    for (const rate of [1, 2]) {
      write('src/rate.ts', `export const rate = ${rate}\n`)
      await codex('complete_task', {
        task_id: again.task_id,
        status: rate === 1 ? 'failed' : 'success',
        outcome: { summary: 'Set it.', manual_review_needed: true, manual_review_reason: 'Is it right?' },
      })
      if (rate === 1) await codex('start_task', { planned_task_id: again.task_id, areas: ['lib/'] })
    }
    const asking = await codex('start_task', { mission_id, name: 'Round it', goal: 'g' })
    await codex('log_issue', {
      task_id: asking.task_id,
      type: 'unclear_requirement',
      description: 'Up or down?',
      requires_human_review: true,
    })
    const checked = await codex('start_task', { name: 'Test it', done_when: { check: ['sh check.sh'] } })
    Object.assign(ids, {
      mission: mission_id,
      asking: asking.task_id,
      outside: outside.task_id,
      checked: checked.task_id,
      again: again.task_id,
    })
  },
})

test('a card says in words that its agent waits, and that files are out of scope', async () => {
  const screen = await open('/board')
  await screen.see('Waits for your answer', `[id="${ids.asking}"]`)
  await screen.see('1 out of scope', `[id="${ids.outside}"]`)
  expect(screen.text(`[id="${ids.outside}"]`)).not.toContain('Waits for your answer')
})

test('a task whose check waits for a yes is in progress on the board and its page, and nothing is to review', async () => {
  const screen = await open('/board')
  await screen.see('Test it', '[aria-label="In progress"]')
  screen.go(`/tasks/${ids.checked}`)
  await screen.see('In progress', '.task-head .status-badge')
  screen.go('/')
  await screen.see('Test it', '.card')
  const [card] = screen.all('.card').filter(({ textContent }) => textContent.includes('Test it'))
  expect(card?.querySelector(`a[href$="/tasks/${ids.checked}"]`)).toBeTruthy()
  expect(card?.querySelector('a[href*="/review/"]')).toBeNull()
})

test('the board of a mission has the columns and verdicts of the project', async () => {
  const screen = await open(`/missions/${ids.mission}/board`)
  await screen.see('Add it', '.mission-board [aria-label="Needs review"]')
  await screen.see('Unproven', '.mission-board [aria-label="Needs review"]')
})

test('a phase of the timeline counts its tasks as the head of the mission does', async () => {
  const screen = await open(`/missions/${ids.mission}`)
  await screen.see('Tasks 1 / 2 (needs you: 1)', '.mission-header')
  await screen.see('1 / 2 (needs you: 1)', '.timeline-row[data-kind=group]')
})

test('several attempts have their files and no sum of lines, which the review does not show', async () => {
  const screen = await open('/board')
  await screen.see('1 file in 2 attempts', `[id="${ids.again}"]`)
  expect(screen.text(`[id="${ids.again}"]`)).not.toContain('+')
  screen.go(`/tasks/${ids.again}`)
  await screen.see('Changed in 2 attempts 1 file', '.details')
  screen.go('/')
  await screen.see('1 file in 2 attempts', '.card .measured')
})

test('a file out of scope that a person accepted is no longer a warning on the cards and the page of its task', async () => {
  const { person } = serving().day
  const board = await open('/board')
  await board.see('1 out of scope', `[id="${ids.again}"] .task-out`)
  const { items } = await person('inbox', { kind: 'scope' })
  for (const { item_id, task_id } of items)
    if (task_id === ids.again) await person('approve', { id: item_id })
  const screen = await open('/')
  await screen.see('1 out of scope, accepted', '.card .measured')
  expect(screen.text('.card .measured .out')).toBe('')
  screen.go('/board')
  await screen.see('1 file in 2 attempts', `[id="${ids.again}"]`)
  expect(screen.all(`[id="${ids.again}"] .task-out`)).toHaveLength(0)
  screen.go(`/tasks/${ids.again}`)
  await screen.see('1 out of scope, accepted', '.task-verdict .measured')
  await screen.see('1 of 1 file out of scope, accepted', '.scope-result[data-kind=open]')
})
