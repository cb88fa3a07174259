import { counted } from '../text/count.ts'
import { type Entry, entriesAt, numberAt, textAt } from './entry.ts'
import { blocks } from './parts/sections.ts'
import type { Page, View } from './view.ts'

/** One line per finding, `file:line:column`, as editors understand it. */
export const processLint: View = (answer, page) => {
  const file = textAt(answer, 'file')
  const findings = entriesAt(answer, 'findings')
  if (findings.length === 0) return `${file}: ${page.ink('green', 'nothing is wrong.')}`
  const lines = findings.map((finding) => line(file, finding, page))
  const total = `${counted(numberAt(answer, 'errors'), 'error')}, ${counted(numberAt(answer, 'warnings'), 'warning')}`
  return blocks(lines.join('\n'), total)
}

function line(file: string, finding: Entry, { ink }: Page): string {
  const at = textAt(finding, 'line') === '' ? '' : `:${textAt(finding, 'line')}:${textAt(finding, 'column')}`
  const severity = textAt(finding, 'severity')
  const shown = ink(severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'dim', severity)
  return `${file}${at}  ${shown}  ${textAt(finding, 'message')}  ${ink('dim', textAt(finding, 'rule'))}`
}
