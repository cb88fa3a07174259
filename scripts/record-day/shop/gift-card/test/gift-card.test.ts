import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGiftCard } from '../src/gift-card.ts'

test('a new card has its amount as balance', () => {
  assert.equal(createGiftCard(2500).balance, 2500)
})

test('a code has three groups of four characters', () => {
  assert.match(createGiftCard(2500).code, /^[A-HJKMNP-Z2-9]{4}(-[A-HJKMNP-Z2-9]{4}){2}$/)
})

test('refuses an amount of zero', () => {
  assert.throws(() => createGiftCard(0), RangeError)
})
