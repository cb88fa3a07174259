import { expect, test } from 'vitest'
import type { GuardExpression } from '../../src/gate/domain/definition.ts'
import { hasAlternatives, judgeExpression } from '../../src/gate/domain/expression.ts'
import type { GuardStatus } from '../../src/gate/domain/guards/guard.ts'
import { definitionIn, smallProcess } from '../support/processes.ts'

const definition = definitionIn(smallProcess)
const named = (name: string) => ({ ...definition.guards[0], name }) as (typeof definition.guards)[number]
const three = { ...definition, guards: ['holds', 'fails', 'unknown'].map(named) }

function judged(expression: GuardExpression) {
  return judgeExpression(expression, three, ({ name }) => ({
    status: name as GuardStatus,
    reason: `it ${name}`,
    fix: name === 'holds' ? '' : 'Measure it.',
  }))
}

test.each([
  ['holds', 'fails'],
  ['fails', 'holds'],
  ['unknown', 'unknown'],
] as const)('not: %s is %s', (inner, outer) => {
  expect(judged({ not: inner }).status).toBe(outer)
})

test.each([
  ['holds', 'holds', 'holds', 'holds'],
  ['holds', 'fails', 'fails', 'holds'],
  ['holds', 'unknown', 'unknown', 'holds'],
  ['fails', 'fails', 'fails', 'fails'],
  ['fails', 'unknown', 'fails', 'unknown'],
  ['unknown', 'unknown', 'unknown', 'unknown'],
] as const)('%s and %s: all is %s, any is %s', (a, b, all, any) => {
  expect(judged({ all: [a, b] }).status).toBe(all)
  expect(judged({ all: [b, a] }).status).toBe(all)
  expect(judged({ any: [a, b] }).status).toBe(any)
  expect(judged({ any: [b, a] }).status).toBe(any)
})

test('not of what is unknown says what is not known, and how to find out', () => {
  expect(judged({ not: { any: ['unknown', 'fails'] } })).toEqual({
    status: 'unknown',
    missing: [
      {
        name: 'not any of (unknown, fails)',
        description: '',
        status: 'unknown',
        reason: 'any of (unknown, fails) is unknown: it unknown',
        fix: 'Measure it.',
      },
    ],
  })
})

test('a guard that does not exist opens nothing, negated or not', () => {
  expect(judged('no_such').status).toBe('unknown')
  expect(judged({ not: 'no_such' }).status).toBe('unknown')
  expect(judged({ any: ['fails', { not: 'no_such' }] }).status).toBe('unknown')
})

test.each([
  [null, false],
  ['a', false],
  [{ all: ['a', 'b'] }, false],
  [{ any: ['a', 'b'] }, true],
  [{ all: ['a', { not: { any: ['b', 'c'] } }] }, true],
])('%j has alternatives: %s', (expression, expected) => {
  expect(hasAlternatives(expression)).toBe(expected)
})
