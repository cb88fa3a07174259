import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { screensOf, see } from '../../support-web/screens.ts'
import { recordSessions } from '../../support-web/session-day.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { otherTheme, overhang } from '../looks.ts'

const { serving, open } = useDashboard({ recorded: true, fill: recordSessions })

test('every view is without a violation of axe, readable in both themes, and no wider than the screen', {
  timeout: 240_000,
}, async () => {
  const window = await open({ colorScheme: 'light' })
  const found: string[] = []
  let theme = 'light'
  for (const screen of await screensOf(serving().day)) {
    const note = (violation: string) => found.push(`${screen.path}, ${theme}: ${violation}`)
    await see(window, screen)
    ;(await violationsOf(window.page)).map(note)
    theme = await otherTheme(window.page, theme)
    ;(await violationsOf(window.page, ['color-contrast'])).map(note)
    if ((await overhang(window.page)) > 0) note('it is wider than the screen')
  }
  expect(found).toEqual([])
  expect(window.complaints).toEqual([])
})

test('every view fits a phone that is touched', { timeout: 240_000 }, async () => {
  const window = await open({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const wide: (readonly [string, number])[] = []
  for (const screen of await screensOf(serving().day)) {
    await see(window, screen)
    wide.push([screen.path, await overhang(window.page)])
  }
  expect(wide.filter(([, by]) => by > 0)).toEqual([])
})
