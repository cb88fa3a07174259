import { shortenContent } from '../../gate/domain/approved-content.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, bullets, cutNote, indentText, statusWord } from '../../surfaces/cli/render/parts.ts'
import { shortRunIds } from '../../surfaces/cli/render/run-ids.ts'
import { escapeLineBreaks, formatAge, withLocalTimes, withPerson } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import { quoteText } from '../../track/cli/records.ts'
import { deniedLine, verdictText } from '../../track/cli/verdict.ts'
import { itemOutcome, urgentItemKinds } from '../domain/inbox-item.ts'
import { answeredWithVerdict, verdictBeside } from '../domain/verdict-beside.ts'
import type { InboxItemEntry } from '../operations/item-answer.ts'

type InboxRow = OutputOf<'inbox'>['items'][number]
/** An item of the inbox, or of a page, which measures no content to approve. */
type ListedItem = InboxItemEntry & Partial<InboxRow>

export const inbox: AnswerView<'inbox'> = (answer, page) => {
  const { items } = answer
  if (items.length === 0) return 'Nothing needs you.'
  const urgent = items.filter(({ kind }) => urgentItemKinds.some((one) => one === kind)).length
  const isOpen = items[0]?.status === 'open'
  const inFull = isOpen ? items.slice(0, Math.max(urgent, maxInFull)) : items
  const others = items.slice(inFull.length)
  return blocks(
    ...inFull.map((item) => itemText(item, items, page)),
    others.map((item) => itemHead(item, page, true)).join('\n'),
    others.length === 0 ? '' : page.ink('dim', 'waymark show <id> shows one of these with its answers.'),
  )
}

/** Beside the items that agents and gates wait for, which are always shown in full. */
const maxInFull = 5

/** An item with its answers, or the item that is answered with it. */
function itemText(item: ListedItem, items: readonly ListedItem[], page: RenderContext): string {
  const verdict = verdictBeside(item, items)
  if (verdict === undefined)
    return [inboxItemText(item, page), indentText(answerLines(item, page))].filter(Boolean).join('\n')
  const lines = [
    withLocalTimes(item.reason, page.now),
    `${answeredWithVerdict} The verdict: ${verdict.item_id}`,
  ]
  return [itemHead(item, page, true), ...lines.map((line) => indentText(line))].join('\n')
}

/** The question of an item, or the command that shows it; and each possible answer with its effect. */
function answerLines(item: ListedItem, page: RenderContext): string {
  if (needsInbox(item)) return `waymark inbox  ${page.ink('dim', 'Show it with its answers')}`
  const effects: Readonly<Record<string, string>> = {
    ...answerEffects[item.kind],
    ...(item.kind === 'review' && effectsOfReview(item, page)),
    ...eventEffects(item),
    ...(needsTerminal(item, page) && { Approve: `${answerEffects.command['Approve']} (in a terminal)` }),
  }
  const answers = item.answers.map(({ verb, command }): readonly [string, string] => {
    const content = verb === 'Approve' && item.content ? ` --content ${shortenContent(item.content)}` : ''
    return [`${shortRunIds(command)}${content}`, page.ink('dim', effects[verb] ?? verb)]
  })
  const rows = [
    ...changesCommand(item).map(([command, meaning]) => [command, page.ink('dim', meaning)] as const),
    ...answers,
  ]
  const width = Math.max(0, ...rows.map(([command]) => command.length))
  const lines = rows.map(([command, effect]) => `${command.padEnd(width)}  ${effect}`)
  return [...shownLines(item), ...lines].filter((line) => line !== '').join('\n')
}

/** Its approval names a content that only the inbox shows. */
function needsInbox({ status, request, content }: ListedItem): boolean {
  return status === 'open' && request !== null && content === undefined
}

/** A connected machine shows its commands to a person who approves them there. */
function needsTerminal({ request }: ListedItem, { interactive }: RenderContext): boolean {
  return request?.kind === 'command' && request.machine !== undefined && interactive !== true
}

/** Of a decision about a run: the event that each answer sends, as its process describes it. */
function eventEffects({ evidence }: ListedItem): Readonly<Record<string, string>> {
  const effects = (evidence?.choices ?? []).flatMap(({ event, description, answer }) => {
    if (answer === 'other') return []
    const verb = answer === 'yes' ? 'Approve' : 'Reject'
    const isSame = event === verb.toLowerCase()
    const meaning = description ?? event
    return [[verb, isSame || description === null ? meaning : `${event}: ${description}`]]
  })
  return Object.fromEntries(effects)
}

const reviewEffects = {
  'Review the work': 'Read the lines, comment on them',
  Approve: 'Accept the work as it is',
  'Send back': 'Send back with your reason: the task is to do again',
  Answer: 'Answer the agent; the task stays as it is',
  Dismiss: 'Close this item without an answer',
} as const

/** The same, with the status that the task keeps. */
function effectsOfReview({ evidence }: ListedItem, page: RenderContext): Readonly<Record<string, string>> {
  if (!evidence || evidence.is_replaced || evidence.claimed === null) return {}
  const stays = `the task stays ${statusWord(evidence.attempt_status ?? '', page)}`
  return {
    Answer: `Answer the agent; ${stays}`,
    ...(evidence.attempt_status === 'failed' && { Approve: `Accept the changes; ${stays}` }),
  }
}

/** The effect of each answer, by the kind of item. */
const answerEffects: Readonly<Record<InboxRow['kind'], Readonly<Record<string, string>>>> = {
  verdict: { ...reviewEffects, Answer: 'Accept the work as it is, with words for the agent' },
  review: reviewEffects,
  scope: { ...reviewEffects, Approve: 'Accept these files' },
  blocker: { Answer: 'Answer the agent', Dismiss: 'Close this item without an answer' },
  approval: { Approve: 'Approve this step of the run', Reject: 'Refuse it with your reason' },
  command: { Approve: 'Let it run, now and later', Reject: 'Forbid it with your reason' },
  loss: {
    Restore: 'Bring the files back, after showing the difference',
    Dismiss: 'Close this item: the loss was intended',
  },
  stale_attempt: {
    Approve: 'Abandon the attempt: others can start the task',
    Reject: 'Let the attempt go on',
    Dismiss: 'Close this item without an answer',
  },
}

/** The command that shows the changes which an answer is about, with its meaning. */
function changesCommand({
  request,
  task_id: task,
  mission_id: mission,
}: ListedItem): readonly (readonly [string, string])[] {
  const isAbout =
    request?.kind === 'changes' ||
    (request?.kind === 'decision' && request.approvals.some(({ artifact }) => artifact === 'changes'))
  if (!isAbout) return []
  return task === null
    ? [
        [
          `waymark review ${mission}`,
          'Read the changed lines; the --content that it prints is not that of this approval',
        ],
      ]
    : [[`waymark diff ${task}`, 'Read the changed lines']]
}

function shownLines({ request, evidence }: ListedItem): readonly string[] {
  if (request?.kind === 'decision') {
    return (evidence?.artifacts ?? []).map(({ type, files, total }) => {
      const more = total > files.length ? ` and ${total - files.length} more` : ''
      const named = total === 0 ? 'The run recorded no file of it.' : `${files.join(', ')}${more}`
      return escapeLineBreaks(`${type}: ${named}`)
    })
  }
  if (request?.kind === 'command') {
    const files = (request.files ?? []).map(({ path, sha256, text }) =>
      text === undefined ? `pinned ${path}  ${sha256?.slice(0, 12) ?? 'none'}` : `runs ${path}: ${text}`,
    )
    return [...files, request.before?.diff.trimEnd() ?? '']
  }
  if (request?.kind === 'changes') {
    const heldFiles = request.files.filter(({ git }) => git !== null)
    if (heldFiles.length === 0) return []
    return [
      'The file in git differs from the one on disk:',
      ...heldFiles.map((file) => `git diff HEAD -- ${quoteShellWord(file.path)}`),
    ]
  }
  return []
}

/** What the agent claims, what was measured, and the verdict with its reasons. */
function completionForm(evidence: NonNullable<InboxRow['evidence']>, page: RenderContext): string {
  const { claimed, measured, verdict, not_mine: denied } = evidence
  const { claimed_by: author, claimed_by_person: person } = evidence
  const status = evidence.attempt_status
  if (claimed === null && verdict === null) return ''
  const ended = status === null || status === 'success' ? '' : `${statusWord(status, page)}: `
  const by = author === null ? '' : `  ${page.ink('dim', withPerson(author, person))}`
  return [
    ...(evidence.is_replaced ? [replacedText(measured)] : []),
    ...(claimed === null ? [] : [`claimed   ${ended}${quoteText(claimed, page)}${by}`]),
    ...(measured === null
      ? []
      : [`measured  ${measuredFiles(evidence.is_replaced ? { ...measured, attempt: 1 } : measured)}`]),
    ...deniedLine(denied),
    ...(verdict === null ? [] : [verdictText(verdict, page, null)]),
  ].join('\n')
}

/** That an item is about an attempt that a later one replaced. */
function replacedText(measured: { readonly attempt: number } | null): string {
  return `Of attempt ${measured?.attempt ?? 'unknown'}, which a later one replaced:`
}

type MeasuredFigures = Pick<
  NonNullable<NonNullable<InboxRow['evidence']>['measured']>,
  'attempt' | 'files' | 'added_lines' | 'deleted_lines'
>

/** `2 files, +41 -3`; of several attempts `2 files in 2 attempts`: a sum of their lines is not what the review shows. */
export function measuredFiles({
  attempt,
  files,
  added_lines: added,
  deleted_lines: deleted,
}: MeasuredFigures): string {
  if (files === null) return 'unknown'
  if (attempt > 1) return `${formatCount(files, 'file')} in ${attempt} attempts`
  const lines = added === null || deleted === null ? '' : `, +${added} -${deleted}`
  return `${formatCount(files, 'file')}${lines}`
}

/** Items on the page of their task or mission: each with its reason, its opener, its files and its answers. */
export function inboxList(items: readonly InboxItemEntry[], page: RenderContext): string {
  return blocks(...items.map((item) => itemText(item, items, page)))
}

/** Its kind, its subject, its opener and its age, and its id if it is asked for. */
function itemHead(item: ListedItem, page: RenderContext, hasId: boolean): string {
  const { ink } = page
  const title = item.task_name ?? item.mission_name
  const opener = withPerson(item.opened_by, item.opened_by_person)
  const age = formatAge(item.opened_at, page.now)
  const mission = item.task_name && item.mission_name ? item.mission_name : ''
  return [
    ink('yellow', item.kind.replace(/_/g, ' ')),
    title ? ink('bold', escapeLineBreaks(title)) : '',
    mission && ink('dim', `(${escapeLineBreaks(mission)})`),
    item.opened_by === 'waymark' ? age : `opened by ${opener} ${age}`,
    hasId ? ink(title ? 'dim' : 'bold', item.item_id) : '',
  ]
    .filter((part) => part !== '')
    .join('  ')
}

function inboxItemText(item: ListedItem, page: RenderContext): string {
  const isOfWork = item.kind === 'verdict' || item.kind === 'review'
  const form = isOfWork && item.evidence ? completionForm(item.evidence, page) : ''
  const isNamed =
    item.paths_total === item.paths.length && item.paths.every((path) => item.reason.includes(path))
  const files = [
    withLocalTimes(item.reason, page.now),
    isNamed ? '' : indentText(bullets(item.paths.map(escapeLineBreaks))),
    cutNote(item.paths.length, item.paths_total, `waymark changes ${item.task_id} lists all files.`),
  ]
  const lines = [
    ...(form === '' || item.kind === 'review' ? files : []),
    form,
    item.kind === 'scope' ? (item.evidence?.correction ?? '') : '',
    item.cannot_approve ? page.ink('yellow', `You cannot approve it. ${item.cannot_approve}`) : '',
    item.workaround ? `Workaround by ${item.opened_by}: ${quoteText(item.workaround, page)}` : '',
    item.closed_by
      ? `${itemOutcome(item)} by ${item.closed_by}${item.answer === null || item.answer === itemOutcome(item) ? '' : `: ${item.answer}`}`
      : '',
  ]
  // The commands of an item name what they need: an id stands here only without them.
  const isAnswered = item.answers.length > 0 && !needsInbox(item)
  return [itemHead(item, page, !isAnswered), ...lines.map((line) => indentText(line))]
    .filter((line) => line !== '')
    .join('\n')
}
