import { type CartLine, totalOf } from './cart.ts'

export interface Order {
  readonly lines: readonly CartLine[]
  /** In cents. */
  readonly total: number
}

export function placeOrder(cart: readonly CartLine[]): Order {
  if (cart.length === 0) throw new Error('The cart is empty.')
  return { lines: cart, total: totalOf(cart) }
}
