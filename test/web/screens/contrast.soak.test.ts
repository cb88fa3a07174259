import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

const { open } = useDashboard()

test('text and statuses stand out from every ground, in both themes', async () => {
  const { page } = await open({ path: '/nowhere' })
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme === 'dark' ? 'dark' : 'light' })
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toContain(theme)
    const contrasts = await page.evaluate(contrastsOfTokens)
    const tooLow = contrasts.filter(({ token, contrast }) => contrast < (token === 'text' ? 13 : 4.6))
    expect(contrasts.length).toBe(24)
    expect(tooLow).toEqual([])
  }
})

/** By WCAG, of each token on each ground, as the browser paints them. */
function contrastsOfTokens() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const probe = document.body.appendChild(document.createElement('i'))
  const luminance = (token: string) => {
    if (!canvas) return Number.NaN
    probe.style.color = `var(--${token})`
    canvas.fillStyle = getComputedStyle(probe).color
    canvas.fillRect(0, 0, 1, 1)
    const channels = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((byte) => {
      const share = byte / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    const [red = 0, green = 0, blue = 0] = channels
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const tokens = ['text', 'muted', 'planned', 'ready', 'active', 'review', 'blocked', 'done']
  return ['canvas', 'surface', 'raised'].flatMap((ground) =>
    tokens.map((token) => {
      const [one, other] = [luminance(token), luminance(ground)]
      return { token, ground, contrast: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) }
    }),
  )
}
