import { age } from '../text/age.ts'
import { entriesAt, numberAt, textAt } from './entry.ts'
import { blocks, cutNote, indented } from './parts/sections.ts'
import type { View } from './view.ts'

/** What guards may run here: each line with who approved it, and its pinned files. */
export const commandList: View = (answer, page) => {
  const commands = entriesAt(answer, 'commands')
  if (commands.length === 0) return 'No command is approved here. Guards ask for them: waymark inbox.'
  const lines = commands.map((command) => {
    const files = entriesAt(command, 'files').map(
      (file) => `${textAt(file, 'path')}  ${textAt(file, 'sha256').slice(0, 12) || 'none'}`,
    )
    const stands = command['as_approved'] === true ? '' : '  changed since: it does not run as it is now'
    return [
      `${page.ink('bold', textAt(command, 'hash').slice(0, 12))}  ${textAt(command, 'run')}${page.ink('yellow', stands)}`,
      indented(
        `by ${textAt(command, 'by')} ${age(textAt(command, 'at'), page.now)}, in ${textAt(command, 'folder')}`,
      ),
      indented(files.length === 0 ? 'nothing is pinned' : files.join('\n')),
    ].join('\n')
  })
  return blocks(
    ...lines,
    cutNote(commands.length, numberAt(answer, 'total'), 'waymark command list --limit 500'),
    'Take one back: waymark command revoke <hash> "why"',
  )
}
