import { expect, test } from 'vitest'
import { projectRepository } from '../../test/support/git-repository.ts'
import { configuredValue, parseConfiguration, privateConfiguration, suspiciousKeys } from './configuration.ts'

test('settings have a scope, and one without a value is true', () => {
  const entries = parseConfiguration([
    'global',
    'core.autocrlf\nfalse',
    'local',
    'core.autocrlf\ninput',
    'local',
    'a.b',
  ])
  expect(configuredValue(entries, 'core.autocrlf')).toBe('input')
  expect(configuredValue(entries, 'a.b')).toBe('true')
  expect(configuredValue(entries, 'core.eol')).toBeUndefined()
})

test('git reads from the private configuration what was allowed, and nothing else', () => {
  const repo = projectRepository()
  const file = '/home/a "quoted" \\ path\n[core]\n\tpager = evil'
  const text = privateConfiguration(
    [
      { scope: 'local', key: 'core.excludesfile', value: file },
      { scope: 'local', key: 'core.autocrlf', value: 'true' },
      { scope: 'local', key: 'core.fsmonitor', value: 'evil' },
      { scope: 'local', key: 'filter.x.clean', value: 'evil' },
    ],
    'sha1',
  )
  repo.put('private', text)
  const read = (key: string) => repo.git('config', '-z', '--file', 'private', '--get-all', key)
  expect(read('core.excludesFile')).toBe(`${file}\0`)
  expect(read('core.autocrlf')).toBe('true\0')
  expect(read('core.fsmonitor')).toBe('false\0')
  expect(() => read('core.pager')).toThrow()
  expect(() => read('filter.x.clean')).toThrow()
})

test('what the repository itself sets to a program is suspicious', () => {
  const local = (key: string, value: string) => ({ scope: 'local', key, value })
  expect(
    suspiciousKeys([
      local('core.fsmonitor', '.git/hook'),
      local('filter.x.process', 'run'),
      local('alias.x', '!run'),
      local('diff.x.textconv', 'run'),
      local('include.path', 'other'),
    ]),
  ).toEqual(['alias.x', 'core.fsmonitor', 'diff.x.textconv', 'filter.x.process', 'include.path'])
})

test('what is usual, and what the user sets for all repositories, is not', () => {
  expect(
    suspiciousKeys([
      { scope: 'global', key: 'core.pager', value: 'less' },
      { scope: 'local', key: 'core.fsmonitor', value: 'true' },
      { scope: 'local', key: 'core.hookspath', value: '.husky/_' },
      { scope: 'local', key: 'core.worktree', value: '../../../sub' },
      { scope: 'local', key: 'filter.lfs.clean', value: 'git-lfs clean -- %f' },
      { scope: 'local', key: 'alias.st', value: 'status' },
    ]),
  ).toEqual([])
})
