import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { bindings } from './bindings.ts'

test('a key with the title of an operation names it, so that the palette lists the title once', () => {
  const titles = new Map(catalog.map(({ title, name }) => [title, name]))
  const same = bindings.filter(({ title }) => titles.has(title))
  expect(same.length).toBeGreaterThan(0)
  expect(same.map((binding) => ('operation' in binding ? binding.operation : null))).toEqual(
    same.map(({ title }) => titles.get(title)),
  )
})

test('the titles of the keys are distinct', () => {
  const titles = bindings.map(({ title }) => title)
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
})
