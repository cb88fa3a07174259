import { styleText } from 'node:util'
import type { Terminal } from './terminal.ts'
import { printable, printableStyled } from './text/printable.ts'

/** The terminal of this process. Colours follow NO_COLOR, FORCE_COLOR and whether somebody looks. */
export function processTerminal(): Terminal {
  quietWhenClosed()
  return {
    interactive: process.stdout.isTTY === true,
    width: Math.max(40, process.stdout.columns || 120),
    ink: (style, text) => (text === '' ? '' : styleText(style, text, { stream: process.stdout })),
    write: (text) => {
      process.stdout.write(printableStyled(text))
    },
    writeError: tell,
  }
}

/** Prints a text on standard output. All that this program prints for people goes through here or through `tell`. */
export function print(text: string): void {
  process.stdout.write(printable(text))
}

/** Prints a text on standard error. */
export function tell(text: string): void {
  process.stderr.write(printable(text))
}

/** `waymark log | head` closes the pipe early; that is no error of ours. */
function quietWhenClosed(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
  }
}
