import { expect, test } from 'vitest'
import { schemaProblems } from './json-schema.ts'
import { payloadExample } from './payload-example.ts'

test('an example has every required field, and what it takes', () => {
  expect(
    payloadExample({
      type: 'object',
      required: ['risk', 'reason', 'tries', 'files', 'by', 'odd'],
      properties: {
        risk: { enum: ['low', 'high'] },
        reason: { type: 'string', minLength: 1 },
        tries: { type: 'integer', minimum: 2 },
        files: { type: 'array', items: { type: 'string' } },
        by: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        note: { type: 'string' },
      },
    }),
  ).toEqual({
    risk: 'low|high',
    reason: '<reason>',
    tries: 2,
    files: ['<files>'],
    by: { name: '<name>' },
    odd: '<odd>',
  })
})

test('a choice that was not made is refused, and nothing required needs no example', () => {
  const schema = { type: 'object', required: ['risk'], properties: { risk: { enum: ['low', 'high'] } } }
  expect(schemaProblems(schema, payloadExample(schema))).toHaveLength(1)
  expect(payloadExample({ type: 'object' })).toBeNull()
  expect(payloadExample(null)).toBeNull()
  expect(payloadExample({ required: 'risk' })).toBeNull()
})
