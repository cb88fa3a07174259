import { expect, test } from 'vitest'
import { schemaProblems } from './json-schema.ts'

test.each([
  [{ $ref: '#/$defs/x', $defs: { x: { type: 'string' } } }, 3, '/ must be a string, not 3'],
  [{ type: 'array', contains: { type: 'integer' } }, ['a'], '/ has no entry of the required form'],
  [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, '/ has a field whose name is not allowed'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '/ has "a" but not "b"'],
  [{ prefixItems: [{}], items: false }, [1, 2], '/1 is not allowed here'],
])('explains in plain words why a value does not match %j', (schema, value, words) => {
  expect(schemaProblems(schema, value).map(({ path, message }) => `${path} ${message}`)).toEqual([words])
})
