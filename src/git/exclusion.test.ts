import { expect, test } from 'vitest'
import { excludedFolders, isIncluded } from './exclusion.ts'

test.each([
  ['.waymark/waymark.db', false],
  ['app/.waymark/state/x', false],
  ['.waymark/', false],
  ['.waymark/processes/deploy.yaml', true],
  ['app/.waymark/processes/deploy.yaml', true],
  ['other/.waymark/x', true],
  ['.waymarked/x', true],
  ['var/state/snapshots/x', false],
  ['var/stateful', true],
])('%s: included %s', (path, included) => {
  expect(isIncluded(path, excludedFolders('/top', 'app/', '/top/var/state'))).toBe(included)
})
