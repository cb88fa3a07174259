import { age, lasting } from '../../text/age.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt, textsAt } from '../entry.ts'
import type { Page } from '../view.ts'
import { claims, quoted } from './claims.ts'
import { holdList } from './hold-list.ts'
import { changedFiles, countsInWords, ignoredFiles, sharedTree, verdict } from './measured.ts'
import { decisionList, issueList, progressList } from './said.ts'
import { blocks, cutNote, indented, pairs, section } from './sections.ts'
import { statusWord } from './status-word.ts'

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
    ['made', `${age(textAt(task, 'created_at'), page.now)} by ${textAt(task, 'created_by') || 'somebody'}`],
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
