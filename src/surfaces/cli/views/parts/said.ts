import { age } from '../../text/age.ts'
import { type Entry, entryAt, textAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { quoted } from './claims.ts'

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
