/** ` Did you mean "x"?`, where a known word is near to the one that was written; else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearestWord(word, known)
  return meant === undefined ? '' : ` Did you mean "${meant}"?`
}

/** The known word that somebody who wrote `word` most likely meant, or undefined when none is near. */
function nearestWord(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, edits: editsBetween(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.candidate
}

/** Insertions, removals, replacements and swaps of neighbours that make one word of the other. */
function editsBetween(from: string, to: string): number {
  let before: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const differs = from[row - 1] === to[column - 1] ? 0 : 1
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          cell(previous, column) + 1,
          cell(current, column - 1) + 1,
          cell(previous, column - 1) + differs,
          swapped ? cell(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = previous
    previous = current
  }
  return cell(previous, to.length)
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? Number.POSITIVE_INFINITY
}
