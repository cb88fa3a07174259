import { age } from '../text/age.ts'
import { type Entry, entryAt, textAt, textsAt } from './entry.ts'
import { blocks, pairs } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { Page, View } from './view.ts'

/** One task of the plan. */
export const planTask: View = (task, page) => {
  const waits =
    task['blocked'] === true
      ? `${textsAt(task, 'depends_on').join(', ')} (open)`
      : textsAt(task, 'depends_on').join(', ')
  return `${page.ink('bold', textAt(task, 'title'))}\n${pairs(
    [
      ['id', textAt(task, 'id')],
      ['description', textAt(task, 'description')],
      ['status', statusWord(textAt(task, 'resolution') || textAt(task, 'status'), page)],
      ['held by', textAt(task, 'claimed_by')],
      ['phase', textAt(task, 'phase_id')],
      ['milestone', textAt(task, 'milestone_id')],
      ['role', textAt(task, 'role')],
      ['waits for', waits],
      ['planned', `${age(textAt(task, 'created_at'), page.now)}${by(task)}`],
    ],
    page,
  )}`
}

/** The next task, and whose it is now. */
export const nextTask: View = (answer, page) => {
  const task = entryAt(answer, 'task')
  if (!task) return textAt(answer, 'message') || 'Nothing is ready.'
  return blocks(planTask(task, page), claimText(entryAt(answer, 'claim'), page))
}

function claimText(claim: Entry | null, { ink }: Page): string {
  if (!claim) return ''
  const until = textAt(claim, 'expires_at').slice(11, 16)
  return `${ink('green', 'Claimed')} for ${textAt(claim, 'agent')} until ${until} UTC, with token ${textAt(claim, 'token')}.`
}

function by(task: Entry): string {
  const creator = textAt(task, 'creator')
  return creator === '' ? '' : ` by ${creator}`
}
