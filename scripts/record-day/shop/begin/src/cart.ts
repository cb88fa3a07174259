import { findBook } from './catalog.ts'

export interface CartLine {
  readonly bookId: string
  readonly quantity: number
}

/** The price of a cart in cents. */
export function totalOf(cart: readonly CartLine[]): number {
  return cart.reduce((sum, { bookId, quantity }) => sum + (findBook(bookId)?.price ?? 0) * quantity, 0)
}
