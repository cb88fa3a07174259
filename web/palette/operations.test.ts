import { expect, test } from 'vitest'
import { type Field, inputOf } from './operations.ts'

const field = (name: string, type: Field['type']): Field => ({
  name,
  type,
  description: '',
  isRequired: false,
  choices: [],
  of: null,
  longest: 100,
})

test('what was written becomes the input; what was left empty is left out', () => {
  const fields = [
    field('title', 'text'),
    field('sort-order', 'number'),
    field('dismiss', 'yes or no'),
    field('areas', 'list'),
    field('metadata', 'json'),
    field('goal', 'text'),
  ]
  const written = new Map([
    ['title', ' Fix it '],
    ['sort-order', '20'],
    ['dismiss', 'true'],
    ['areas', 'src/\n\n test/ '],
    ['metadata', '{"a":1}'],
    ['goal', '  '],
  ])
  expect(inputOf(fields, written)).toEqual({
    title: 'Fix it',
    'sort-order': 20,
    dismiss: true,
    areas: ['src/', 'test/'],
    metadata: { a: 1 },
  })
})
