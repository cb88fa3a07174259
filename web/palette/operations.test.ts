import { expect, test } from 'vitest'
import { type Field, inputOf } from './operations.ts'

const field = (name: string, type: Field['type']): Field => ({
  name,
  label: name,
  type,
  description: '',
  isRequired: false,
  choices: [],
  of: null,
  longest: 100,
  range: [undefined, undefined],
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

test('the parts of a structure become one', () => {
  const fields = [field('done_when.check', 'list'), field('done_when.keeps', 'list'), field('goal', 'text')]
  const written = new Map([
    ['done_when.check', 'npm test\nnpm run lint'],
    ['done_when.keeps', 'package.json'],
  ])
  expect(inputOf(fields, written)).toEqual({
    done_when: { check: ['npm test', 'npm run lint'], keeps: ['package.json'] },
  })
})

test('a value that is not JSON names its field', () => {
  const written = new Map([['metadata', 'npm test']])
  expect(() => inputOf([field('metadata', 'json')], written)).toThrow(/metadata.*\{/)
})
