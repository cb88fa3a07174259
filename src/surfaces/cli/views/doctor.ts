import { entriesAt, textAt } from './entry.ts'
import type { View } from './view.ts'

export const doctor: View = (answer, { ink }) => {
  const checks = entriesAt(answer, 'checks')
  const widest = Math.max(0, ...checks.map((check) => textAt(check, 'check').length))
  const lines = checks.map((check) => {
    const mark = check['ok'] === true ? ink('green', 'ok  ') : ink('yellow', 'look')
    return `${mark}  ${textAt(check, 'check').padEnd(widest)}  ${textAt(check, 'finding')}`
  })
  return lines.join('\n')
}
