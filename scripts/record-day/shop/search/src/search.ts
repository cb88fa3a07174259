import { type Book, books } from './catalog.ts'

/** The books whose title or author contains the text. */
export function searchBooks(text: string): readonly Book[] {
  return books.filter(({ title, author }) => title.includes(text) || author.includes(text))
}
