import { age } from '../text/age.ts'
import { table } from '../text/table.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt } from './entry.ts'
import { blocks, cutNote, section } from './parts/sections.ts'
import { statusWord } from './parts/status-word.ts'
import type { Page, View } from './view.ts'

const columns = [
  ['ready', 'Ready'],
  ['active', 'In progress'],
  ['review', 'Needs review'],
  ['done', 'Done of late'],
] as const

/** The columns of the board, one below the other. */
export const board: View = (answer, page) => {
  const shown = entryAt(answer, 'columns') ?? {}
  const totals = entryAt(answer, 'totals') ?? {}
  const parts = columns.map(([key, title]) => {
    const cards = entriesAt(shown, key)
    return blocks(
      section(`${title} (${numberAt(totals, key) || cards.length})`, cardTable(cards, page), page),
      cutNote(cards.length, numberAt(totals, key), '--limit shows more.'),
    )
  })
  return (
    blocks(...parts) ||
    'The board is empty. waymark task add --title "<title>" plans a task, waymark import reads a plan.'
  )
}

function cardTable(cards: readonly Entry[], page: Page): string {
  const titles = [
    { title: 'id' },
    { title: 'task', shrinks: true },
    { title: 'status' },
    { title: 'agent' },
    { title: 'mission', shrinks: true },
    { title: 'since' },
  ]
  const rows = cards.map((card) => [
    textAt(card, 'id'),
    textAt(card, 'title'),
    `${statusWord(textAt(card, 'outcome'), page)}${card['is_claimed'] === true ? ' (claimed)' : ''}`,
    textAt(card, 'agent_name'),
    textAt(card, 'mission_name'),
    age(textAt(card, 'completed_at') || textAt(card, 'started_at'), page.now),
  ])
  return table(titles, rows, page)
}
