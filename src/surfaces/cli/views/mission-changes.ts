import { entriesAt, numberAt, textAt } from './entry.ts'
import { changedFiles } from './parts/measured.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

/** Every file that a mission changed, in the form of the changes of a task. */
export const missionChanges: View = (answer, page) => {
  const files = entriesAt(answer, 'files')
  if (files.length === 0) return 'No file was changed.'
  const out = files.filter((file) => file['scope'] === 'out').length
  const total = numberAt(answer, 'total')
  const head = `${total === 1 ? '1 file' : `${total} files`} changed in ${textAt(answer, 'id')}`
  return blocks(
    out === 0 ? head : `${head}, ${page.ink('red', `${out} outside the declared scope`)}`,
    changedFiles(files, page),
    cutNote(files.length, total, '--limit shows more.'),
  )
}
