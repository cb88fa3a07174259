import { distance } from 'fastest-levenshtein'

/** Comparing takes time by the product of both lengths, and no known word is nearly as long. */
const longest = 200

/** The known word that someone who wrote `word` most likely meant, or undefined when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  if (word.length > longest) return undefined
  const near = known
    .map((candidate) => ({ candidate, edits: editsTo(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.candidate
}

/** Letters that changed places, as in `stauts`, are one slip and the likeliest. */
function editsTo(word: string, candidate: string): number {
  const edits = distance(word, candidate)
  return edits === 2 && lettersOf(word) === lettersOf(candidate) ? 0.5 : edits
}

function lettersOf(word: string): string {
  return Array.from(word).sort().join('')
}

/** ` Did you mean "x"?`, where a known word is near to the one that was written; else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearestWord(word, known)
  return meant === undefined ? '' : ` Did you mean "${meant}"?`
}
