export interface Book {
  readonly id: string
  readonly title: string
  readonly author: string
  /** In cents. */
  readonly price: number
}

export const books: readonly Book[] = [
  { id: 'b1', title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', price: 1290 },
  { id: 'b2', title: 'The Dispossessed', author: 'Ursula K. Le Guin', price: 1190 },
  { id: 'b3', title: 'Kindred', author: 'Octavia E. Butler', price: 1450 },
  { id: 'b4', title: 'Solaris', author: 'Stanisław Lem', price: 990 },
  { id: 'b5', title: 'The Dark Forest', author: 'Liu Cixin', price: 1690 },
]

/** The amounts of gift cards, in cents. */
export const giftCardAmounts = [1000, 2500, 5000, 10_000]

export function findBook(id: string): Book | undefined {
  return books.find((book) => book.id === id)
}
