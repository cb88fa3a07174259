import { expect } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'
import { screensOf, see } from '../../support-web/screens.ts'
import { recordSessions } from '../../support-web/session-day.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { callsSince, overhang } from '../looks.ts'

const { serving, open } = useDashboard({ recorded: true, fill: recordSessions })

// Both themes and a touch screen are tried in the soak run.
journey(
  'has no accessibility violation on any screen, fits a phone, and reads each with at most three calls of its own',
  async () => {
    const window = await open({ colorScheme: 'light' })
    const found: string[] = []
    let counted = 0
    for (const screen of await screensOf(serving().day)) {
      const openedAt = await window.page.evaluate(() => performance.now())
      await see(window, screen)
      for (const violation of await violationsOf(window.page)) found.push(`${screen.path}: ${violation}`)
      await window.page.setViewportSize({ width: 390, height: 844 })
      const by = await overhang(window.page)
      if (by > 0) found.push(`${screen.path}: it is ${by} wider than a phone`)
      const calls = await callsSince(window.page, openedAt)
      if (calls.length > 3) found.push(`${screen.path}: it calls ${calls.join(', ')}`)
      counted += calls.length
      await window.page.setViewportSize({ width: 1280, height: 800 })
    }
    expect(found, found.join('\n')).toEqual([])
    expect(counted).toBeGreaterThan(20)
    expect(window.complaints).toEqual([])
  },
  240_000,
)
