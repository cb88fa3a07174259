import { entriesAt, entryAt, numberAt, textAt } from './entry.ts'
import { changedFiles, countsInWords, sharedTree, verdict } from './parts/measured.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

export const changes: View = (answer, page) => {
  const verification = entryAt(answer, 'verification')
  const files = entriesAt(answer, 'changes')
  const next = textAt(answer, 'next_offset')
  const soFar = textAt(answer, 'status') === 'open' ? ' so far' : ''
  return blocks(
    `Task ${textAt(answer, 'task_id')}, attempt ${textAt(answer, 'attempt_id')}${soFar}: ${countsInWords(entryAt(answer, 'counts') ?? {})}`,
    changedFiles(files, page),
    next === '' ? '' : cutNote(files.length, numberAt(answer, 'total'), `the next ones: --offset ${next}`),
    sharedTree(answer, page),
    verification ? verdict(verification, page, entryAt(answer, 'counts')) : '',
  )
}
