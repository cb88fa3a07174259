import type { GiftCard } from './gift-card.ts'

/** The balance as a customer reads it: `€ 12.90`. */
export function balanceText({ balance }: GiftCard): string {
  return `€ ${(balance / 100).toFixed(2)}`
}
