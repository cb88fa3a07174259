import { quoteShellWord } from '../../src/kernel/shell-word.ts'
import { isSingleUser, session } from '../api/session.ts'
import { CopyButton } from './text.tsx'

/** A command of Waymark for the person's terminal. */
export function TerminalCommand({ words }: { readonly words: string }) {
  const command = `${programCommand()} ${words}`
  return (
    <p class="snippet">
      <code>{command}</code>
      <CopyButton text={command} />
    </p>
  )
}

/** How a terminal starts Waymark: by its name, or by the path of the program that serves this page. */
export function programCommand(): string {
  const current = session.value
  if (current === null || current === 'unknown person' || current.on_path || !isSingleUser.value)
    return 'waymark'
  return `node ${quoteShellWord(current.program)}`
}
