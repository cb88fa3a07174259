import { createInterface } from 'node:readline/promises'
import { processEnd } from '../../kernel/process-end.ts'
import type { AskPerson, CommandPreview } from '../../remote/machine/trusted-commands.ts'
import { printError, withoutControlCodes } from '../../surfaces/cli/terminal.ts'

/** Asks at this terminal; null where no person reads and types here. */
export function askAtTerminal(): AskPerson | null {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY) return null
  return async (command) => {
    printError(commandText(command))
    return askYesOrNo('Run exactly this on this machine whenever a guard needs it?')
  }
}

/** Asks the person at this terminal. Anything but yes is no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const { stdin, stderr } = process
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const answer = await lines.question(`${withoutControlCodes(question)} [y/N] `, { signal: processEnd })
    return /^(?:y|yes)$/i.test(answer.trim())
  } finally {
    lines.close()
    stdin.pause()
  }
}

const maxFiles = 100

/** The command as this machine sees it: nothing in it hides, and nothing steers the terminal. */
function commandText({ run, folder, files }: CommandPreview): string {
  const lines = escapeControlCharacters(run).split('\n')
  const pinned = files
    .slice(0, maxFiles)
    .map(
      ({ path, sha256, text }) =>
        `    ${escapeControlCharacters(path)}  ${text === undefined ? (sha256?.slice(0, 16) ?? 'not there') : escapeControlCharacters(text).replaceAll('\n', '\\n')}\n`,
    )
  const more = files.length > maxFiles ? `    and ${files.length - maxFiles} more\n` : ''
  return [
    'The server asks to run this command on this machine:\n',
    ...lines.map((line) => `    ${line}\n`),
    `  in ${escapeControlCharacters(folder).replaceAll('\n', '\\n')}\n`,
    files.length === 0 ? '  with no pinned files\n' : '  with these scripts and pinned files (SHA-256):\n',
    ...pinned,
    more,
  ].join('')
}

/** Escapes characters that a terminal does not show as themselves. */
function escapeControlCharacters(text: string): string {
  return text.replace(
    /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\n]/gv,
    (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
  )
}
