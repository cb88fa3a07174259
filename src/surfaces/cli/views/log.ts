import type { Happening } from '../../../domain/fact.ts'
import { factWords } from '../fact-words.ts'
import { clockTime } from '../text/age.ts'
import { doctor } from './doctor.ts'
import { type Entry, entriesAt, entryAt, numberAt, textAt } from './entry.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { Page, View } from './view.ts'

export const log: View = (answer, page) => {
  const facts = entriesAt(answer, 'facts')
  if (facts.length === 0) return 'Nothing was recorded yet.'
  const first = numberAt(facts[0] ?? {}, 'seq')
  return blocks(
    facts.map((fact) => factLine(fact, page)).join('\n'),
    cutNote(
      facts.length,
      numberAt(answer, 'head'),
      first > 1 ? `the ones before: --before ${first}` : '--limit shows more.',
    ),
    entriesAt(answer, 'checks').length > 0 ? doctor(answer, page) : '',
  )
}

function factLine(fact: Entry, { ink }: Page): string {
  const who = textAt(fact, 'actor')
  const by = textAt(fact, 'actor_kind') === 'person' ? ink('bold', who) : ink('cyan', who)
  const number = ink('dim', `#${textAt(fact, 'seq')}`.padStart(6))
  return `${number}  ${ink('dim', clockTime(textAt(fact, 'at')))}  ${by}  ${wordsOf(fact)}`
}

function wordsOf(fact: Entry): string {
  // The operation spreads a happening into kind and body; this puts it together again.
  const happening = { ...entryAt(fact, 'body'), kind: textAt(fact, 'kind') } as Happening
  return factWords(happening)
}
