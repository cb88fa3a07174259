import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sumOfLines } from '../../src/track/domain/changes.ts'
import { changesInOrder, type DiffNode, diffRows, diffTree } from './diff-tree.ts'

const part = fc.constantFrom('src', 'test', 'a', 'b', 'read me', 'x.ts', 'Ünï')
const change = fc.record({
  path: fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
  added_lines: fc.option(fc.nat(50)),
  deleted_lines: fc.option(fc.nat(50)),
  scope: fc.constantFrom('in', 'out'),
})
// A path is a file or a folder, never both.
const changes = fc
  .uniqueArray(change, { selector: ({ path }) => path, maxLength: 25 })
  .map((list) => list.filter(({ path }) => !list.some((other) => other.path.startsWith(`${path}/`))))

test('the tree holds every change once, in an order that does not hang on how they came', () => {
  fc.assert(
    fc.property(changes, fc.infiniteStream(fc.nat()), (list, keys) => {
      const tree = diffTree(list)
      const rows = diffRows(tree, new Set())
      const files = rows.flatMap(({ node }) => (node.kind === 'file' ? [node.path] : []))
      expect(changesInOrder(tree).map(({ path }) => path)).toEqual(files)
      expect(files.toSorted()).toEqual(list.map(({ path }) => path).toSorted())
      const mixed = list
        .map((one) => ({ one, key: keys.next().value ?? 0 }))
        .toSorted((a, b) => a.key - b.key)
      expect(diffTree(mixed.map(({ one }) => one))).toEqual(tree)
    }),
  )
})

test('a folder counts what is below it, and has more than one folder in it', () => {
  fc.assert(
    fc.property(changes, (list) => {
      const check = (node: DiffNode<(typeof list)[number]>): void => {
        if (node.kind === 'file') return
        const inside = list.filter(({ path }) => node.path === '' || path.startsWith(`${node.path}/`))
        expect(node.files).toBe(inside.length)
        expect(node.added).toBe(sumOfLines(inside.map((one) => one.added_lines)))
        expect(node.deleted).toBe(sumOfLines(inside.map((one) => one.deleted_lines)))
        expect(node.outOfScope).toBe(inside.filter(({ scope }) => scope === 'out').length)
        if (node.path !== '') expect(node.children.length > 1 || node.children[0]?.kind === 'file').toBe(true)
        node.children.forEach(check)
      }
      check(diffTree(list))
    }),
  )
})

test('folders come first, a chain of folders is one row, and a folded one hides what is in it', () => {
  const list = ['z.md', 'src/diff/read/hunk.ts', 'src/diff/read/file.ts', 'a.md'].map((path) => ({
    path,
    added_lines: 1,
    deleted_lines: 0,
    scope: 'in',
  }))
  const shown = (folded: ReadonlySet<string>) =>
    diffRows(diffTree(list), folded).map(({ node, depth }) => `${depth} ${node.name}`)
  expect(shown(new Set())).toEqual(['0 src/diff/read', '1 file.ts', '1 hunk.ts', '0 a.md', '0 z.md'])
  expect(shown(new Set(['src/diff/read']))).toEqual(['0 src/diff/read', '0 a.md', '0 z.md'])
})
