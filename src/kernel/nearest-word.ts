import { distance } from 'fastest-levenshtein'

/** Comparing takes time proportional to both lengths, and no candidate is this long. */
const maxLength = 200

/** The candidate that `word` is most likely a misspelling of; undefined if none is near. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > maxLength) return undefined
  const near = candidates
    .map((candidate) => ({ candidate, edits: editsTo(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.candidate
}

/** Swapped letters, as in `stauts`, are the likeliest slip. */
function editsTo(word: string, candidate: string): number {
  const edits = distance(word, candidate)
  return edits === 2 && lettersOf(word) === lettersOf(candidate) ? 0.5 : edits
}

function lettersOf(word: string): string {
  return Array.from(word).sort().join('')
}

/** ` Did you mean "x"?` if a candidate is near; else empty. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const nearest = nearestWord(word, candidates)
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`
}
