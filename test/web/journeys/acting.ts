import { expect } from 'vitest'
import { fillBusyDay } from '../../support-web/busy-day.ts'
import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'

const { open } = useDashboard({ fill: fillBusyDay, folders: ['diffkit', 'shop'] })

journey('an approval can be undone for five seconds, and then it is sent', async () => {
  const { serving, page, holdTime } = await open({ path: '/' })
  const kinds = async () =>
    (await serving.day.person('inbox', {})).items.map(({ kind }: { readonly kind: string }) => kind)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.locator('.card', { hasText: 'Property tests' }).locator('header').click()
  await page.mouse.move(2, 2)
  await holdTime()
  await page.keyboard.press('a')
  await page.getByText('Approved: Property tests').first().waitFor()
  await page.keyboard.press('u')
  const approve = page.locator('.card[aria-current]').getByRole('button', { name: 'Approve' })
  await approve.waitFor()
  expect(await kinds()).toContain('review')
  await page.keyboard.press('a')
  await approve.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Inbox' }).hover()
  await page.clock.fastForward(4_000)
  expect(await kinds()).toContain('review')
  await page.clock.fastForward(1_000)
  await expect.poll(kinds, { timeout: 20_000 }).not.toContain('review')
})

journey('a key acts on no card that took the place of the selected one', async () => {
  const { serving, page } = await open({ path: '/' })
  const juno = serving.day.agent('juno')
  const { task_id } = await juno('start_task', { name: 'Check the label' })
  const outcome = { summary: 'Checked.', no_change_reason: 'It was right.', manual_review_needed: true }
  await juno('complete_task', { task_id, status: 'success', outcome })
  const card = page.locator('.card', { hasText: 'Check the label' })
  const id = await card.getAttribute('id')
  await card.locator('header').click()
  await page.mouse.move(2, 2)
  await card.and(page.locator('[aria-current]')).waitFor()
  await serving.day.person('resolve', { id, answer: 'Fine.' })
  await card.waitFor({ state: 'detached' })
  await page.keyboard.press('a')
  expect(await page.locator('.card[aria-current]').count()).toBe(0)
  expect(await page.locator('.toast').count()).toBe(0)
})

journey('what is typed as the palette appears stays', async () => {
  const { page } = await open({ path: '/plan' })
  await page.evaluate(`new MutationObserver((_, observer) => {
    const field = document.querySelector('.palette-field')
    if (field === null) return
    observer.disconnect()
    field.value = 'add a task'
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }).observe(document.body, { subtree: true, childList: true })`)
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Add a task' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('add a task')
})

journey('a plan is changed by keys: added to, renamed, put in another order', async () => {
  const { page, show } = await open({ path: '/plan?select=M2' })
  await page.getByRole('link', { name: 'Fill a cart' }).waitFor()
  await page.keyboard.press('c')
  await page.getByLabel('A new task').fill('Send a letter')
  await page.keyboard.press('Enter')
  const added = page.getByRole('link', { name: 'Send a letter' })
  await added.waitFor()
  // The field stays, for the next task.
  await page.keyboard.type('Send a parcel')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Send a parcel' }).waitFor()
  await page.keyboard.press('Escape')
  const id = (await added.getAttribute('href'))?.split('/').at(-1)
  await show(`/plan?select=${id}`)
  await added.waitFor()
  await page.keyboard.press('F2')
  await page.getByLabel('Name of Send a letter').fill('Send a postcard')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Send a postcard' }).waitFor()
  await page.keyboard.press('Alt+ArrowUp')
  const names = () => page.locator('.plan-row a').allTextContents()
  await expect
    .poll(
      async () =>
        (await names()).indexOf('Send a postcard') -
        (await names()).indexOf('Look for ways to order without paying'),
    )
    .toBe(-1)
})

journey('a board says which guard refuses a move, and which operation a move runs', async () => {
  const { page } = await open({ path: '/board' })
  await page.locator('main').getByRole('link', { name: 'Rename and copy detection' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('l')
  await page.keyboard.press('m')
  await page.getByText('An attempt of otto is open').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('h')
  await page.keyboard.press('m')
  await page.getByRole('button', { name: 'Take this task yourself' }).click()
  await page.getByRole('region', { name: 'In progress' }).getByText('List products and search them').waitFor()
})

journey('keys in quick succession act on the card that the key before them selected', async () => {
  const { page } = await open({ path: '/board' })
  await page.locator('main').getByRole('link', { name: 'Rename and copy detection' }).waitFor()
  await page.keyboard.press('j')
  const first = await page.locator('.task-card[aria-current] a').first().textContent()
  const titles = () => page.locator('dialog .dialog-title').allTextContents()
  await Promise.all(['l', 'm'].map((key) => page.keyboard.press(key)))
  await expect.poll(titles).toEqual([expect.not.stringContaining(first ?? '')])
  await Promise.all(['Escape', 'h', 'm'].map((key) => page.keyboard.press(key)))
  await expect.poll(titles).toEqual([`Move “${first}”`])
})
