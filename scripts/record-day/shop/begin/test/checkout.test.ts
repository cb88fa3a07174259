import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOrder } from '../src/checkout.ts'

test('an order has the total of its cart', () => {
  assert.equal(placeOrder([{ bookId: 'b2', quantity: 2 }]).total, 2380)
})

test('an empty cart is refused', () => {
  assert.throws(() => placeOrder([]), /empty/)
})
