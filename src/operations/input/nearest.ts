import { distance } from 'fastest-levenshtein'

/** The known word that somebody who wrote `word` most likely meant, or undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter((entry) => entry.distance <= Math.max(2, Math.floor(entry.candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.candidate
}
