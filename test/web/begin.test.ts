import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const { open, serving } = useScreens()

const enter = (field: HTMLElement | undefined) =>
  field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))

test('a project without phases gets its first task from a button', async () => {
  const screen = await open('/plan')
  await screen.click('Add a task C')
  for (const title of ['Read the prices', 'Show the total']) {
    await screen.fill('A new task', title)
    enter(screen.all('[aria-label="A new task"]')[0])
    await screen.see(title, '.plan')
  }
  const { phases } = await serving().day.person('plan_show', { mission: 'none' })
  expect(phases).toMatchObject([{ tasks: [{ title: 'Read the prices' }, { title: 'Show the total' }] }])
})

test('the page of a mission without tasks leads to a new task of the mission', async () => {
  const { mission_id } = await serving().day.person('start_mission', { name: 'Euro', objective: 'Euro' })
  const screen = await open(`/missions/${mission_id}`)
  await screen.click('Add a task')
  await screen.fill('A new task', 'Round the total')
  enter(screen.all('[aria-label="A new task"]')[0])
  await screen.see('Round the total', '.plan')
  const { tasks } = await serving().day.person('taskman_task_list', { mission: mission_id })
  expect(tasks).toMatchObject([{ title: 'Round the total' }])
})

test('the buttons of a selected line rename and move it', async () => {
  const { person } = serving().day
  const { id } = await person('taskman_phase_add', { id: 'P9', name: 'Orders' })
  const first = (await person('taskman_task_add', { title: 'First', phase: id })).id
  await person('taskman_task_add', { title: 'Second', phase: id })
  const screen = await open(`/plan?mission=none&select=${first}`)
  await screen.click('Move down Alt ↓')
  const titles = async () => {
    const { phases } = await person('plan_show', { mission: 'none' })
    const phase = phases.find((one: { readonly id: string }) => one.id === id)
    return phase.tasks.map(({ title }: { readonly title: string }) => title)
  }
  await expect.poll(titles).toEqual(['Second', 'First'])
  await screen.click('Rename F2')
  await screen.fill('Name of First', 'Last')
  enter(screen.all('[aria-label="Name of First"]')[0])
  await expect.poll(titles).toEqual(['Second', 'Last'])
})

test('a mission is started from a form in plain words, and its page opens', async () => {
  const screen = await open('/missions')
  await screen.click('Start a mission')
  await screen.fill('Name', 'Orders')
  await screen.fill('Objective', 'Every order has a total')
  await expect.poll(() => screen.options('Process')).toContain('Release')
  await screen.fill('Process', 'release')
  await screen.see('Role for a person: reviewer', 'dialog')
  await screen.fill('Commands that must pass', 'npm test')
  await screen.fill('Values for the process', 'none')
  const send = () =>
    screen.all('dialog form')[0]?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
  send()
  await screen.see('Values for the process', '.refusal')
  await screen.fill('Values for the process', '')
  await screen.fill('Number of phases', '2')
  send()
  await expect.poll(screen.path).toMatch(/^\/missions\/m-/)
  const id = screen.path().split('/').at(-1)
  const { tasks } = await serving().day.person('plan_tasks', {
    mission_id: id,
    phases: [{ name: 'Build' }],
    tasks: [{ key: 'a', title: 'Add the total', phase: 'Build' }],
  })
  expect(await serving().day.person('show', { id: tasks[0].id })).toMatchObject({
    done_when: { check: ['npm test'] },
  })
})

test('a second mission is started where one is open', async () => {
  const screen = await open('/missions')
  await screen.see('Orders')
  await screen.click('Start a mission')
  await screen.see('Objective', 'dialog')
})
