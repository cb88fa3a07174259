import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOrder } from '../src/checkout.ts'

test('an order has the total of its cart', () => {
  assert.equal(placeOrder([{ bookId: 'b2', quantity: 2 }]).total, 2380)
})

test('an empty cart is refused', () => {
  assert.throws(() => placeOrder([]), /empty/)
})

test('a gift card pays first, and the credit card the rest', () => {
  const giftCard = { code: 'K7QM-2XHD-9RTB', balance: 1000 }
  assert.deepEqual(placeOrder([{ bookId: 'b2', quantity: 1 }], { giftCard }).paid, { giftCard: 1000, creditCard: 190 })
})

test('a gift card never pays more than the order costs', () => {
  const giftCard = { code: 'K7QM-2XHD-9RTB', balance: 5000 }
  assert.deepEqual(placeOrder([{ bookId: 'b4', quantity: 1 }], { giftCard }).paid, { giftCard: 990, creditCard: 0 })
})
