import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const criterion = 'At most five attempts'
const ids = { task: '' }

const { open, serving } = useScreens({
  fill: async ({ person, agent }) => {
    await person('taskman_phase_add', { id: 'P1', name: 'Login' })
    const task = { title: 'Limit the login', phase: 'P1', done_when: { criteria: [criterion] } }
    await person('taskman_task_add', task)
    const { tasks } = await person('taskman_task_list', {})
    const [{ id }] = tasks
    const { task_id } = await agent('codex')('start_task', { planned_task_id: id })
    ids.task = id
    const outcome = { summary: 'Limited the login.' }
    await agent('codex')('complete_task', { task_id, status: 'success', outcome })
  },
})

test('the page of a task shows its contradicted verdict, what it promises, and who is needed', async () => {
  const screen = await open(`/tasks/${ids.task}`)
  await screen.see('Contradicted', '.task-verdict')
  await screen.see(criterion, '.task-promises')
  expect(screen.all('.task-verdict [data-rule=nothing_changed]')).toHaveLength(1)
  expect(screen.all('.task-verdict [data-rule=criterion_unanswered]')).toHaveLength(1)
  expect(screen.named('needs you')).toHaveLength(1)
})

test('the inbox shows the reasons of a contradicted verdict and what one may do', async () => {
  const screen = await open('/')
  await expect.poll(() => screen.all('.card [data-rule=nothing_changed]').length).toBe(1)
  expect(screen.text('.card .verbs')).toContain('Accept the work')
})

test('a task, the inbox and a review show a completion in one form, and each reason once', async () => {
  const screen = await open('/')
  const forms: string[] = []
  for (const path of [`/tasks/${ids.task}`, '/', `/review/task/${ids.task}`]) {
    screen.go(path)
    await expect.poll(() => screen.all('.completion .completion-verdict').length, { message: path }).toBe(1)
    const parts = screen.all(
      '.completion .claimed, .completion [data-rule], .completion-verdict .status-badge',
    )
    forms.push(parts.map((part) => part.dataset['rule'] ?? part.textContent).join('; '))
    const reason = screen.text('[data-rule=nothing_changed]')
    expect(screen.text('main').split(reason)).toHaveLength(2)
  }
  expect(new Set(forms).size).toBe(1)
})

test('a review that sends back says that the items of the inbox do not go to the agent', async () => {
  const screen = await open(`/review/task/${ids.task}`)
  await screen.click('Send back R')
  await screen.see('Closes these items of the inbox', 'dialog')
  expect(screen.all('dialog .send-waiting li')).toHaveLength(1)
})

test('the board marks a contradicted task', async () => {
  const screen = await open('/board')
  await screen.see('Contradicted', `[id="${ids.task}"]`)
})

test('a mission completed in the palette names the tasks without proof', async () => {
  const codex = serving().day.agent('codex')
  const { mission_id } = await codex('start_mission', { name: 'Log in', objective: 'People log in' })
  const { task_id } = await codex('start_task', { mission_id, name: 'Add the form', goal: 'g' })
  await codex('complete_task', { task_id, status: 'success', outcome: { summary: 'Added the form.' } })
  const screen = await open('/board')
  await screen.see('Add the form')
  screen.key('/')
  await screen.fill('Search missions, tasks, views and commands', 'complete a mission')
  await screen.click('Complete a mission Command')
  await screen.see('Log in', 'dialog')
  await screen.fill('Mission', mission_id)
  await screen.fill('Status', 'completed')
  await screen.fill('Summary', 'People log in.')
  await screen.click('Complete a mission')
  await screen.see(`${task_id} "Add the form" (contradicted)`, '.toasts')
  await screen.see(`waymark review ${task_id}`, '.toasts')
})
