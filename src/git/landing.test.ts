import { expect, test } from 'vitest'
import { tooHeavy } from './landing.ts'
import { pathBytes } from './paths.ts'

test('the files with the most bytes in all versions are not followed, so that memory is bounded', () => {
  const versions = new Map([
    [pathBytes('lock'), new Set(['a', 'b', 'c'])],
    [pathBytes('src'), new Set(['d'])],
    [pathBytes('film'), new Set(['e'])],
    [pathBytes('gone'), new Set(['f'])],
  ])
  const mega = 1_000_000
  const sizes = new Map([
    ['a', 2 * mega],
    ['b', 2 * mega],
    ['c', 2 * mega],
    ['d', mega],
    // Larger than what is read of one file: only its id counts.
    ['e', 900 * mega],
  ])
  expect([...tooHeavy(versions, sizes, 10 * mega)]).toEqual([])
  expect([...tooHeavy(versions, sizes, 3 * mega)]).toEqual([pathBytes('lock')])
  expect([...tooHeavy(versions, sizes, 0)]).toEqual([pathBytes('lock'), pathBytes('src')])
})
