import { expect, test } from 'vitest'
import { productFiles } from './source-files.ts'

/** Where text that is made safe is written, and where a protocol has its own line. */
const writers = [
  'src/surfaces/cli/terminal.ts',
  // The streams of MCP, and the JSON that a client reads from a hook.
  'src/surfaces/mcp/stdio.ts',
  'src/app/hook.ts',
  // Takes the stream as a parameter, and writes to it what was made safe.
  'src/app/serve/log.ts',
]

test('text reaches a terminal in one place, where it is made safe', () => {
  const wrong = productFiles()
    .filter(({ path }) => !writers.includes(path))
    .filter(({ text }) => /process\.(?:stdout|stderr)|console\.(?:log|warn|dir|table)\(/.test(text))
    .map(({ path }) => path)
  expect(wrong).toEqual([])
})
