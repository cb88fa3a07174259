import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Found {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** What axe finds wrong with what the page shows; empty when nothing is. All of its rules, or those that are named. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // A page that was loaded before has it.
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    await page.evaluate(axe.source)
    await page.evaluate(`axe.configure({ rules: [{ id: 'color-contrast', selector: '*:not([${alike}])' }] })`)
  }
  const theme = await page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme')
  await page.evaluate(markAlike, { alike, theme })
  const options = {
    resultTypes: ['violations'],
    preload: false,
    elementRef: false,
    ...(rules && { runOnly: [...rules] }),
  }
  // What a dialog covers is looked at without it.
  const shown = "document.querySelector('dialog[open]') ?? document"
  const { violations } = await page.evaluate<Found>(`axe.run(${shown}, ${JSON.stringify(options)})`)
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

const alike = 'data-alike'

/**
 * Marks what has the same colors as something that was in sight before, so that its contrast is not measured again, which
 * is half of axe's time. Classes, states and styles give colors; nothing gives them by position.
 */
function markAlike({ alike, theme }: { readonly alike: string; readonly theme: string }): void {
  const kept = globalThis as { looks?: Set<string> }
  kept.looks ??= new Set()
  const looks = new Map<Element, string>()
  const root = document.querySelector('dialog[open]') ?? document.documentElement
  for (const element of [root, ...root.querySelectorAll('*')]) {
    element.removeAttribute(alike)
    const own = [...element.attributes]
      .filter(({ name }) =>
        /^(?:class|style|disabled|type|role|data-.*|aria-(?!label|desc|controls|owns).*)$/.test(name),
      )
      // Lines and counts differ by a number alone.
      .map(({ name, value }) => `${name}=${value.replace(/^\d+$/, '')}`)
    const look = `${looks.get(element.parentElement ?? element) ?? theme}>${element.tagName} ${own.sort().join(' ')}`
    looks.set(element, look)
    const { top, bottom, left, right } = element.getBoundingClientRect()
    const isInSight = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
    if (kept.looks.has(look)) element.setAttribute(alike, '')
    else if (isInSight && element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      kept.looks.add(look)
  }
}
