import { entriesAt, numberAt } from './entry.ts'
import { holdList } from './parts/hold-list.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

export const inbox: View = (answer, page) => {
  const holds = entriesAt(answer, 'holds')
  if (holds.length === 0) return 'Nothing waits for you.'
  const open = holds.some((hold) => hold['status'] === 'open')
  return blocks(
    holdList(holds, page),
    cutNote(holds.length, numberAt(answer, 'total'), nextPage(answer)),
    open ? 'Answer one: waymark resolve <hold> "what the agent is told", or with --dismiss' : '',
  )
}
