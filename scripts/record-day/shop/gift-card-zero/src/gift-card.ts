import { randomInt } from 'node:crypto'

export interface GiftCard {
  readonly code: string
  /** In cents. */
  readonly balance: number
}

// Without 0, O, 1, I and L, which people confuse on paper.
const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'

/** Creates a gift card with a random code, such as `K7QM-2XHD-9RTB`. */
export function createGiftCard(amount: number): GiftCard {
  if (!Number.isInteger(amount) || amount <= 0) throw new RangeError(`${amount} cents are no amount.`)
  return { code: newCode(), balance: amount }
}

function newCode(): string {
  const group = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  return [group(), group(), group()].join('-')
}
