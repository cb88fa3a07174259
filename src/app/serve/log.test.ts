import { expect, test } from 'vitest'
import { formatLogLine, openLog } from './log.ts'

test('a line for people has the time, the level, the sentence and its values', () => {
  const line =
    '{"level":"warn","time":"2026-11-21T06:10:29.998Z","project":"shop","seqs":[1,2],"msg":"It ended."}\n'
  expect(formatLogLine(line)).toBe('06:10:29 warn It ended. project=shop seqs=[1,2]\n')
})

test.each([true, false])(
  'a value from a caller cannot control the terminal or begin a line, on a terminal: %s',
  (isTTY) => {
    const written: string[] = []
    const stderr = { isTTY, write: (line: string) => written.push(line) } as unknown as NodeJS.WriteStream // all that is used
    openLog('warn', stderr).warn('It ended.', {
      path: '/\u001b]0;x\u0007\u009b2J\u202e\n12:00:00 info Fine.',
    })
    expect(written.join('')).not.toMatch(/[\p{Cc}--\n]|\u202e/v)
    expect(written.join('').trimEnd().split('\n')).toHaveLength(1)
  },
)
