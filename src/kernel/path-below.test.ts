import { expect, test } from 'vitest'
import { pathBelow } from './path-below.ts'

test.each([
  ['/shop', '/shop/a/b.ts', 'a/b.ts'],
  ['/shop', '/shop', ''],
  ['/shop', '/shops/a', null],
  ['/', '/a', 'a'],
  ['/shop', '/shop/a\\b', 'a\\b'],
  ['C:/shop', 'C:\\shop\\src\\a.ts', 'src/a.ts'],
  ['c:\\shop', 'C:/shop/src', 'src'],
  ['C:\\shop', 'C:\\shops\\a', null],
  ['\\\\host\\share', '\\\\host\\share\\a', 'a'],
])('pathBelow(%j, %j) is %j', (folder, path, expected) => {
  expect(pathBelow(folder, path)).toBe(expected)
})
