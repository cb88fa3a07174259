import { describe, expect, test } from 'vitest'
import type { FileChange } from '../changes.ts'
import { judgePath } from './judge.ts'
import { parseScope } from './scope.ts'
import { judgeScope } from './verdict.ts'

const here = { prefix: '' }

function edited(path: string, more: Partial<FileChange> = {}): FileChange {
  return { path, change: 'modified', origin: 'task', addedLines: 1, deletedLines: 0, ...more }
}

function judged(areas: readonly string[], changes: readonly FileChange[]) {
  return judgeScope(parseScope(areas, here), { status: 'verified', changes })
}

test('a file outside the declared areas is unexpected and warned of', () => {
  const verdict = judged(['auth', 'api'], [edited('auth.ts'), edited('api.ts'), edited('utils.ts')])
  expect(verdict.scopeMatch).toBe(false)
  expect(verdict.unexpectedFiles).toEqual(['utils.ts'])
  expect(verdict.warnings).toEqual(['⚠️ 1 file(s) modified outside declared scope (auth, api)'])
})

test('a manifest and a matching test do not break the scope', () => {
  const changes = ['package.json', 'src/middleware/auth.ts', 'tests/auth.test.ts'].map((path) => edited(path))
  const verdict = judged(['auth', 'middleware'], changes)
  expect(verdict.scopeMatch).toBe(true)
  expect(verdict.unexpectedFiles).toEqual([])
  expect(verdict.files.map((file) => file.scope)).toEqual(['shared', 'in', 'in'])
  expect(verdict.warnings).toEqual(['1 file(s) shared with other areas changed: package.json.'])
})

test('a lock file is a companion, with a warning when no manifest of its kind changed', () => {
  expect(judged(['auth'], [edited('package-lock.json'), edited('package.json')]).warnings).toHaveLength(1)
  const alone = judged(['auth'], [edited('Cargo.lock'), edited('package.json')])
  expect(alone.files[0]?.scope).toBe('companion')
  expect(alone.scopeMatch).toBe(true)
  expect(alone.warnings[0]).toBe('The lock file Cargo.lock changed, but no cargo.toml did.')
})

test('imported files are not judged, mixed ones are', () => {
  const verdict = judged(
    ['auth'],
    [edited('a.ts', { origin: 'imported' }), edited('b.ts', { origin: 'mixed' })],
  )
  expect(verdict.files.map((file) => file.scope)).toEqual(['imported', 'out'])
  expect(verdict.unexpectedFiles).toEqual(['b.ts'])
  expect(verdict.warnings).toContain(
    '1 file(s) came by a merge, pull, checkout or reset and were not judged: a.ts.',
  )
})

test('a rename takes its worse end', () => {
  const away = edited('auth/a.ts', { from: 'lib/a.ts', change: 'renamed' })
  const within = edited('auth/b.ts', { from: 'auth/a.ts', change: 'renamed' })
  expect(judged(['auth'], [away, within]).files.map((file) => file.scope)).toEqual(['out', 'in'])
})

test('an exclusion is out even for a file that is otherwise shared', () => {
  expect(judged(['auth', '!package.json'], [edited('package.json')]).scopeMatch).toBe(false)
})

test('a descendant attempt may allow what the ancestor did not declare', () => {
  const verdict = judgeScope(
    parseScope(['auth'], here),
    { status: 'verified', changes: [edited('docs/api.ts'), edited('lib/api.ts'), edited('lib/db.ts')] },
    (path) => (path.startsWith('lib/') ? [parseScope(['api'], here)] : []),
  )
  expect(verdict.files.map((file) => file.scope)).toEqual(['shared', 'in', 'out'])
})

describe('there is no verdict', () => {
  test('without declared areas', () => {
    const verdict = judged([], [edited('utils.ts')])
    expect(verdict).toMatchObject({ scopeMatch: null, unexpectedFiles: [], warnings: [] })
    expect(verdict.files).toEqual([{ change: edited('utils.ts'), scope: null }])
  })

  test('when the changes are unknown', () => {
    expect(judgeScope(parseScope(['auth'], here), { status: 'unknown', changes: [] }).scopeMatch).toBeNull()
  })
})

test.each([
  ['shared', '.github/workflows/ci.yml'],
  ['shared', 'tsconfig.build.json'],
  ['shared', 'vite.config.mts'],
  ['shared', 'README.md'],
  ['shared', 'docs/guide.txt'],
  ['shared', 'tests/billing.test.ts'],
  ['shared', 'pkg/billing_test.go'],
  ['shared', 'requirements-dev.txt'],
  ['shared', '.eslintrc.json'],
  ['companion', 'packages/a/yarn.lock'],
  ['companion', 'go.sum'],
  ['out', '.env'],
  ['out', 'src/latest.ts'],
  ['out', 'src/contest.ts'],
  ['out', 'prisma/schema.prisma'],
  ['out', '.waymark/processes/README.md'],
])('judges as %s: %s', (verdict, path) => {
  expect(judgePath(parseScope(['auth'], here), path)).toBe(verdict)
})
