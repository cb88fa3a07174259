import type { Style } from '../terminal.ts'
import { textAt } from './entry.ts'
import type { View } from './view.ts'

export const diff: View = (answer, { ink }) => {
  const text = textAt(answer, 'diff')
  if (text === '') return 'Nothing changed.'
  const cut = answer['truncated'] === true ? '\nThe diff is longer; name a path to see one file.' : ''
  const lines = text.trimEnd().split('\n')
  return `${lines.map((line) => styled(line, ink)).join('\n')}${cut}`
}

function styled(line: string, ink: (style: Style, text: string) => string): string {
  if (/^(diff|index|---|\+\+\+|similarity|rename|new file|deleted file|old mode|new mode)/.test(line)) {
    return ink('bold', line)
  }
  if (line.startsWith('@@')) return ink('cyan', line)
  if (line.startsWith('+')) return ink('green', line)
  return line.startsWith('-') ? ink('red', line) : line
}
