import { expect, test } from 'vitest'
import { productFiles } from './source-files.ts'

/** A path's beginning compared by hand: `a.startsWith(b + sep)`, or a relative path that begins with two dots. */
const byHand = [
  /\.startsWith\((?:[^()]*\+ (?:sep|'\/')|`\$\{[^`]*\}(?:\/|\$\{sep\})`)\)/,
  /\.startsWith\('\.\.\/?'\)|\[0\] [!=]== '\.\.'/,
]

test('only one module tells whether a path of the disk lies in a folder', () => {
  const files = productFiles().filter(({ path, text }) => {
    const looksAtDisk = /\brealpath(?:Sync)?\b|from 'node:path'/.test(text)
    return path !== 'src/kernel/files/contained-file.ts' && looksAtDisk
  })
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter(({ text }) => byHand.some((form) => form.test(text))).map(({ path }) => path)).toEqual(
    [],
  )
})
