import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FileChange } from '../changes.ts'
import { coverage, judgePath, judgeScope, parseScope } from './scope.ts'

const here = { prefix: '' }

function coveredPaths(
  areas: readonly string[],
  paths: readonly string[],
  context: Parameters<typeof parseScope>[1] = here,
) {
  const scope = parseScope(areas, context)
  return paths.filter((path) => coverage(scope, path) === 'covered')
}

describe('a word', () => {
  test('matches a path segment that contains it as a word', () => {
    const inside = [
      'auth.ts',
      'src/auth/config.ts',
      'AuthController.ts',
      'tests/auth.test.ts',
      'IAuthService.cs',
    ]
    const outside = ['author.ts', 'oauth/a.ts', 'OAuth.ts', 'utils.ts', 'src/useOAuth.ts']
    expect(coveredPaths(['auth'], [...inside, ...outside])).toEqual(inside)
  })

  test('drops a plural s on both sides, and keeps short words and a double s', () => {
    expect(coveredPaths(['routes'], ['route.ts', 'api/Routes/a.ts', 'router.ts'])).toEqual([
      'route.ts',
      'api/Routes/a.ts',
    ])
    expect(coveredPaths(['class'], ['class.ts', 'clas.ts'])).toEqual(['class.ts'])
  })

  test('of several tokens needs them one after another', () => {
    const paths = [
      'user-profile.ts',
      'UserProfile.tsx',
      'users_profiles.sql',
      'profile-user.ts',
      'user/profile.ts',
    ]
    expect(coveredPaths(['user profile'], paths)).toEqual(paths.slice(0, 3))
  })

  test('is found in camelCase however it is declared', () => {
    const paths = ['GitHubClient.ts', 'github.ts', 'GraphQLServer.ts']
    expect(coveredPaths(['github'], paths)).toEqual(paths.slice(0, 2))
    expect(coveredPaths(['GitHub'], paths)).toEqual(paths.slice(0, 2))
    expect(coveredPaths(['graphql'], paths)).toEqual(['GraphQLServer.ts'])
  })

  test('without letters or digits is a whole segment', () => {
    expect(coveredPaths(['🚀'], ['🚀/a.ts', 'a🚀.ts'])).toEqual(['🚀/a.ts'])
  })
})

describe('a path', () => {
  test('with a slash or an extension matches contiguous whole segments anywhere', () => {
    const paths = ['src/auth/a.ts', 'packages/x/src/auth/b.ts', 'src/authors/a.ts', 'src/x/auth/a.ts']
    expect(coveredPaths(['src/auth'], paths)).toEqual(paths.slice(0, 2))
    expect(coveredPaths(['auth.ts'], ['auth.ts', 'lib/auth.ts', 'auth.tsx', 'my.auth.ts'])).toEqual([
      'auth.ts',
      'lib/auth.ts',
    ])
    expect(coveredPaths(['.github'], ['.github/a.yml', 'github/a.yml'])).toEqual(['.github/a.yml'])
    expect(coveredPaths(['src\\auth'], ['src/auth/a.ts'])).toEqual(['src/auth/a.ts'])
  })

  test('that begins with a slash or ./ is anchored at the project', () => {
    const paths = ['src/a.ts', 'lib/src/a.ts', 'srcs/a.ts', 'src']
    expect(coveredPaths(['/src'], paths)).toEqual(['src/a.ts', 'src'])
    expect(coveredPaths(['./src/'], paths)).toEqual(['src/a.ts', 'src'])
    expect(coveredPaths(['.'], paths)).toEqual(paths)
  })

  test('is relative to the project, not to the top of the work tree', () => {
    const context = { prefix: 'packages/auth/' }
    const paths = ['packages/auth/src/a.ts', 'packages/auth/src/auth/a.ts', 'src/a.ts', 'packages/auth.ts']
    expect(coveredPaths(['auth'], paths, context)).toEqual(['packages/auth/src/auth/a.ts'])
    expect(coveredPaths(['/src'], paths, context)).toEqual(paths.slice(0, 2))
    expect(coveredPaths(['src/*.ts'], paths, context)).toEqual(paths.slice(0, 1))
    expect(coveredPaths(['.'], paths, context)).toEqual(paths.slice(0, 2))
    expect(coveredPaths(['../../src'], paths, context)).toEqual(['src/a.ts'])
    expect(coveredPaths(['../../../src'], paths, context)).toEqual([])
  })
})

describe('a pattern', () => {
  test('with a slash matches the whole path, without one the base name', () => {
    const paths = ['a.test.ts', 'src/b.TEST.ts', 'src/deep/c.ts', 'src/.hidden.ts']
    expect(coveredPaths(['*.test.ts'], paths)).toEqual(['a.test.ts', 'src/b.TEST.ts'])
    expect(coveredPaths(['src/*.ts'], paths)).toEqual(['src/b.TEST.ts', 'src/.hidden.ts'])
    expect(coveredPaths(['./src/**'], paths)).toEqual(paths.slice(1))
    expect(coveredPaths(['{src,lib}/de*/'], paths)).toEqual(['src/deep/c.ts'])
  })

  test('takes parentheses as they are written', () => {
    expect(coveredPaths(['app/(shop)/**'], ['app/(shop)/page.tsx', 'app/shop/page.tsx'])).toEqual([
      'app/(shop)/page.tsx',
    ])
  })
})

test('a package stands for its folder, and for a path where no such package exists', () => {
  const context = { prefix: '', packages: new Map([['@acme/Core', 'packages/core']]) }
  const paths = [
    'packages/core/a.ts',
    'packages/core/src/b.ts',
    'packages/core-ui/a.ts',
    'vendor/@acme/other/a.ts',
  ]
  expect(coveredPaths(['@acme/core'], paths, context)).toEqual(paths.slice(0, 2))
  expect(coveredPaths(['@acme/core/src'], paths, context)).toEqual(['packages/core/src/b.ts'])
  expect(coveredPaths(['@acme/other'], paths, context)).toEqual(['vendor/@acme/other/a.ts'])
})

test('an exclusion wins, and exclusions alone mean everything else', () => {
  const scope = parseScope(['src', '!src/**/*.gen.ts'], here)
  expect(coverage(scope, 'src/a.ts')).toBe('covered')
  expect(coverage(scope, 'src/a.gen.ts')).toBe('excluded')
  expect(coveredPaths(['!docs'], ['src/a.ts', 'docs/a.md'])).toEqual(['src/a.ts'])
})

test('blank entries declare nothing', () => {
  expect(parseScope(['', '  ', '!', '! '], here).areas).toEqual([])
})

test('a process definition is covered only by an area that names it', () => {
  const path = '.waymark/processes/deploy.yaml'
  expect(coveredPaths(['deploy', '.', '**/*.yaml', '!docs'], [path])).toEqual([])
  expect(coveredPaths(['.waymark/processes'], [path])).toEqual([path])
})

const segment = fc.string({
  unit: fc.constantFrom('a', 'B', 'é', 'Ü', 'z', '9', '-', '_', '(', '認'),
  minLength: 1,
  maxLength: 8,
})
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'))

test('letter case and Unicode form of a path never change what an anchored area answers', () => {
  fc.assert(
    fc.property(path, path, (area, other) => {
      const scope = parseScope([`/${area}`], here)
      for (const candidate of [area, other]) {
        const answer = coverage(scope, candidate)
        expect(coverage(scope, candidate.normalize('NFD'))).toBe(answer)
        expect(coverage(scope, candidate.toUpperCase())).toBe(answer)
      }
      expect(coverage(scope, `${area}/below.ts`)).toBe('covered')
    }),
  )
})

test('every declared text is read, and an excluding copy of it excludes exactly what it covers', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), path, (text, candidate) => {
      fc.pre(!text.trim().startsWith('!'))
      const covers = coverage(parseScope([text], here), candidate) === 'covered'
      const excludes = coverage(parseScope(['.', `!${text}`], here), candidate) === 'excluded'
      expect(excludes).toBe(covers)
    }),
    { numRuns: 500 },
  )
})

test('brackets are a class of characters or a folder that is named so', () => {
  const paths = ['app/[id]/page.tsx', 'app/i/page.tsx', 'app/x/page.tsx', 'app/[id]/deep/a.ts']
  expect(coveredPaths(['app/[id]/page.tsx'], paths)).toEqual(['app/[id]/page.tsx', 'app/i/page.tsx'])
  expect(coveredPaths(['app/[id]/**'], paths)).toEqual([
    'app/[id]/page.tsx',
    'app/i/page.tsx',
    'app/[id]/deep/a.ts',
  ])
})

function editedFile(path: string, more: Partial<FileChange> = {}): FileChange {
  return { path, change: 'modified', origin: 'task', addedLines: 1, deletedLines: 0, ...more }
}

function judgeAreaChanges(areas: readonly string[], changes: readonly FileChange[]) {
  return judgeScope(parseScope(areas, here), { status: 'exact', changes })
}

test('a file outside the declared areas is unexpected and warned of', () => {
  const verdict = judgeAreaChanges(
    ['auth', 'api'],
    [editedFile('auth.ts'), editedFile('api.ts'), editedFile('utils.ts')],
  )
  expect(verdict.scopeMatch).toBe(false)
  expect(verdict.unexpectedFiles).toEqual(['utils.ts'])
  expect(verdict.warnings).toEqual(['⚠️ 1 file(s) modified outside declared scope (auth, api)'])
})

test('a manifest and a matching test do not break the scope', () => {
  const changes = ['package.json', 'src/middleware/auth.ts', 'tests/auth.test.ts'].map((path) =>
    editedFile(path),
  )
  const verdict = judgeAreaChanges(['auth', 'middleware'], changes)
  expect(verdict.scopeMatch).toBe(true)
  expect(verdict.unexpectedFiles).toEqual([])
  expect(verdict.files.map((file) => file.scope)).toEqual(['shared', 'in', 'in'])
  expect(verdict.warnings).toEqual([expect.stringContaining('package.json')])
})

test('a lock file is a companion, with a warning when no manifest of its kind changed', () => {
  expect(
    judgeAreaChanges(['auth'], [editedFile('package-lock.json'), editedFile('package.json')]).warnings,
  ).toHaveLength(1)
  const alone = judgeAreaChanges(['auth'], [editedFile('Cargo.lock'), editedFile('package.json')])
  expect(alone.files[0]?.scope).toBe('companion')
  expect(alone.scopeMatch).toBe(true)
  expect(alone.warnings[0]).toBe('The lock file Cargo.lock changed, but no cargo.toml did.')
})

test('imported files are not judged, mixed ones are', () => {
  const verdict = judgeAreaChanges(
    ['auth'],
    [editedFile('a.ts', { origin: 'imported' }), editedFile('b.ts', { origin: 'mixed' })],
  )
  expect(verdict.files.map((file) => file.scope)).toEqual(['imported', 'out'])
  expect(verdict.unexpectedFiles).toEqual(['b.ts'])
  expect(verdict.warnings).toContain(
    '1 file came by a merge, pull, checkout or reset and was not judged: a.ts.',
  )
})

test('a rename takes its worse end', () => {
  const away = editedFile('auth/a.ts', { from: 'lib/a.ts', change: 'renamed' })
  const within = editedFile('auth/b.ts', { from: 'auth/a.ts', change: 'renamed' })
  expect(judgeAreaChanges(['auth'], [away, within]).files.map((file) => file.scope)).toEqual(['out', 'in'])
})

test('an exclusion is out even for a file that is otherwise shared', () => {
  expect(judgeAreaChanges(['auth', '!package.json'], [editedFile('package.json')]).scopeMatch).toBe(false)
})

test('a descendant attempt may allow what the ancestor did not declare', () => {
  const verdict = judgeScope(
    parseScope(['auth'], here),
    {
      status: 'exact',
      changes: [editedFile('docs/api.ts'), editedFile('lib/api.ts'), editedFile('lib/db.ts')],
    },
    (path) => (path.startsWith('lib/') ? [parseScope(['api'], here)] : []),
  )
  expect(verdict.files.map((file) => file.scope)).toEqual(['shared', 'in', 'out'])
})

describe('there is no verdict', () => {
  test('without declared areas', () => {
    const verdict = judgeAreaChanges([], [editedFile('utils.ts')])
    expect(verdict).toMatchObject({ scopeMatch: null, unexpectedFiles: [], warnings: [] })
    expect(verdict.files).toEqual([{ change: editedFile('utils.ts'), scope: null }])
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
