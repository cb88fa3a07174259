import { textAt } from './entry.ts'
import type { View } from './view.ts'

export const resolve: View = (answer, { ink }) => {
  const said = textAt(answer, 'answer')
  const done = textAt(answer, 'status') === 'dismissed' ? 'Dismissed' : 'Resolved'
  const kind = textAt(answer, 'kind').replace(/_/g, ' ')
  return `${ink('green', done)} ${kind} ${textAt(answer, 'hold_id')}.${said === '' ? '' : ` The agent is told: ${said}`}`
}
