import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { startAgent } from '../../support-web/agent-process.ts'
import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'

const tokens = { tess: '', max: '' }
const { serving, open } = useDashboard({
  team: true,
  fill: async (_, { call }) => {
    await call('token_create', { admin: true, person: 'Ada' })
    for (const [key, name] of [
      ['tess', 'Tess Turner'],
      ['max', 'Max'],
    ] as const) {
      await call('person_add', { name })
      await call('member_add', { person: name, access: 'maintainer' })
      tokens[key] = (await call('token_create', { kind: 'person', person: name })).secret
    }
  },
})

const outcome = { summary: 'Done.', achievements: [], limitations: [] }

journey(
  'two people and an agent in turns: comment, answer, only the new difference, approval of what is shown',
  async () => {
    const { day } = serving()
    const agent = await startAgent(day.folder, { WAYMARK_DATABASE: join(dirname(day.folder), 'team.db') })
    onTestFinished(agent.stop)
    const { mission_id } = await agent.call('start_mission', {
      name: 'Reading',
      objective: 'Patches are read',
    })
    const begun = { mission_id, agent_name: 'vera', areas: ['src/**'] }
    const { task_id } = await agent.call('start_task', { ...begun, name: 'Read renames', goal: 'Renames' })
    day.write('src/diff/index.ts', "export * from './reader.ts'\nexport const limit = 10\n")
    day.write('src/diff/rename.ts', 'export const rename = 1\nexport const copy = 2\n')
    await agent.call('complete_task', {
      task_id,
      status: 'success',
      outcome: { ...outcome, manual_review_needed: true, manual_review_reason: 'Is the limit right?' },
    })
    const path = `/review/task/${task_id}`
    const tess = (await open({ path, token: tokens.tess })).page
    const max = (await open({ path, token: tokens.max, locale: 'en-GB' })).page

    const index = tess.getByRole('region', { name: 'src/diff/index.ts' })
    await index.getByText('export const limit = 10').waitFor()
    await tess.keyboard.press('.')
    await tess.keyboard.press('c')
    await tess.getByRole('textbox', { name: 'Comment on line 2' }).fill('Ten is too few.\nTake a hundred.')
    await tess.keyboard.press('Control+Enter')
    await index.getByText('Draft', { exact: true }).waitFor()
    const rename = tess.getByRole('region', { name: 'src/diff/rename.ts' })
    await rename.getByRole('button', { name: 'Comment on line 1' }).click()
    await tess.getByRole('radio', { name: 'Question' }).check()
    await tess.getByRole('textbox', { name: 'Comment on line 1' }).fill('Why one?')
    await tess.keyboard.press('Control+Enter')
    await rename.getByText('Why one?').waitFor()
    await max.getByText('export const limit = 10').waitFor()
    await max.reload()
    await max.getByText('export const limit = 10').waitFor()
    expect(await max.getByText('Ten is too few.').count()).toBe(0)

    await index.getByLabel('Viewed').check()
    await tess.getByText('1 of 2 viewed').waitFor()
    await rename.getByLabel('Viewed').check()
    await tess.getByText('2 of 2 viewed').waitFor()
    await tess.keyboard.press('r')
    await tess.getByRole('dialog', { name: 'Send back' }).getByText('Sends 2 comments.').waitFor()
    await tess.keyboard.press('Control+Enter')
    await tess.getByText('Sent back.').first().waitFor()
    await max.getByText('Ten is too few.').waitFor()

    const told = JSON.stringify(await agent.call('get_context', { mission_id, include: ['blockers'] }))
    expect(told).toContain('Ten is too few.')
    expect(told).toContain('export const limit = 10')
    const { comments } = await day.person('review_show', { task: task_id })
    await agent.call('start_task', { ...begun, planned_task_id: task_id })
    const [first, second] = comments
    await agent.call('reply_to_review', { comment_id: first.comment_id, text: 'A hundred now.', done: true })
    await agent.call('reply_to_review', { comment_id: second.comment_id, text: 'It is the first kind.' })
    day.write('src/diff/index.ts', "// read\nexport * from './reader.ts'\nexport const limit = 100\n")
    await agent.call('complete_task', { task_id, status: 'success', outcome })

    await tess.getByText('The files have changed since you opened this page: src/diff/index.ts').waitFor()
    await tess.getByRole('button', { name: 'Show the changes' }).click()
    await tess.getByText('1 of 2 viewed').waitFor()
    await index.getByText('Only the changes since you viewed it.').waitFor()
    await index.getByText('export const limit = 100').waitFor()
    await index.getByText('A hundred now.').waitFor()
    // What was there before the work, and seen, is not shown as new again.
    expect(await index.locator('[data-kind="-"] .line-text').allTextContents()).toEqual([
      'export const limit = 10',
    ])
    expect(await rename.locator('.review-line').count()).toBe(0)
    await index.getByRole('button', { name: 'Show all changes' }).click()
    await expect.poll(() => index.locator('.line-by[title*="vera"]').count()).toBeGreaterThan(0)

    // The decision on the version before is put away when the page hears of the new one.
    await max.getByRole('button', { name: 'Approve' }).waitFor()
    await max.keyboard.press('a')
    const dialog = max.getByRole('dialog', { name: 'Approve' })
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByText('src/diff/index.ts').first().waitFor()
    await dialog.getByRole('button', { name: 'Show the current version' }).click()
    await max.getByText('export const limit = 100').first().waitFor()
    await max.keyboard.press('a')
    await max.keyboard.press('Control+Enter')
    await max.getByText('Approved.', { exact: true }).first().waitFor()
    await tess.getByText(/approved it/).waitFor()
    await rename.getByRole('button', { name: 'Unfold src/diff/rename.ts' }).click()
    await rename.getByRole('button', { name: 'Resolve' }).click()
    await rename.getByText('resolved it').waitFor()
    const { reviews } = await day.person('review_show', { task: task_id })
    expect(reviews.map(({ action }: { readonly action: string }) => action)).toEqual(['send_back', 'approve'])
  },
  240_000,
)
