import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { recordSessions, type SessionDay } from '../../support-web/session-day.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { otherTheme, overhang } from '../looks.ts'

let recorded: SessionDay | undefined
let mission = ''
const { open } = useDashboard({
  fill: async (day) => {
    const work = day.agent('mira')
    mission = (await work('start_mission', { name: 'Beside sessions', objective: 'Be seen' })).mission_id
    const begun = { mission_id: mission, name: 'Write rules', areas: ['other/'] }
    const { task_id } = await work('start_task', begun)
    day.pass(20)
    await work('complete_task', { task_id, status: 'success', outcome: { summary: 'Written.' } })
    day.pass(10)
    recorded = await recordSessions(day)
  },
})

function played(): SessionDay {
  if (!recorded) throw new Error('sessions were played before the tests')
  return recorded
}

const firstSession = '.session-list > li:has-text("claude-code")'

test('a session opens to its turns, a subagent’s part below its turn, and a turn to its lines', async () => {
  const { page, complaints } = await open({ path: '/history?of=sessions', colorScheme: 'light' })
  const session = page.locator(firstSession)
  const row = session.locator('.session-row')
  expect(await row.innerText()).toMatch(
    /claude-code[\s\S]*claude-opus-4-8[\s\S]*ended[\s\S]*3 turns, 3 files/,
  )
  await row.click()
  const turns = session.locator('.turn')
  await turns.nth(2).waitFor()
  const texts = await turns.allInnerTexts()
  expect(texts[0]).toMatch(/Turn 1[\s\S]*partial[\s\S]*Count the rules/)
  expect(texts[0]).toMatch(/notes\/rules\.md\s+probably by this agent\s+added\s+\+1 −0/)
  expect(texts[0]).toMatch(/src\/counting\/rules\.ts\s+added\s+\+14 −0/)
  expect(texts[2]).toMatch(/Turn 3[\s\S]*test-writer[\s\S]*rules\.test\.ts\s+added\s+\+9 −0/)
  expect(await turns.evaluateAll((all) => all.map((turn) => turn.hasAttribute('data-part')))).toEqual([
    false,
    false,
    true,
  ])
  // The subagent's lines are in its turn already.
  expect(await row.locator('.plus-minus').innerText()).toBe('+25 −0')

  await turns.nth(1).getByRole('button', { name: 'Show lines' }).click()
  await turns.nth(1).locator('.diff-line').first().waitFor()
  expect(await turns.nth(1).locator('.diff').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining('export const rule14 = 14')]),
  )
  expect(await violationsOf(page)).toEqual([])
  await otherTheme(page, 'light')
  expect(await violationsOf(page, ['color-contrast'])).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(() => overhang(page)).toBeLessThanOrEqual(0)
  await page.getByRole('button', { name: 'Hide lines' }).click()
  await page.locator('.diff-line').first().waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('what a turn changed appears when it ends, without loading anything anew', async () => {
  const { page } = await open({ path: '/history?of=sessions' })
  const session = page.locator('.session-list > li:has-text("cursor")')
  await session.getByText('working').waitFor()
  await session.locator('.session-row').click()
  await session.locator('.turn').getByText('working').waitFor()
  const { cursor, drain } = played()
  cursor.edit('src/cursor.ts', 'export const cursor = 1\n')
  cursor.stop()
  await drain()
  await session.locator('.turn-files').getByText('src/cursor.ts').waitFor()
  await session.locator('.session-row').getByText('1 turn, 1 file').waitFor()
})

test('the timeline of a mission tells quietly what was recorded meanwhile, and leads to it', async () => {
  const { page } = await open({ path: `/missions/${mission}` })
  const turn = page.getByRole('link', { name: /^Turn 1 of claude-code, .*: 2 files \+15 −0$/ })
  await turn.waitFor()
  expect(await page.locator('.timeline-row .bar-box').count()).toBe(1)
  await turn.click()
  await page.locator('.turn .diff-line').first().waitFor()
  expect(page.url()).toMatch(/session=cs-.*turn=tn-/)
})
