import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { formatCount, plainWord } from '../../kernel/text.ts'
import { blocks, indentText } from '../../surfaces/cli/render/parts.ts'
import { clockTime, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { noticeKinds } from '../domain/notification.ts'

/** The notifications, each with its last error. */
export const notifications: AnswerView<'notify_list'> = ({ notifications: list }, page) => {
  if (list.length === 0) {
    return 'There are no notifications. Add one: waymark notify add desktop, or waymark notify add webhook https://…'
  }
  return blocks(...list.map((entry) => notificationText(entry, page)))
}

function notificationText(
  entry: OutputOf<'notify_list'>['notifications'][number],
  { ink, now }: RenderContext,
): string {
  const kinds =
    entry.kinds.length === noticeKinds.length ? 'everything' : entry.kinds.map(plainWord).join(', ')
  const sent = entry.last_sent_at === null ? 'nothing sent yet' : `sent ${formatAge(entry.last_sent_at, now)}`
  const waits = entry.waiting === 0 ? '' : `, ${entry.waiting} waiting`
  const next = entry.next_try_at === null ? '' : ` Next try at ${clockTime(entry.next_try_at)}.`
  return [
    `${ink('bold', entry.name)}: ${entry.form} ${entry.to}${entry.own ? '' : ` of ${entry.owner}`}`,
    indentText(`about ${kinds}; ${sent}${waits}`),
    ...(entry.last_error === null ? [] : [indentText(ink('red', `${entry.last_error}${next}`))]),
  ].join('\n')
}

export const notificationAdded: AnswerView<'notify_add'> = (entry, page) =>
  [
    `${page.ink('green', 'Added')} ${notificationText(entry, page)}`,
    ...secretLines(entry),
    `Try it: ${shellCommand`waymark notify test ${entry.name}`}`,
  ].join('\n')

export const notificationEdited: AnswerView<'notify_edit'> = (entry, page) =>
  [`${page.ink('green', 'Changed')} ${notificationText(entry, page)}`, ...secretLines(entry)].join('\n')

function secretLines({ secret }: OutputOf<'notify_add'>): readonly string[] {
  return secret === null ? [] : ['Its signing secret. It is not shown again:', secret]
}

export const notificationRemoved: AnswerView<'notify_remove'> = ({ name, not_sent: left }, { ink }) =>
  `${ink('green', 'Removed')} ${name}.${left === 0 ? '' : ` ${formatCount(left, 'notification')} will not be sent.`}`

export const notificationTested: AnswerView<'notify_test'> = ({ success, says }, { ink }) =>
  success ? `${ink('green', 'Sent.')} ${says}` : `${ink('red', 'Not sent.')} ${says}`
