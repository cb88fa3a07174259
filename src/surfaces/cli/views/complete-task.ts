import { lasting } from '../text/age.ts'
import { type Entry, entryAt, numberAt, textAt } from './entry.ts'
import {
  changedFiles,
  countsInWords,
  detailsOf,
  ignoredFiles,
  sharedTree,
  verdict,
} from './parts/measured.ts'
import { blocks, indented, section } from './parts/sections.ts'
import type { Page, View } from './view.ts'

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
