import { changedFiles, countsInWords, detailsOf, ignoredFiles, sharedTree, verdict } from './changes.ts'
import { holdList } from './inbox.ts'
import { blocks, cutNote, indented, pairs, section, statusWord, warnings } from './parts.ts'
import { claims, decisionList, issueList, progressList, quoted } from './records.ts'
import { table } from './table.ts'
import { age, lasting } from './text.ts'
import { type Entry, entriesAt, entryAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

export const startTask: View = (answer, page) => {
  const areas = entriesAt(answer, 'areas').map(
    (area) => `${textAt(area, 'area')} (${textAt(area, 'files')} files)`,
  )
  const lines = [
    `${page.ink('green', 'Started')} task ${page.ink('bold', textAt(answer, 'task_id'))}.`,
    pairs(
      [
        ['attempt', textAt(answer, 'attempt_id')],
        ['phase', textAt(answer, 'phase_number')],
        ['snapshot', `${textAt(answer, 'snapshot_type')} ${textAt(answer, 'snapshot_id').slice(0, 12)}`],
        ['areas', areas.join(', ')],
      ],
      page,
    ),
    warnings(textsAt(answer, 'warnings'), page),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

export const completeTask: View = (answer, page) => {
  const verification = entryAt(answer, 'verification')
  const took = lasting(numberAt(answer, 'duration_seconds'))
  const repeated =
    answer['already_completed'] === true ? ' It was already completed; this is the same answer.' : ''
  const phase = textAt(answer, 'phase_status')
  return blocks(
    `${done(answer, page)} task ${page.ink('bold', textAt(answer, 'task_id'))} after ${took}.${repeated}`,
    verification ? verdict(verification, page, entryAt(answer, 'counts')) : '',
    section(
      `Measured: ${countsInWords(entryAt(answer, 'counts') ?? {})}`,
      indented(changedFiles(detailsOf(answer), page)),
      page,
    ),
    sharedTree(answer, page),
    section('Files that git ignores', indented(ignoredFiles(entryAt(answer, 'ignored'))), page),
    phase === '' ? '' : `Phase ${textAt(answer, 'phase_number')} is ${phase.replace(/_/g, ' ')}.`,
  )
}

/** A preview ended nothing. */
function done(answer: Entry, { ink }: Page): string {
  return textAt(answer, 'completed_at') === '' ? ink('yellow', 'Preview of') : ink('green', 'Completed')
}

/** Everything about one task: each attempt with what was measured, and apart from it what was said. */
export function taskPage(task: Entry, page: Page): string {
  const attempts = entriesAt(task, 'attempts')
  return blocks(
    `${page.ink('bold', textAt(task, 'name'))}\n${pairs(headOf(task, page), page)}`,
    ...attempts.map((attempt) => attemptText(attempt, page)),
    cutNote(attempts.length, numberAt(task, 'attempts_total'), 'these are the last ones.'),
    section('Waiting for a person', holdList(entriesAt(task, 'holds'), page), page),
    section('Answered', holdList(entriesAt(task, 'answered_holds'), page), page),
    section('Decisions', decisionList(entriesAt(task, 'decisions'), page), page),
    section('Issues', issueList(entriesAt(task, 'issues'), page), page),
    section('Progress', progressList(entriesAt(task, 'progress'), page), page),
  )
}

function headOf(task: Entry, page: Page): readonly (readonly [string, string])[] {
  const claimed = textAt(task, 'resolution') === 'claimed' ? ' (claimed, not measured)' : ''
  return [
    ['id', textAt(task, 'id')],
    ['goal', textAt(task, 'goal')],
    [
      'status',
      `${statusWord(textAt(task, 'resolution') === 'dropped' ? 'dropped' : textAt(task, 'status'), page)}${claimed}`,
    ],
    ['mission', textAt(task, 'mission_id')],
    ['parent', textAt(task, 'parent_task_id')],
    ['step', textAt(task, 'step')],
    ['made', `${age(textAt(task, 'created_at'), page.now)} by ${textAt(task, 'created_by') || 'someone'}`],
  ]
}

function attemptText(attempt: Entry, page: Page): string {
  const agent = textAt(attempt, 'agent_name') || textAt(attempt, 'actor')
  const duration = attempt['duration_seconds']
  const took = typeof duration === 'number' ? `, ${lasting(duration)}` : ''
  const title = `Attempt ${textAt(attempt, 'number')} by ${agent}: ${statusWord(textAt(attempt, 'status'), page)}${took}`
  const areas = textsAt(attempt, 'areas')
  const head = pairs(
    [
      ['id', textAt(attempt, 'attempt_id')],
      ['began', age(textAt(attempt, 'started_at'), page.now)],
      ['areas', areas.length === 0 ? 'none declared' : areas.join(', ')],
      ['work tree', textAt(attempt, 'work_tree')],
    ],
    page,
  )
  const claimed = entryAt(attempt, 'claimed')
  return section(
    title,
    indented(
      blocks(
        head,
        measuredText(attempt, page),
        claimed ? claims(claimed, agent, page) : '',
        ...entriesAt(attempt, 'corrections').map((said) => correctionText(said, page)),
      ),
    ),
    page,
  )
}

function correctionText(said: Entry, page: Page): string {
  const by = textAt(said, 'agent_name') || textAt(said, 'said_by')
  return `${by} added ${age(textAt(said, 'at'), page.now)}: ${quoted(textAt(said, 'text'), page)}`
}

function measuredText(attempt: Entry, page: Page): string {
  const measured = entryAt(attempt, 'measured')
  if (!measured) return ''
  const scope = entryAt(measured, 'scope')
  const verification = {
    status: measured['verification'],
    scope_match: scope?.['matches'] ?? null,
    unexpected_files: scope?.['unexpected'],
    warnings: measured['warnings'],
  }
  const counts = entryAt(measured, 'counts')
  return [
    verdict(verification, page, counts),
    counts ? `Measured: ${countsInWords(counts)}` : '',
    indented(changedFiles(entriesAt(measured, 'changes'), page)),
    indented(ignoredFiles(entryAt(measured, 'ignored'))),
    sharedTree(measured, page),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Tasks, one a row. What was measured stands beside what the last attempt came to. */
export function taskTable(tasks: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'id' },
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'agent' },
    { title: 'took' },
    { title: 'measured' },
  ]
  return table(
    columns,
    tasks.map((task) => [
      textAt(task, 'id'),
      textAt(task, 'name'),
      task['verified'] === false
        ? `${statusWord(textAt(task, 'status'), page)} (claimed)`
        : statusWord(textAt(task, 'status'), page),
      textAt(task, 'agent_name'),
      took(task, page),
      measuredInShort(task, page),
    ]),
    page,
  )
}

function took(task: Entry, page: Page): string {
  if (typeof task['duration_seconds'] === 'number') return lasting(task['duration_seconds'])
  const started = textAt(task, 'started_at')
  return started === '' ? '' : `began ${age(started, page.now)}`
}

function measuredInShort(task: Entry, { ink }: Page): string {
  const counts = entryAt(task, 'files_changed')
  if (!counts) return ''
  const files = ['added', 'modified', 'deleted', 'renamed'].reduce(
    (sum, kind) => sum + numberAt(counts, kind),
    0,
  )
  const scope = task['scope_match'] === false ? ink('red', ', out of scope') : ''
  return `${files === 1 ? '1 file' : `${files} files`}${scope}`
}
