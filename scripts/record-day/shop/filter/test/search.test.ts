import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterByPrice, searchBooks } from '../src/search.ts'

const titles = (text: string) => searchBooks(text).map(({ title }) => title)

test('finds books by a word of the title, whatever its case', () => {
  assert.deepEqual(titles('SOLARIS'), ['Solaris'])
})

test('finds books by their author', () => {
  assert.deepEqual(titles('le guin'), ['The Left Hand of Darkness', 'The Dispossessed'])
})

test('finds a name with accents that was typed without', () => {
  assert.deepEqual(titles('stanislaw'), ['Solaris'])
})

test('lists matching titles first', () => {
  assert.deepEqual(titles('dark'), ['The Left Hand of Darkness', 'The Dark Forest'])
})

test('finds nothing for an empty text', () => {
  assert.deepEqual(titles(' '), [])
})

test('filters by price, both ends included', () => {
  const found = filterByPrice(searchBooks('the'), { from: 1190, to: 1290 })
  assert.deepEqual(found.map(({ id }) => id), ['b1', 'b2'])
})
