import { expect, test } from 'vitest'
import type { TokenId } from '../../../kernel/id.ts'
import { LoginCodes } from './login-proof.ts'

const token = 'k-1' as TokenId // a brand
const day = 24 * 3_600_000

test('a code signs in once, within ten minutes', () => {
  const codes = new LoginCodes()
  const [first, late] = [codes.make(token, 0), codes.make(token, 0)]
  expect(codes.take(first, 60_000)).toBe(token)
  expect(codes.take(first, 60_000)).toBeNull()
  expect(codes.take(late, 11 * 60_000)).toBeNull()
})

test('a code that was made while the clock was ahead signs nobody in once it is right again', () => {
  const codes = new LoginCodes()
  expect(codes.take(codes.make(token, day), 0)).toBeNull()
})
