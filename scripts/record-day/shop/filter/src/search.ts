import { type Book, books } from './catalog.ts'

/** The books whose title or author contains every word, whatever its case or accents; matching titles first. */
export function searchBooks(text: string): readonly Book[] {
  const words = plain(text).split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const hasAll = (field: string) => words.every((word) => plain(field).includes(word))
  const found = books.filter(({ title, author }) => hasAll(`${title} ${author}`))
  return found.toSorted((one, other) => Number(hasAll(other.title)) - Number(hasAll(one.title)))
}

/** Lower case, without accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l').toLowerCase()
}

export interface PriceRange {
  /** In cents, both included. */
  readonly from: number
  readonly to: number
}

export function filterByPrice(found: readonly Book[], { from, to }: PriceRange): readonly Book[] {
  return found.filter(({ price }) => price >= from && price <= to)
}
