import { expect, test } from 'vitest'
import { importView } from '../support-web/preact-modules.ts'
import { openScreen, useScreens } from '../support-web/screen.ts'

interface Planned {
  readonly id: string
  readonly status: string
}

const { open, serving } = useScreens({
  fill: async ({ person }) => {
    await person('taskman_phase_add', { id: 'P1', name: 'Orders' })
    await person('taskman_phase_add', { id: 'P2', name: 'Payments' })
    for (const title of ['Cancel an order', 'Export orders', 'Refund a payment', 'Print an invoice'])
      await person('taskman_task_add', { title, phase: 'P1' })
  },
})

async function taskNamed(title: string): Promise<Planned> {
  const { tasks } = await serving().day.person('taskman_task_list', {})
  return tasks.find((task: { readonly title: string }) => task.title === title)
}

test('a task is taken, released, marked as done and reopened on its page', async () => {
  const { id } = await taskNamed('Cancel an order')
  const screen = await open(`/tasks/${id}`)
  await screen.click('Take this task')
  await screen.see('Taken by you.', '.task-actions')
  await screen.see(`task start ${id}`, '.task-actions')
  expect(screen.text('.task-main')).not.toContain('Ask one')
  await screen.click('Give back')
  await expect.poll(() => screen.named('Take this task').length).toBe(1)
  await screen.see('Ask one', '.task-main')
  await screen.click('Mark as done')
  await expect.poll(async () => (await taskNamed('Cancel an order')).status).toBe('done')
  await screen.see('Marked as done without an attempt', '.task-main')
  await screen.click('Reopen')
  await expect.poll(async () => (await taskNamed('Cancel an order')).status).toBe('to_do')
})

test('a task is edited on its page with its present values, and what is emptied is cleared', async () => {
  const { id } = await taskNamed('Export orders')
  const done_when = { criteria: ['Opens in a spreadsheet'], changes: ['src/export/**'] }
  await serving().day.person('taskman_task_edit', { id, description: 'As CSV', assignee: 'codex', done_when })
  const screen = await open(`/tasks/${id}`)
  await screen.see('As CSV')
  await screen.click('Edit')
  await screen.fill('Title', 'Export orders as CSV')
  await screen.fill('Assignee', '')
  await screen.fill('Scope', 'src/orders/\ntest/orders/')
  await screen.fill('Commands that must pass', 'npm test\nnpm run lint')
  await screen.fill('Files that must change', '')
  expect(screen.all('dialog label > b').map(({ textContent }) => textContent)).toEqual([
    'Title',
    'Description',
    'Role',
    'Assignee',
    'Scope',
    'Commands that must pass',
    'Files that must change',
    'Files that must not change',
    'Criteria',
  ])
  await screen.click('Save')
  await screen.see('Export orders as CSV', 'h1')
  await screen.see(/src.orders. ?, test.orders./, '.task-scope')
  const shown = {
    name: 'Export orders as CSV',
    goal: 'As CSV',
    assignee: null,
    areas: ['src/orders/', 'test/orders/'],
    own_done_when: { criteria: done_when.criteria, check: ['npm test', 'npm run lint'] },
  }
  const saved = await serving().day.person('show', { id })
  expect(saved).toMatchObject(shown)
  expect(saved.own_done_when).not.toHaveProperty('changes')
})

test('a note that is added on the page of a task is read there', async () => {
  const { id } = await taskNamed('Refund a payment')
  const screen = await open(`/tasks/${id}`)
  await screen.click('Add a note')
  await screen.fill('Content', 'The bank takes two days.')
  await screen.click('Add a note to a task')
  await screen.see('The bank takes two days.', '.stream')
})

test('with an open attempt the page offers no change of status, and names the agent', async () => {
  const { id } = await taskNamed('Refund a payment')
  const attempt = await serving().day.agent('codex')('start_task', { planned_task_id: id })
  const screen = await open(`/tasks/${id}`)
  await screen.see('An attempt of codex is open', '.task-actions')
  for (const name of ['Take this task', 'Mark as done', 'Drop', 'Reopen'])
    expect(screen.named(name)).toEqual([])
  const end = { task_id: attempt.task_id, status: 'failed', outcome: { summary: 'The bank refuses.' } }
  await serving().day.agent('codex')('complete_task', end)
  await expect.poll(() => screen.named('Take this task').length).toBe(1)
})

test('the palette drops a task that is chosen by its title', async () => {
  const screen = await open('/board')
  await screen.see('Print an invoice')
  screen.key('/')
  await screen.fill('Search missions, tasks, views and commands', 'drop a task')
  await screen.click('Drop a task Command')
  const { id } = await taskNamed('Print an invoice')
  await screen.see('Print an invoice', 'dialog')
  expect(screen.options('Task')).not.toContain(id)
  await screen.fill('Task', id)
  await screen.fill('Reason', 'Nobody prints.')
  await screen.click('Drop a task')
  await screen.see('“Print an invoice”', '.toasts')
  expect(await serving().day.person('show', { id })).toMatchObject({ resolution: 'dropped' })
})

test('a refusal of the palette has its next step on a line of its own', async () => {
  const [first, other] = [await taskNamed('Cancel an order'), await taskNamed('Refund a payment')]
  await serving().day.person('taskman_task_dep_add', { 'task-id': first.id, 'dep-id': other.id })
  const screen = await open('/board')
  await screen.see('Refund a payment')
  screen.key('/')
  await screen.fill('Search missions, tasks, views and commands', 'add a dependency')
  await screen.click('Add a dependency Command')
  await screen.see('Cancel an order', 'dialog')
  await screen.fill('Task', other.id)
  await screen.fill('Depends on', first.id)
  await screen.click('Add a dependency')
  await expect.poll(() => screen.all('dialog .refusal p').length).toBe(2)
})

test('a dependency is chosen among the tasks that the task can wait for', async () => {
  const first = await taskNamed('Cancel an order')
  await serving().day.person('taskman_task_add', { title: 'Close the day', phase: 'P2' })
  const screen = await open(`/tasks/${first.id}`)
  await screen.see('Depends on')
  await screen.click('Add a dependency')
  await screen.see('Close the day', 'dialog')
  const offered = screen.options('Depends on')
  expect(offered).toContain('Close the day')
  // Itself, and what it depends on already.
  for (const title of ['Cancel an order', 'Refund a payment']) expect(offered).not.toContain(title)
})

test('a page begins without the palette that was open on the one before', async () => {
  const { screen: before, close } = await openScreen(serving(), '/board')
  await before.see('Refund a payment')
  // From now on keys count.
  await expect.poll(() => before.all('.live[data-state="live"]').length).toBe(1)
  before.key('/')
  await expect.poll(() => before.all('dialog').length).toBe(1)
  await close()
  const screen = await open('/plan')
  await screen.see('Refund a payment')
  expect(screen.all('dialog')).toEqual([])
  screen.key('c')
  await expect.poll(() => screen.all('[aria-label="A new task"]').length).toBe(1)
})

test('no form in the palette does what a person must see first: undo shows its difference elsewhere', async () => {
  await open('/board')
  const [{ readOperations }, { base }]: readonly [
    { readOperations: (of: string) => Promise<readonly { readonly name: string }[]> },
    { base: { peek: () => string } },
  ] = [await importView('palette/operations.ts'), await importView('router/location.ts')]
  const names = (await readOperations(base.peek())).map(({ name }) => name)
  expect(names).toContain('task_drop')
  expect(names).not.toContain('undo')
  expect(names).not.toContain('restore')
})

test('the palette leads from a file and line to who wrote it', async () => {
  await open('/')
  const { itemsOfFile } = await importView('palette/items.ts')
  expect(itemsOfFile('src/app.ts:12')).toMatchObject([
    {
      text: 'Who wrote src/app.ts:12',
      does: { is: 'go', to: expect.stringContaining('/lines?file=src%2Fapp.ts&line=12') },
    },
  ])
  expect(itemsOfFile('add a task')).toEqual([])
})
