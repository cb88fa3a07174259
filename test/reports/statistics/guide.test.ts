import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { figureDefinitions } from '../../../src/reports/domain/figures.ts'

test('the guide defines each figure in the words that stand beside it', () => {
  const guide = readFileSync(
    join(import.meta.dirname, '..', '..', '..', 'docs', 'guide', 'statistics.md'),
    'utf8',
  ).split('\n')
  const rows = guide.filter((line) => /\| (measured|claimed) \|/.test(line))
  expect(rows).toEqual(
    figureDefinitions.map(
      ({ title, basis, unit, definition }) => `| ${title} | ${basis} | ${unit} | ${definition} |`,
    ),
  )
})
