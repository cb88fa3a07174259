import { type Entry, textAt, textsAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { blocks, bullets, indented } from './sections.ts'

const lists = [
  ['achievements', 'Achieved'],
  ['limitations', 'Limitations'],
  ['next_steps', 'Next'],
  ['packages_added', 'Packages added'],
  ['packages_removed', 'Packages removed'],
  ['commands_executed', 'Commands run'],
] as const

/** What somebody said, never shown like what was measured: attributed, and in italics where there are any. */
export function claims(claimed: Entry, who: string, { ink }: Page): string {
  const tests = textAt(claimed, 'tests_status')
  const said = [
    textAt(claimed, 'summary'),
    ...lists.map(([field, title]) => {
      const items = textsAt(claimed, field)
      return items.length === 0 ? '' : `${title}:\n${indented(bullets(items))}`
    }),
    tests === '' ? '' : `Tests: ${tests}`,
  ].filter((part) => part !== '')
  if (said.length === 0) return ''
  return blocks(
    `${ink('italic', `${who} says (a claim, not measured):`)}\n${indented(inkLines(said.join('\n'), ink))}`,
  )
}

/** One thing that somebody said, in a line. */
export function quoted(text: string, { ink }: Page): string {
  return text === '' ? '' : ink('italic', `"${text}"`)
}

function inkLines(text: string, ink: Page['ink']): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : ink('italic', line)))
    .join('\n')
}
