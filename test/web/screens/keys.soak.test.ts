import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { pressInTurn } from '../../support-web/keys.ts'
import { screensOf, see } from '../../support-web/screens.ts'
import { recordSessions } from '../../support-web/session-day.ts'

const { serving, open } = useDashboard({ recorded: true, fill: recordSessions })

test('every view is two keys away', async () => {
  const { page } = await open({ path: '/' })
  const views = { b: 'board', m: 'missions', p: 'plan', d: 'dependencies', r: 'processes', h: 'history' }
  for (const [key, view] of Object.entries({ ...views, j: 'log', t: 'statistics' })) {
    await pressInTurn(page, 'g', key)
    await page.waitForURL(`${serving().address}/${view}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await pressInTurn(page, 'g', 'i')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
})

test('a list is walked and opened by keys, and its selection is in the address', async () => {
  const { page } = await open({ path: '/missions' })
  await page.locator('.mission-list li a').first().waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(/select=/)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Views of the mission' }).waitFor()
  for (const [key, tab] of Object.entries({ 2: 'board', 4: 'changes', 5: 'decisions', 6: 'log' })) {
    await page.keyboard.press(key)
    await page.waitForURL(`**/${tab}`)
  }
})

test('a key pressed as the list appears acts on the list', async () => {
  const { page } = await open({ path: '/plan' })
  await page.evaluate(`new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('h1')?.textContent !== 'Inbox') return
      observer.disconnect()
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))
      resolve()
    }).observe(document.body, { subtree: true, childList: true })
    history.pushState(null, '', '/')
    dispatchEvent(new PopStateEvent('popstate'))
  })`)
  await page.locator('.card').nth(1).and(page.locator('[aria-current]')).waitFor()
})

test('palette and sheet of keys open by keys, keep the focus, and give it back', async () => {
  const { page } = await open({ path: '/missions' })
  const link = page.locator('.mission-list li a').first()
  const ways = [
    ['Control+k', 'Search or run a command'],
    ['/', 'Search or run a command'],
    ['?', 'Keyboard shortcuts'],
  ] as const
  for (const [key, name] of ways) {
    await link.focus()
    await page.keyboard.press(key)
    const dialog = page.getByRole('dialog', { name })
    await dialog.waitFor()
    await expect.poll(() => dialog.evaluate((shown) => shown.contains(document.activeElement))).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => link.evaluate((shown) => shown === document.activeElement)).toBe(true)
  }
})

test('what is typed before the palette is there is typed in its field, and is no key of the page', async () => {
  const { page } = await open({ path: '/missions' })
  await page.locator('.mission-list li a').first().waitFor()
  const { promise: typed, resolve: wasTyped } = Promise.withResolvers<void>()
  await page.route('**/palette-*.js', async (route) => {
    await typed
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('gb')
  wasTyped()
  const field = page.getByRole('combobox', { name: 'Search' })
  await expect.poll(() => field.inputValue()).toBe('gb')
  await page.keyboard.type('x')
  await expect.poll(() => field.inputValue()).toBe('gbx')
  expect(page.url()).toMatch(/\/missions$/)
})

test('the id of what is selected, or shown, is copied by a key', async () => {
  const window = await open({ path: '/', permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = window
  const copied = async () => {
    await page.evaluate(() => navigator.clipboard.writeText(''))
    await page.keyboard.press('y')
    const read = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(read).not.toBe('')
    return read()
  }
  const screens = await screensOf(serving().day)
  const shown = async (path: string) => {
    const screen = screens.find((known) => known.path === path)
    if (!screen) throw new Error(`there is a screen at ${path}`)
    await see(window, screen)
  }
  for (const path of ['/', '/board', '/missions', '/plan', '/processes']) {
    await shown(path)
    await page.keyboard.press('j')
    await page.waitForURL(/select=/)
    expect([path, await copied()]).toEqual([path, new URL(page.url()).searchParams.get('select')])
  }
  for (const { path } of screens.filter(({ path }) => /^[/](tasks|runs|processes)[/][^/?]+$/.test(path))) {
    await shown(path)
    expect(await copied()).toBe(path.split('/').at(-1))
  }
  await shown('/log')
  await page.keyboard.press('j')
  const hash = await page.locator('.log-row[aria-current] .id').textContent()
  expect((await copied()).slice(0, 8)).toBe(hash)
  await shown(screens.find(({ path }) => /^[/]missions[/][^/]+$/.test(path))?.path ?? '')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const link = page.locator('.task-link:focus')
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe(`/tasks/${await copied()}`)
})

test('whatever has the focus shows it', async () => {
  const { page } = await open({ path: '/' })
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  const unseen: string[] = []
  for (let pressed = 0; pressed < 25; pressed += 1) {
    await page.keyboard.press('Tab')
    const [name, outline] = await page.evaluate(() => {
      const focused = document.activeElement
      const { outlineStyle = '' } = focused ? getComputedStyle(focused) : {}
      return [focused?.outerHTML.slice(0, 80) ?? '', focused === document.body ? 'body' : outlineStyle]
    })
    if (outline === 'none') unseen.push(name ?? '')
  }
  expect(unseen).toEqual([])
})
