import { blocks, bullets, indented } from './parts.ts'
import { age } from './text.ts'
import { type Entry, entryAt, type Page, textAt, textsAt } from './view.ts'

/** Decisions, as the agents gave them. */
export function decisionList(decisions: readonly Entry[], page: Page): string {
  return decisions
    .map((decision) => {
      const head = `${textAt(decision, 'question')} ${page.ink('bold', textAt(decision, 'chosen'))}`
      return `- ${head}  ${page.ink('dim', when(decision, page))}\n  ${quoted(textAt(decision, 'reasoning'), page)}`
    })
    .join('\n')
}

export function progressList(progress: readonly Entry[], page: Page): string {
  return progress
    .map((step) => {
      const percent = textAt(step, 'progress')
      const share = percent === '' ? '' : ` (${percent} %)`
      return `- ${quoted(textAt(step, 'message'), page)}${share}  ${page.ink('dim', when(step, page))}`
    })
    .join('\n')
}

export function issueList(issues: readonly Entry[], page: Page): string {
  return issues
    .map((issue) => {
      const type = textAt(issue, 'type').toLowerCase().replace(/_/g, ' ')
      const answered = entryAt(issue, 'resolved')
      const answer = answered
        ? `\n  ${textAt(answered, 'by')} answered: ${textAt(answered, 'answer') || textAt(answered, 'status')}`
        : ''
      const meanwhile = textAt(issue, 'resolution')
      const workaround = meanwhile === '' ? '' : `\n  meanwhile: ${quoted(meanwhile, page)}`
      return `- ${textAt(issue, 'hold_id') || textAt(issue, 'id')}  ${type}: ${quoted(textAt(issue, 'description'), page)}${workaround}${answer}`
    })
    .join('\n')
}

function when(entry: Entry, page: Page): string {
  return age(textAt(entry, 'created_at'), page.now)
}

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
