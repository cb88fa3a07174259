import { expect, test } from 'vitest'
import { filesBelow, productFiles } from './source-files.ts'

test('files stay small: half have at most 70 lines, 95 of 100 at most 250', () => {
  const lengths = productFiles()
    .filter(({ path }) => !path.includes('/migrations/'))
    .map(({ text }) => lineCount(text))
    .sort((a, b) => a - b)
  expect(at(lengths, 0.5)).toBeLessThanOrEqual(70)
  expect(at(lengths, 0.95)).toBeLessThanOrEqual(250)
})

test('no file has more than 400 lines', () => {
  const long = ['src', 'scripts', 'bin', 'test', 'examples', 'bench']
    .flatMap((folder) => filesBelow(folder, '.ts', '.js', '.mjs'))
    .filter(({ path, text }) => !path.includes('/migrations/') && lineCount(text) > 400)
    .map(({ path, text }) => `${path}: ${lineCount(text)} lines`)
  expect(long).toEqual([])
})

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}

function lineCount(text: string): number {
  return text.trimEnd().split('\n').length
}
