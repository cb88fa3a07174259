import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverEnvironment } from '../support/stdio-project.ts'

test('the demonstration tells its story to the end: it checks itself', () => {
  const home = mkdtempSync(join(tmpdir(), 'waymark-demo-test-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const story = join(import.meta.dirname, '..', '..', 'examples', 'demo.ts')
  const told = execFileSync(process.execPath, [story], { encoding: 'utf8', env: serverEnvironment(home) })
  expect(told).toContain('bin/waymark.js')
  expect(told).toContain('out of scope')
  expect(told).toContain('2 tasks, 3 files changed, measured')
})
