import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { plainLine } from '../../kernel/text.ts'
import { blocks, section } from '../../surfaces/cli/render/parts.ts'
import { escapeLineBreaks, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView } from '../../surfaces/cli/render/view.ts'
import { broughtByGit } from '../../track/domain/changes.ts'

type BlameRange = OutputOf<'blame'>['ranges'][number]

const colours = ['cyan', 'green', 'yellow', 'bold'] as const

/** A file's lines, each with its author. */
export const blame: AnswerView<'blame'> = (answer, page) => {
  const { ranges, text, notes } = answer
  const colourOf = colorsOfOwners(ranges)
  const owners = new Map(ranges.map((range) => [range, lineOwnerText(range, page.width)]))
  const width = Math.max(1, ...[...owners.values()].map((owner) => Array.from(owner).length))
  const first = ranges[0]?.start ?? 1
  const digits = String(ranges.at(-1)?.end ?? 1).length
  const rows = ranges.flatMap((range) => {
    const owner = (owners.get(range) ?? '').padEnd(width)
    const head = range.attempt === null ? page.ink('dim', owner) : page.ink(colourOf(range.attempt), owner)
    return Array.from({ length: range.end - range.start + 1 }, (_, more) => {
      const line = range.start + more
      const number = page.ink('dim', `│ ${String(line).padStart(digits)}`)
      return `${head} ${number}  ${escapeLineBreaks(text?.[line - first] ?? '')}`.trimEnd()
    })
  })
  return blocks(rows.join('\n'), [...wordsOf(ranges), ...notes].join('\n'))
}

const words = {
  probable: 'probable: several agents worked there at the same time, and this one is the most likely.',
  contested: 'uncertain: several agents worked there at the same time, and the author is unknown.',
  matched: 'matched: recognized by the same text in the same order.',
  rests: '~: a short line, matched by the lines around it.',
  outside: 'outside: changed by a person or an unrecorded tool.',
} as const

/** Explains the marks beside the lines. */
function wordsOf(ranges: readonly BlameRange[]): readonly string[] {
  const has = (test: (range: BlameRange) => boolean, word: keyof typeof words) =>
    ranges.some(test) ? [words[word]] : []
  return [
    ...has(({ certainty }) => certainty === 'probable', 'probable'),
    ...has(({ certainty }) => certainty === 'contested', 'contested'),
    ...has(isMatched, 'matched'),
    ...has(({ rests }) => rests === true, 'rests'),
    ...has(({ kind }) => kind === 'outside', 'outside'),
  ]
}

function isMatched({ kind, how }: BlameRange): boolean {
  return (kind === 'agent' || kind === 'outside') && (how === 'matched' || how === 'aligned')
}

function colorsOfOwners(ranges: readonly BlameRange[]): (attempt: string) => (typeof colours)[number] {
  const attempts = [...new Set(ranges.flatMap(({ attempt }) => attempt ?? []))]
  return (attempt) => colours[attempts.indexOf(attempt) % colours.length] ?? 'cyan'
}

const leastName = 24

/** The author of lines in at most half the width, with the name of the task as far as it fits. */
function lineOwnerText(range: BlameRange, width: number): string {
  const { kind, agent, model, task, task_name: name, author, commit, rests, certainty } = range
  const short = commit === null ? '' : commit.slice(0, 8)
  if (kind === 'agent') {
    const tasks = range.tasks ?? [task ?? range.attempt ?? range.session ?? '']
    const who = [agent, model].flatMap((word) => (word === null ? [] : [escapeLineBreaks(word)])).join(' ')
    const sure = certainty === 'contested' ? 'uncertain' : certainty === 'probable' ? certainty : ''
    const marks = [isMatched(range) ? 'matched' : '', sure, rests ? '~' : ''].filter(Boolean).join(' ')
    const brought = range.brought_by === undefined ? '' : broughtByGit(range.brought_by)
    const text = (what: string) => [what, who, marks, brought].filter((part) => part !== '').join(' · ')
    // With several tasks, the name is of one of them only.
    if (tasks.length > 1 || name === null) return text(tasks.join(' or '))
    const room = Math.floor(width / 2) - text(`${tasks[0]} `).length
    return text(`${tasks[0]} ${plainLine(name, Math.max(leastName, Math.min(room, name.length)))}`)
  }
  if (kind === 'outside') return 'outside: no attempt'
  const brought = range.brought_by && broughtByGit(range.brought_by)
  if (kind === 'uncommitted') return brought ? `not committed, ${brought}` : 'not committed, not recorded'
  const together = range.committed_with === undefined ? '' : `with ${escapeLineBreaks(range.committed_with)}`
  const who = [short, escapeLineBreaks(author ?? ''), together].filter(Boolean).join(' ')
  return `${who} (${kind === 'before' ? 'before Waymark' : (brought ?? 'not recorded')})`.trim()
}

/** A page about why a line was written. */
export const why: AnswerView<'why'> = (answer, page) => {
  const { path, line, text, says, authors, turn, decisions, items, reviews, later, commit, notes } = answer
  return blocks(
    `${page.ink('bold', escapeLineBreaks(`${path}:${line}`))}${text === undefined ? '' : `  ${escapeLineBreaks(text)}`}\n${inProse(says)}`,
    ...authors.map((maker, at) => {
      const title = authors.length === 1 ? 'Task' : at === 0 ? 'Either for' : 'Or for'
      return section(title, taskOf(maker), page)
    }),
    section(
      'Perhaps for',
      (answer.candidates ?? [])
        .map(({ task_id, task, agent }) => `${inProse(task)}  ${task_id}, by ${inProse(agent)}`)
        .join('\n'),
      page,
    ),
    turn?.prompt == null ? '' : section('Asked for', inProse(turn.prompt), page),
    section(
      'Decisions',
      decisions
        .flatMap(({ question, chosen, reasoning, options_considered }) => [
          `${inProse(question)} → ${inProse(chosen)}`,
          `  because ${inProse(reasoning)}`,
          ...options_considered
            .filter((option) => option !== chosen)
            .map((option) => `  not ${inProse(option)}`),
        ])
        .join('\n'),
      page,
    ),
    section(
      'People',
      [
        ...items.map(
          ({ kind, status, reason, answer: response, author }) =>
            `${itemWords[kind]} ${status}${author === null ? '' : ` by ${inProse(author)}`}${saidText(kind, { status, reason, response })}`,
        ),
        ...reviews.map(
          ({ action, author, run_id: run, created_at: createdAt, text: remarks }) =>
            `${inProse(author)} ${run === undefined ? actionWords[action] : `${runWords[action]} in run ${run}`}, ${formatAge(createdAt, page.now)}${remarks === null ? '' : `: ${inProse(remarks)}`}`,
        ),
      ].join('\n'),
      page,
    ),
    section('Comments', answer.comments.map(commentOf).join('\n'), page),
    section(
      'Since',
      later
        .map(
          ({ what, task }) =>
            `${what} ${task === null ? 'while no attempt was open' : `by ${inProse(task)}`}`,
        )
        .join('\n'),
      page,
    ),
    commit === null
      ? ''
      : section(
          'Commit',
          `${commit.id.slice(0, 12)} ${inProse(commit.summary)}, ${inProse(commit.author)}, ${formatAge(commit.authored_at, page.now)}`,
          page,
        ),
    notes.join('\n'),
  )
}

function commentOf(comment: OutputOf<'why'>['comments'][number]): string {
  const { line, quoted, text, author, kind, status, replies } = comment
  const where =
    line === null ? (quoted === null ? 'on the file' : `on "${escapeLineBreaks(quoted)}"`) : `on line ${line}`
  return [
    `${kind} by ${inProse(author)} ${where}, ${status}: ${inProse(text)}`,
    ...replies.map(
      (reply) => `  ${inProse(reply.author)}${reply.done ? ', done' : ''}: ${inProse(reply.text)}`,
    ),
  ].join('\n')
}

/** The answer, or what was asked where it says nothing; of a review, the reviews below tell that. */
function saidText(
  kind: OutputOf<'why'>['items'][number]['kind'],
  {
    status,
    reason,
    response,
  }: { readonly status: string; readonly reason: string; readonly response: string | null },
): string {
  if (response !== null && response !== status) return `: ${inProse(response)}`
  return kind === 'review' ? '' : `: ${inProse(reason)}`
}

/** What an answered item was about. */
const itemWords = {
  blocker: 'question',
  review: 'review',
  verdict: 'verdict',
  scope: 'files out of scope',
  approval: 'step of a run',
  command: 'command',
  stale_attempt: 'stale attempt',
  loss: 'lost files',
} as const satisfies Record<OutputOf<'why'>['items'][number]['kind'], string>

const actionWords = {
  approve: 'reviewed and approved the work',
  send_back: 'reviewed the work and sent it back',
  comment: 'reviewed and commented on the work',
} as const

const runWords = {
  approve: 'approved the changes',
  send_back: 'sent the changes back',
  comment: 'commented on the changes',
} as const

function inProse(text: string): string {
  return plainLine(text, text.length)
}

function taskOf(maker: OutputOf<'why'>['authors'][number]): string {
  const { task_id, task, goal, mission_id, mission, agent, model, prompt } = maker
  const { summary, claimed_by, measurement, tests, commands, verdict, passed, sent_back_by, redone } = maker
  return [
    `${inProse(task)}  ${task_id}, by ${inProse(agent)}${model === null ? '' : ` (${inProse(model)})`}`,
    goal === null || goal === task ? '' : `goal: ${inProse(goal)}`,
    prompt === null ? '' : `asked for: ${inProse(prompt)}`,
    mission === null ? '' : `mission: ${mission_id} ${inProse(mission)}`,
    summary === null ? '' : `${inProse(claimed_by ?? agent)} reported: ${inProse(summary)}`,
    measurement === null
      ? ''
      : `measured: ${measurement}${tests === null ? '' : `; tests, as claimed: ${tests}`}`,
    verdict === null
      ? ''
      : [
          `verdict: ${verdict}`,
          ...passed.map((command) => `${inProse(command)} exit 0`),
          sent_back_by === null ? '' : `sent back by ${inProse(sent_back_by)}`,
          redone === null ? '' : redoneText(redone),
        ]
          .filter((part) => part !== '')
          .join(', '),
    commands.length === 0 ? '' : `commands, as claimed: ${commands.map(inProse).join(' · ')}`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** What came of a task after this attempt. */
function redoneText({
  attempts,
  status,
  verdict,
}: NonNullable<OutputOf<'why'>['authors'][number]['redone']>): string {
  const again = attempts === 1 ? 'then done again' : `then done again ${attempts} times`
  return `${again}: ${status === 'open' ? 'in progress' : (verdict ?? status)}`
}
