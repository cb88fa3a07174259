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
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source)
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
