import { expect } from 'vitest'
import { useDashboard } from '../support-web/dashboard.ts'
import { journey } from '../support-web/journey.ts'
import { screensOf, see } from '../support-web/screens.ts'
import { recordSessions } from '../support-web/session-day.ts'
import { violationsOf } from '../support-web/violations.ts'
import { overhang } from './looks.ts'

const { serving, open } = useDashboard({ recorded: true, fill: recordSessions })

// Both themes are tried in test/soak/screens.
journey(
  'has no accessibility violation on any screen',
  async () => {
    const window = await open({ colorScheme: 'light' })
    const found: string[] = []
    for (const screen of await screensOf(serving().day)) {
      await see(window, screen)
      for (const violation of await violationsOf(window.page)) found.push(`${screen.path}: ${violation}`)
    }
    expect(found).toEqual([])
    expect(window.complaints).toEqual([])
  },
  240_000,
)

journey(
  'fits every screen on a phone',
  async () => {
    const window = await open({ viewport: { width: 390, height: 844 }, hasTouch: true })
    const wide: (readonly [string, number])[] = []
    for (const screen of await screensOf(serving().day)) {
      await see(window, screen)
      wide.push([screen.path, await overhang(window.page)])
    }
    expect(wide.filter(([, by]) => by > 0)).toEqual([])
  },
  240_000,
)
