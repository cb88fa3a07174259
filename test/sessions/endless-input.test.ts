import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bin } from '../support/program.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'

test('a hook ends although its client never stops talking', { timeout: 60_000 }, async () => {
  const { folder, environment } = openCommandLine()
  const capture = join(bin, '..', 'waymark-capture.cjs')
  const hook = spawn(process.execPath, [capture, 'claude-code', 'PreToolUse'], {
    cwd: folder,
    env: environment,
  })
  onTestFinished(() => void hook.kill('SIGKILL'))
  const chunk = Buffer.alloc(1_000_000, '{"a":')
  const talk = () => {
    while (hook.stdin.writable && hook.stdin.write(chunk)) {}
  }
  hook.stdin.on('drain', talk).on('error', () => undefined)
  talk()
  const code = await new Promise((resolve) => hook.once('exit', resolve))
  expect(code).toBe(0)
})
