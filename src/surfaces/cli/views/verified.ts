import { type Entry, entriesAt, textAt } from './entry.ts'
import { blocks, indented } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { Page, View } from './view.ts'

/** The results of the commands that guards ask for; of those that did not pass, the end of what they printed. */
export const verified: View = (answer, page) =>
  blocks(...entriesAt(answer, 'commands').map((command) => commandText(command, page)))

function commandText(command: Entry, page: Page): string {
  const status = textAt(command, 'status')
  const head = `${page.ink('bold', textAt(command, 'run'))}  ${words(status, page)}`
  if (status === 'unapproved') {
    return `${head}\n  A person must allow it first: waymark approve ${textAt(command, 'hold_id')}`
  }
  const output = textAt(command, 'output').trimEnd().split('\n').slice(-20).join('\n')
  return status === 'passed' || output === '' ? head : `${head}\n${indented(output)}`
}

function words(status: string, page: Page): string {
  return status === 'passed' ? page.ink('green', status) : statusWord(status, page)
}
