import { type CartLine, totalOf } from './cart.ts'
import type { GiftCard } from './gift-card.ts'

export interface Order {
  readonly lines: readonly CartLine[]
  /** In cents. */
  readonly total: number
  /** What the gift card paid, and what the credit card pays. */
  readonly paid: { readonly giftCard: number; readonly creditCard: number }
}

export interface Payment {
  readonly giftCard?: GiftCard
}

/** The gift card pays first, as far as its balance reaches; the credit card pays the rest. */
export function placeOrder(cart: readonly CartLine[], { giftCard }: Payment = {}): Order {
  if (cart.length === 0) throw new Error('The cart is empty.')
  const total = totalOf(cart)
  const fromCard = Math.min(giftCard?.balance ?? 0, total)
  return { lines: cart, total, paid: { giftCard: fromCard, creditCard: total - fromCard } }
}
