import { expect, test } from 'vitest'
import { setNewest } from './limited-map.ts'

test('over its limit a map drops the entry that was set longest ago', () => {
  const map = new Map<string, number>()
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) setNewest(map, 2, key, index)
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 3],
  ])
})
