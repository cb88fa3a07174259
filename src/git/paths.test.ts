import { expect, test } from 'vitest'
import {
  diskPath,
  displayPath,
  excludedFolders,
  isIncluded,
  nulInput,
  nulRecords,
  pathBytes,
  quotePath,
} from './paths.ts'

test('a path goes to bytes and back', () => {
  for (const path of ['plain', 'caf\u00e9', 'cafe\u0301', '\u{1f600}/x']) {
    expect(displayPath(pathBytes(path))).toBe(path)
  }
  expect(pathBytes('\u00e9')).toBe('\xc3\xa9')
})

test('bytes that are not UTF-8 are shown as such, and kept on disk', () => {
  expect(displayPath('n\xff')).toBe('n\ufffd')
  expect(diskPath('/top', 'n\xff')).toEqual(Buffer.from([...Buffer.from('/top/n'), 0xff]))
  expect(diskPath('/top/', 'a/b')).toBe('/top/a/b')
})

test('records are split and joined at NUL', () => {
  expect(nulRecords(Buffer.from('a\nb\0c\0'))).toEqual(['a\nb', 'c'])
  expect(nulRecords(Buffer.alloc(0))).toEqual([])
  expect(nulInput(['a', '\xff'])).toEqual(Buffer.from([0x61, 0, 0xff, 0]))
})

test('quoting leaves plain names readable and escapes the rest', () => {
  expect(quotePath('a b/c-[d]')).toBe('"a b/c-[d]"')
  expect(quotePath('q"u\\o\nte\xff')).toBe('"q\\042u\\134o\\012te\\377"')
})

test.each([
  ['.waymark/waymark.db', false],
  ['app/.waymark/state/x', false],
  ['.waymark/', false],
  ['.waymark/processes/deploy.yaml', true],
  ['app/.waymark/processes/deploy.yaml', true],
  ['other/.waymark/x', true],
  ['.waymarked/x', true],
  ['var/state/snapshots/x', false],
  ['var/stateful', true],
])('%s: included %s', (path, included) => {
  expect(isIncluded(path, excludedFolders('/top', 'app/', '/top/var/state'))).toBe(included)
})
