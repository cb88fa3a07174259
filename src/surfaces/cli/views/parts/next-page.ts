import { type Entry, textAt } from '../entry.ts'

/** How to see what comes after. */
export function nextPage(answer: Entry): string {
  const cursor = textAt(answer, 'next_cursor')
  return cursor === '' ? '--limit shows more.' : `the next ones: --cursor ${cursor}`
}
