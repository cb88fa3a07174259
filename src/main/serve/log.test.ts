import { expect, test } from 'vitest'
import { readable } from './log.ts'

test('a line for people has the time, the level, the sentence and its values', () => {
  const line =
    '{"level":"warn","time":"2026-11-21T06:10:29.998Z","project":"shop","seqs":[1,2],"msg":"It ended."}\n'
  expect(readable(line)).toBe('06:10:29 warn It ended. project=shop seqs=[1,2]\n')
})
