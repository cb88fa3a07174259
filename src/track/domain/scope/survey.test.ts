import fc from 'fast-check'
import { expect, test } from 'vitest'
import { coverage, parseScope } from './scope.ts'
import { overlappingAreas, surveyAreas } from './survey.ts'

const here = { prefix: '' }
const paths = ['src/auth/login.ts', 'src/api/auth.ts', 'src/api/routes.ts', 'docs/api.md']

test('counts the existing files of each area, so that a typing error shows as zero', () => {
  expect(surveyAreas(parseScope(['auth', 'api', 'atuh', '!docs'], here), paths)).toEqual([
    { area: 'auth', excludes: false, files: 2 },
    { area: 'api', excludes: false, files: 3 },
    { area: 'atuh', excludes: false, files: 0 },
    { area: '!docs', excludes: true, files: 1 },
  ])
})

test('two scopes overlap where one existing file is in an area of each', () => {
  const ours = parseScope(['auth', 'web'], here)
  expect(overlappingAreas(ours, parseScope(['src/api', 'docs'], here), paths)).toEqual([
    { ours: 'auth', theirs: 'src/api' },
  ])
  expect(overlappingAreas(ours, parseScope(['src/api', '!auth.ts'], here), paths)).toEqual([])
})

test('two scopes overlap by what they say where no file exists yet', () => {
  const found = overlappingAreas(
    parseScope(['billing', '/src/new'], here),
    parseScope(['src/billing', 'src/**'], here),
    [],
  )
  expect(found).toEqual([
    { ours: 'billing', theirs: 'src/billing' },
    { ours: '/src/new', theirs: 'src/**' },
  ])
})

const area = fc.constantFrom(
  'auth',
  'api',
  'src',
  'docs',
  'src/api',
  '/src',
  '*.ts',
  'src/**',
  'routes',
  'none',
)
const areas = fc.array(area, { maxLength: 4 })

test('overlap is symmetric, and complete for existing files', () => {
  fc.assert(
    fc.property(areas, areas, (one, two) => {
      const a = parseScope(one, here)
      const b = parseScope(two, here)
      const found = overlappingAreas(a, b, paths)
      const swapped = overlappingAreas(b, a, paths).map(({ ours, theirs }) => `${theirs} ${ours}`)
      expect(swapped.sort()).toEqual(found.map(({ ours, theirs }) => `${ours} ${theirs}`).sort())
      const both = paths.some((path) => coverage(a, path) === 'covered' && coverage(b, path) === 'covered')
      if (both) expect(found).not.toEqual([])
    }),
  )
})
