import { expect, test } from 'vitest'
import { git } from '../support/git.ts'
import { type OpenScreen, useScreens } from '../support-web/screen.ts'

const shipping = `process: { dialect: 1, id: shipping, version: "1", name: Shipping, initial_state: build }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states:
  - { name: build, description: Do the tasks }
  - { name: land, description: Bring it to the default branch }
  - { name: released, is_final: true }
events:
  - { name: submit, allowed_roles: [agent, owner] }
  - { name: finish, allowed_roles: [agent, owner] }
transitions:
  - { from: build, event: submit, to: land, guard: done }
  - { from: land, event: finish, to: released, guard: landed }
guards:
  done: { type: task, condition: all_done }
  landed: { type: landed }
`

const { open, serving } = useScreens()

function submitDialog(screen: OpenScreen): void {
  screen.all('dialog form')[0]?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
}

async function doneMission() {
  const { day } = serving()
  day.write('.waymark/processes/shipping.yaml', shipping)
  const codex = day.agent('codex')
  const { mission_id, run } = await codex('start_mission', {
    name: 'Ship discounts',
    objective: 'Orders have discounts',
    process_id: 'shipping',
  })
  const { task_id } = await codex('start_task', { mission_id, name: 'Add the discount', goal: 'g' })
  day.write(`src/discount-${task_id}.ts`, 'export const discount = 5\n')
  await codex('complete_task', { task_id, status: 'success', outcome: { summary: 'Added it.' } })
  return { mission_id, task_id, run_id: run.run_id }
}

test('a mission names the next event of its run once all tasks are done', async () => {
  const { mission_id, run_id } = await doneMission()
  const screen = await open(`/missions/${mission_id}`)
  await screen.see('Next step of Shipping: Submit Nothing is missing. You can send it.', '.mission-next')
  await screen.click('Submit')
  expect(screen.path()).toBe(`/runs/${run_id}`)
  await screen.see('Ship discounts', 'h1')
  await screen.click('Ship discounts')
  expect(screen.path()).toBe(`/missions/${mission_id}`)
})

test('an event that measures what landed can be sent after an older measurement, and then the mission ends', async () => {
  const { mission_id, task_id, run_id } = await doneMission()
  const { day } = serving()
  await day.person('decide', { run_id, event: 'submit' })
  await day.person('measure_landed', {})
  const screen = await open(`/runs/${run_id}`)
  await screen.see('"Add the discount" is not committed yet', '.run-section')
  expect(screen.text('.run-section')).not.toContain(task_id)
  git(day.folder, 'add', '.')
  git(day.folder, 'commit', '-qm', 'Add the discount')
  await screen.click('Finish')
  await screen.see('Reason (optional)', 'dialog')
  submitDialog(screen)
  await expect
    .poll(async () => (await day.person('state_gate_get_state', { run_id })).status, { timeout: 20_000 })
    .toBe('succeeded')

  await screen.see('The mission Ship discounts is still open.', '.run-end')
  await screen.click('Complete the mission')
  await screen.fill('Summary', 'Orders have discounts.')
  expect(screen.text('dialog')).not.toContain('Complete a mission')
  submitDialog(screen)
  await expect.poll(() => screen.text('.run-end')).not.toContain('still open')
  screen.go(`/missions/${mission_id}`)
  await screen.see('Done', '.mission-header h1')
  expect(screen.named('Complete the mission')).toHaveLength(0)
})

test('the palette chooses what the page shows, and shows what a measurement found', async () => {
  const { task_id } = await doneMission()
  const screen = await open(`/tasks/${task_id}`)
  const ask = async (words: string, name: string) => {
    screen.key('/')
    await screen.fill('Search missions, tasks, views and commands', words)
    await screen.click(`${name} Command`)
  }
  await ask('verify', 'Run the checks of a task or a run')
  const chosen = () => (screen.all('dialog select')[0] as HTMLSelectElement | undefined)?.value
  await expect.poll(chosen).toBe(task_id)
  await screen.click('Cancel')
  await ask('landed', 'Show which finished tasks landed')
  await screen.click('Show which finished tasks landed')
  await screen.see('Add the discount: not committed yet', '.input-results')
  screen.key('Escape')
  await expect.poll(() => screen.all('dialog')).toHaveLength(0)
})

test('the glossary opens from every page, and has the words of verdicts', async () => {
  const screen = await open('/board')
  screen.key('g')
  screen.key('w')
  await screen.see('landed', 'dialog dt')
  await screen.see('unproven', 'dialog dd')
})

test('the log says why a number is missing', async () => {
  const screen = await open('/log')
  await screen.see('measured "Add the discount": not committed yet')
  await screen.see('Some numbers are not listed.', '.log-gaps')
  screen.key('j')
  await screen.see('measured', '.log-sentence')
})

test('an approval names the work that is approved, what it answers and where the run goes, and stays on the page', async () => {
  const { day } = serving()
  day.write(
    '.waymark/processes/approving.yaml',
    shipping
      .replace('id: shipping', 'id: approving')
      .replace('guard: landed }', 'guard: approved }')
      .replace('  landed: { type: landed }', '  approved: { type: approval, role: owner, artifact: changes }')
      .replace('name: finish, allowed_roles: [agent, owner]', 'name: approve, allowed_roles: [owner]')
      .replace('event: finish', 'event: approve'),
  )
  const codex = day.agent('codex')
  const { mission_id, run } = await codex('start_mission', {
    name: 'Sell vouchers',
    objective: 'o',
    process_id: 'approving',
  })
  const { task_id } = await codex('start_task', { mission_id, name: 'Add the voucher', goal: 'g' })
  day.write('src/voucher.ts', 'export const voucher = 1\n')
  await codex('complete_task', { task_id, status: 'success', outcome: { summary: 'Added it.' } })
  await day.person('taskman_task_edit', { id: task_id, status: 'to_do' })
  await codex('start_task', { planned_task_id: task_id })
  day.write('src/sale.ts', 'export const sale = 1\n')
  await codex('complete_task', { task_id, status: 'success', outcome: { summary: 'Sold it.' } })
  await day.person('decide', { run_id: run.run_id, event: 'submit' })
  const screen = await open('/')
  await screen.see('Sell vouchers', '.card h2')
  await screen.see('In the mission: 2 files +2 −0 Add the voucher unproven', '.changed-tasks')
  expect(screen.text('.card')).not.toContain(run.run_id)
  await day.person('review_send', { subject: { task: task_id }, action: 'comment', text: 'Almost.' })
  screen.go(`/review/mission/${mission_id}`)
  await screen.see('commented on “Add the voucher”', '.review-links')
  await screen.click('Approve A')
  await screen.see(/answers 1 item .* to released/, 'dialog')
  submitDialog(screen)
  await screen.see('The run is in released.', '.toasts')
  await screen.see('Approved by Tess', '.review-bar')
  expect(screen.named('Send back R')).toHaveLength(0)
})

test('a mission without a process ends from its page: with open tasks a person chooses how', async () => {
  const { day } = serving()
  const { mission_id } = await day.agent('codex')('start_mission', { name: 'Add taxes', objective: 'o' })
  await day.agent('codex')('plan_tasks', {
    mission_id,
    phases: [{ id: 'P1', name: 'Build' }],
    tasks: [{ key: 'tax', phase: 'P1', title: 'Round the tax' }],
  })
  const screen = await open(`/missions/${mission_id}`)
  await screen.click('Complete the mission')
  await screen.see('Not done: 1 of 1 task.', 'dialog')
  expect(screen.options('Status')).toEqual(['', 'Completed', 'Failed', 'Partial'])
  await screen.fill('Status', 'completed')
  await screen.fill('Summary', 'Others do it.')
  submitDialog(screen)
  await screen.see('Ended with open tasks', '.mission-header h1')
  expect(screen.named('Complete the mission')).toHaveLength(0)
})

test('a run leads to the task that it waits for, and to its review', async () => {
  const { day } = serving()
  const proving = shipping
    .replace('id: shipping', 'id: proving')
    .replace('type: task, condition: all_done', 'type: verdict, condition: proven')
  day.write('.waymark/processes/proving.yaml', proving)
  const codex = day.agent('codex')
  const start = { name: 'Ship it', objective: 'o', process_id: 'proving' }
  const { mission_id, run } = await codex('start_mission', start)
  const { task_id } = await codex('start_task', { mission_id, name: 'Prove it', goal: 'g' })
  await codex('complete_task', { task_id, status: 'success', outcome: { summary: 'Nothing to do.' } })
  const screen = await open(`/runs/${run.run_id}`)
  await screen.see(/review it/, '.checks')
  expect(screen.named(task_id)[0]?.getAttribute('href')).toContain(`/tasks/${task_id}`)
  await screen.click('review it')
  expect(screen.path()).toBe(`/review/task/${task_id}`)
})
