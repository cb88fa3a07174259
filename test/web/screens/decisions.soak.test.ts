import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import type { Day } from '../../support-web/day.ts'

const { serving, open } = useDashboard()

/** People may release, send back, or escalate with a day: none of it is called approve. */
const release = `process: { dialect: 1, id: release, version: "1.0.0", name: Release, initial_state: build }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states:
  - { name: build }
  - { name: review }
  - { name: later }
  - { name: live, is_final: true }
events:
  - { name: submit, allowed_roles: [agent] }
  - { name: release, description: Ship it, allowed_roles: [owner] }
  - { name: request_changes, allowed_roles: [owner] }
  - name: schedule
    allowed_roles: [owner]
    payload_schema: { type: object, required: [day], properties: { day: { type: string } } }
transitions:
  - { from: build, event: submit, to: review }
  - { from: review, event: release, to: live, guard: approved }
  - { from: review, event: request_changes, to: build }
  - { from: review, event: schedule, to: later }
  - { from: later, event: release, to: live }
guards: { approved: { type: approval, role: owner } }
`

async function submitted(day: Day): Promise<string> {
  day.write('.waymark/processes/release.yaml', release)
  const ada = day.agent('ada')
  const { run_id, revision } = await ada('state_gate_create_run', { process_id: 'release' })
  await ada('state_gate_emit_event', {
    run_id,
    event_name: 'submit',
    expected_revision: revision ?? 1,
    idempotency_key: run_id,
  })
  return run_id
}

test('a card has a button for each event, gives the approval that one asks for, and ends the run', async () => {
  const run = await submitted(serving().day)
  const { page, holdTime } = await open({ path: '/' })
  const card = page.locator('.card')
  await card.getByRole('button', { name: 'Release' }).waitFor()
  expect(await card.locator('.verbs').getByRole('button').allTextContents()).toEqual([
    expect.stringContaining('Release'),
    expect.stringContaining('Request changes'),
  ])
  await holdTime()
  await card.getByRole('button', { name: 'Release' }).click()
  await page.getByText('Approved: ').first().waitFor()
  await page.clock.fastForward(5_000)
  const status = async () =>
    (await serving().day.person('state_gate_list_runs', { status: 'all' })).runs.find(
      ({ run_id }: { readonly run_id: string }) => run_id === run,
    )?.status
  await expect.poll(status, { timeout: 20_000 }).toBe('succeeded')
})

test('sending back asks what the agent is told, by its key, and goes back', async () => {
  const run = await submitted(serving().day)
  const { page, holdTime } = await open({ path: '/' })
  await page.locator('.card').getByRole('button', { name: 'Request changes' }).waitFor()
  await page.keyboard.press('r')
  await page.getByLabel('Message to the agent').fill('Tests are missing.')
  await holdTime()
  await page.keyboard.press('Control+Enter')
  await page.getByText('Sent back: ').first().waitFor()
  await page.clock.fastForward(5_000)
  const state = async () =>
    (await serving().day.person('state_gate_get_state', { run_id: run })).current_state
  await expect.poll(state, { timeout: 20_000 }).toBe('build')
})

const measured = `process: { dialect: 1, id: measured, version: "1.0.0", name: Measured, initial_state: build }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states: [{ name: build }, { name: review }, { name: live, is_final: true }]
events:
  - { name: submit, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [owner] }
transitions:
  - { from: build, event: submit, to: review }
  - { from: review, event: approve, to: live, guard: approved }
guards: { approved: { type: approval, role: owner, artifact: changes } }
`

test('a card that asks to approve measured changes leads to the diff of each task', async () => {
  const { day } = serving()
  day.write('.waymark/processes/measured.yaml', measured)
  const ada = day.agent('ada')
  const { mission_id } = await ada('start_mission', {
    name: 'Carts',
    objective: 'Carts are filled.',
    process_id: 'measured',
  })
  const { task_id } = await ada('start_task', {
    mission_id,
    name: 'Fill a cart',
    goal: 'A cart is filled.',
    areas: ['src'],
  })
  day.write('src/cart.ts', 'export const cart = []\n')
  await ada('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  const { runs } = await ada('state_gate_list_runs', {})
  const { run_id } = runs.find(({ process_id }: { readonly process_id: string }) => process_id === 'measured')
  await ada('state_gate_emit_event', {
    run_id,
    event_name: 'submit',
    expected_revision: 1,
    idempotency_key: run_id,
  })
  const { page } = await open({ path: '/' })
  await page.getByRole('link', { name: 'Fill a cart', exact: true }).click()
  await page.getByText('src/cart.ts').first().waitFor()
  expect(page.url()).toMatch(new RegExp(`/tasks/${task_id}/diff$`))
})
