import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isJudgedWeakening, weakenings } from '../../../src/track/domain/weakened/weakened.ts'

interface LabeledDiff {
  /** The expected kinds; those that are only reported in parentheses. */
  readonly label: readonly string[]
  readonly existing: readonly string[]
  readonly files: readonly {
    readonly path: string
    readonly before: string | null
    readonly after: string | null
  }[]
}

const diffs = readFileSync(join(import.meta.dirname, 'diffs.txt'), 'utf8')
  .split(/^=== ?/m)
  .slice(1)
  .map((entry): LabeledDiff => {
    const [head = '', ...parts] = entry.split(/^\+\+\+ /m)
    const [label = '', existing = ''] = head.split('\nexists: ')
    const files = parts.map((part) => {
      const [path = '', ...lines] = part.split('\n')
      const [before, after] = lines.join('\n').split('\n--->\n').map(contentOf)
      return { path, before: before ?? null, after: after ?? null }
    })
    return { label: listOf(label), existing: listOf(existing), files }
  })

function contentOf(text: string): string | null {
  return text.trim() === '(none)' ? null : text
}

function listOf(text: string): readonly string[] {
  return text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]))
}

test('there are forty diffs that weaken and twenty that do not', () => {
  expect(diffs.filter(({ label }) => label.length > 0).length).toBeGreaterThanOrEqual(40)
  expect(diffs.filter(({ label }) => label.length === 0).length).toBeGreaterThanOrEqual(20)
})

test.each(diffs.map((diff, index) => [index + 1, diff] as const))(
  'labeled diff %i',
  (_, { label, existing, files }) => {
    const there = new Set([
      ...existing,
      ...files.flatMap(({ path, after }) => (after === null ? [] : [path])),
    ])
    const found = weakenings(files, (path) => there.has(path))
    const kinds = found.map((one) => (isJudgedWeakening(one) ? one.kind : `(${one.kind})`))
    expect({ kinds: [...new Set(kinds)].sort(), files }).toEqual({ kinds: [...label].sort(), files })
  },
)

test('names the line of a skipped test', () => {
  const [first] = diffs
  expect(weakenings(first?.files ?? [], () => false)).toEqual([
    { path: 'src/cart.test.ts', line: 5, kind: 'skipped', text: 'test skipped' },
  ])
})

test('one line that went explains one that came, not every line with the same words', () => {
  const skip = '@pytest.mark.skip\n'
  const tests = (names: readonly string[], mark = '') =>
    names.map((name) => `${mark}def test_${name}():\n    assert check("${name}")\n`).join('\n')
  const files = [
    { path: 'tests/test_a.py', before: tests(['a'], skip), after: tests(['a']) },
    { path: 'tests/test_b.py', before: tests(['b', 'c', 'd']), after: tests(['b', 'c', 'd'], skip) },
  ]
  const found = weakenings(files, () => true).filter(isJudgedWeakening)
  expect(found.map(({ path, kind }) => [path, kind])).toEqual([
    ['tests/test_b.py', 'skipped'],
    ['tests/test_b.py', 'skipped'],
  ])
})
