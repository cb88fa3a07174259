import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'

test('log --verify fails where there is no record, and names the place that it read', () => {
  const words = ['log', '--verify']
  const project = openCommandLine()
  const { code, out } = project.run(...words, '--json')
  expect(code).toBe(1)
  const log = JSON.parse(out).checks.find(({ check }: { check: string }) => check === 'log')
  expect(log).toMatchObject({ ok: false, finding: expect.stringContaining('0 log entries were read') })
  expect(log.finding).toContain(join(project.folder, '.waymark'))
  expect(existsSync(join(project.folder, '.waymark'))).toBe(false)
  project.json('mission', 'start', 'Begin', '--objective', 'Any')
  expect(project.json(...words)).toMatchObject({ healthy: true })
})
