import assert from 'node:assert/strict'
import { test } from 'node:test'
import { totalOf } from '../src/cart.ts'

test('adds up the prices of a cart', () => {
  assert.equal(totalOf([{ bookId: 'b1', quantity: 1 }, { bookId: 'b4', quantity: 2 }]), 3270)
})

test('an empty cart costs nothing', () => {
  assert.equal(totalOf([]), 0)
})
