import { shortened } from '../../../domain/gate/shown.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt } from './entry.ts'
import { holdList } from './parts/hold-list.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

/** What is asked, or the command that shows it; and each way to answer. */
function answerLine(hold: Entry): string {
  const content = textAt(hold, 'content')
  const answers = entriesAt(hold, 'answers').map((answer) => {
    const [verb, command] = [textAt(answer, 'verb'), textAt(answer, 'command')]
    return `${verb}: ${command}${verb === 'Approve' && content !== '' ? ` --content ${shortened(content)}` : ''}`
  })
  return [...shownLines(hold), ...answers].filter((line) => line !== '').join('\n')
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
  return blocks(
    holdList(holds, page, answerLine),
    cutNote(holds.length, numberAt(answer, 'total'), nextPage(answer)),
  )
}
