import { expect, test } from 'vitest'
import type { AttemptDetail, Change } from '../../api/answers.ts'
import { claimedNotFound } from './claimed-paths.ts'

const change = (path: string): Change => ({
  path,
  change: 'modified',
  origin: 'task',
  scope: 'in',
  attribution: 'certain',
  added_lines: 1,
  deleted_lines: 0,
})

const claims = (
  summary: string,
  achievements: readonly string[] = [],
): NonNullable<AttemptDetail['claimed']> => ({
  summary,
  achievements,
  limitations: [],
  next_steps: [],
  packages_added: [],
  packages_removed: [],
  commands_executed: [],
  tests_status: null,
  tokens_input: null,
  tokens_output: null,
})

test('a file that was claimed and not changed is found out, once', () => {
  const claimed = claims('Mended `src/a.ts` and ./src/b.ts.', ['src/b.ts works, and/or 3/4 of it'])
  expect(claimedNotFound(claimed, [change('src/a.ts')])).toEqual(['src/b.ts'])
})

test('a file may be named from the middle of its path; an address is no file', () => {
  const claimed = claims('See diff/reader.ts, and https://example.com/src/x.ts.')
  expect(claimedNotFound(claimed, [change('src/diff/reader.ts')])).toEqual([])
})
