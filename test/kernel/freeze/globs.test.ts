import fc from 'fast-check'
import picomatch from 'picomatch'
import { expect, test } from 'vitest'
import { pathPatterns } from '../../../src/kernel/path-pattern.ts'
import { globMatcher } from '../../../src/kernel/pattern.ts'
import { amount } from '../../support/amount.ts'
import { processorTime } from '../../support/processor-time.ts'

const word = fc.constantFrom('a', 'b', 'ab', '.a', 'a.b', 'src', '')
const part = fc.constantFrom(
  '*',
  '**',
  '?',
  '[ab]',
  '{a,b}',
  '{a,{b,src}}',
  '+(a|b)',
  '[ab]+',
  '@(a|src)',
  '?(b)',
  'a',
  'b',
  '.',
)
const segment = fc.array(fc.oneof(part, word), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const glob = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'))
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ba', '.a', 'a.b', 'src', 'abab'), { minLength: 1, maxLength: 5 })
  .map((segments) => segments.join('/'))

test('a glob with many stars matches what picomatch matches', () => {
  fc.assert(
    fc.property(glob, fc.array(path, { minLength: 1, maxLength: 8 }), (one, paths) => {
      fc.pre(one !== '' && !one.startsWith('/') && !one.includes('//'))
      const matches = globMatcher(one)
      for (const each of paths)
        expect([one, each, matches(each)]).toEqual([one, each, picomatch(one, { dot: true })(each)])
    }),
    { numRuns: amount({ test: 400, soak: 1_500 }) },
  )
})

test('a path pattern with many stars and braces takes no longer for a long path', async () => {
  const { matches } = pathPatterns([`**/${'*a'.repeat(40)}b`, `{${'a*,'.repeat(40)}b*}/**/c`])
  const match = () => expect(matches(`${'a'.repeat(2_000)}/${'a'.repeat(2_000)}`)).toBe(false)
  expect(await processorTime(match)).toBeLessThan(5_000)
})

test('a glob that cannot be matched in good time is refused with its words', () => {
  expect(() => globMatcher('*a!(b*)*c*d*')('x')).toThrow(
    'The glob "*a!(b*)*c*d*" would take too long to match.',
  )
  expect(() => globMatcher('*'.repeat(2_000))('x')).toThrow('would take too long')
})
