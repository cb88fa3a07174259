import { shortened } from '../../../domain/gate/shown.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt } from './entry.ts'
import { holdList } from './parts/hold-list.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

/** How each kind that is there is answered. */
function hints(holds: readonly Entry[]): string {
  const decisions = holds.some((hold) => ['approval', 'command'].includes(textAt(hold, 'kind')))
  const answers = holds.some((hold) => !['approval', 'command'].includes(textAt(hold, 'kind')))
  return [
    decisions ? 'Decide: waymark approve <hold>, or waymark reject <hold> "why"' : '',
    answers ? 'Answer one: waymark resolve <hold> "what the agent is told", or with --dismiss' : '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/** What is asked, or the command that shows it; and the command that decides it and nothing else. */
function answerLine(hold: Entry): string {
  const content = textAt(hold, 'content')
  const approve = content && `waymark approve ${textAt(hold, 'hold_id')} --content ${shortened(content)}`
  return [...shownLines(hold), approve].filter((line) => line !== '').join('\n')
}

function shownLines(hold: Entry): readonly string[] {
  const request = entryAt(hold, 'request') ?? {}
  if (entriesAt(request, 'approvals').some((approval) => textAt(approval, 'of') === 'changes')) {
    const [task, mission] = [textAt(hold, 'task_id'), textAt(hold, 'mission_id')]
    return [task === '' ? `waymark mission changes ${mission}` : `waymark diff ${task}`]
  }
  const files = entriesAt(request, 'files').map(
    (file) => `pinned ${textAt(file, 'path')}  ${textAt(file, 'sha256').slice(0, 12) || 'none'}`,
  )
  return [...files, textAt(entryAt(request, 'before') ?? {}, 'diff').trimEnd()]
}

export const inbox: View = (answer, page) => {
  const holds = entriesAt(answer, 'holds')
  if (holds.length === 0) return 'Nothing waits for you.'
  const open = holds.some((hold) => hold['status'] === 'open')
  return blocks(
    holdList(holds, page, answerLine),
    cutNote(holds.length, numberAt(answer, 'total'), nextPage(answer)),
    open ? hints(holds) : '',
  )
}
