import { expect, test } from 'vitest'
import { claimedChanges, missingPaths, unchangedPaths } from './claimed-changes.ts'

const claims = (summary: string, achievements: readonly string[] = []) =>
  claimedChanges({ summary, achievements })
const paths = (summary: string) => claims(summary).map(({ path }) => path)

test('claims what a verb of change governs, once, and whether it was created', () => {
  expect(claims('Created `src/a.ts`, updated ./src/b.ts and src/c.ts:12.', ['Fixed src/b.ts'])).toEqual([
    { path: 'src/a.ts', isCreated: true },
    { path: 'src/b.ts', isCreated: false },
    { path: 'src/c.ts', isCreated: false },
  ])
  expect(paths('Moved the parser from `src/a.ts` to `src/b.ts`.')).toEqual(['src/a.ts', 'src/b.ts'])
  expect(paths('Edited [the client](src/client.ts) and src\\lib\\x.cs')).toEqual([
    'src/client.ts',
    'src/lib/x.cs',
  ])
})

test.each([
  'Changed src/a.js to export tax(). Added test/a.test.js to cover it.',
  'Changed src/a.js. I wrote test/a.test.js to cover the handler.',
  'Created `test/a.test.js` to parse prices, changed src/a.js to use it.',
  'Updated src/a.js. Added test/a.test.js to check src/a.js.',
])('what a new file is for does not make it less claimed: %s', (summary) => {
  expect(paths(summary).toSorted()).toEqual(['src/a.js', 'test/a.test.js'])
  expect(claims(summary).find(({ path }) => path === 'test/a.test.js')?.isCreated).toBe(true)
})

test('what comes before something else than the work is a claim', () => {
  expect(paths('Updated src/a.ts to check permissions before the start of the server.')).toEqual(['src/a.ts'])
  expect(paths('Changed src/a.ts so it validates before the task is saved.')).toEqual(['src/a.ts'])
})

test('the deeds of an author go on after a clause about something else', () => {
  expect(paths('Changed src/a.ts so that format() groups thousands, and added test/a.test.ts.')).toEqual([
    'src/a.ts',
    'test/a.test.ts',
  ])
  expect(paths('Found that the last release renamed it, and added src/b.ts.')).toEqual([])
  expect(paths('The last release renamed it, and added src/b.ts.')).toEqual([])
  expect(paths('Changed src/a.ts because the cache, added last year in src/b.ts, is slow.')).toEqual([
    'src/a.ts',
  ])
  expect(paths('Changed src/a.ts because the release renamed it and moved src/b.ts.')).toEqual(['src/a.ts'])
  expect(paths('Changed src/a.ts so money takes a symbol and updated src/b.ts.')).toEqual([
    'src/a.ts',
    'src/b.ts',
  ])
  expect(
    paths(
      'Changed src/a.ts so money takes a symbol, added a test in test/a.test.ts, and updated README.md and b.md.',
    ),
  ).toEqual(['src/a.ts', 'test/a.test.ts', 'README.md', 'b.md'])
  for (const fact of ['All tests pass', 'The suite is green'])
    expect(paths(`${fact}, and updated src/b.ts.`)).toEqual(['src/b.ts'])
  for (const fact of ['Main is ahead', 'Prettier runs on commit', 'Ann owns the parser'])
    expect(paths(`${fact}, and updated src/b.ts.`)).toEqual([])
})

test.each([
  'src/a.ts takes a symbol now. README.md and src/b.ts are updated.',
  'README.md is now updated.',
  'Both README.md and src/b.ts are updated, too.',
])('files that are changed now are claimed: %s', (summary) => {
  expect(paths(summary)).toContain('README.md')
})

test.each([
  'dist/a.js is updated on each build.',
  'dist/a.js is updated accordingly by the server.',
  'dist/a.js is updated, but only at a start.',
  'dist/a.js is removed, then written again.',
  'dist/a.js is updated to a newer version by the bot.',
  'On each build dist/a.js is updated.',
  'When a price changes, dist/a.js is updated.',
  'dist/a.js is updated and served by the server.',
  'dist/a.js is not updated.',
  'The bug in src/a.ts is fixed.',
])('what a program does is no claim: %s', (summary) => {
  expect(paths(summary)).toEqual([])
})

test.each([
  'The total did not round, so I changed src/a.ts.',
  'Rewrote src/a.ts. Did not change the public API of src/a.ts.',
  'Rewrote src/a.ts; the tests in src/a.ts were not touched.',
  'I did not touch src/a.ts except that I rewrote src/a.ts.',
  'Not only did I update the docs, I also rewrote src/a.ts.',
  'Rewrote src/a.ts.\n- src/a.ts: rounds halves now; its API did not change',
  'Rewrote src/a.ts. It did not handle halves in src/a.ts.',
])('a denial takes back only what it says: %s', (summary) => {
  expect(paths(summary)).toEqual(['src/a.ts'])
})

test.each([
  'Rewrote src/a.ts. In the end src/a.ts is unchanged.',
  'Updated src/a.ts. No changes were needed in src/a.ts.',
  'Updated src/a.ts; I did not have to change src/b.ts or src/a.ts.',
  'Rewrote src/a.ts.\n- src/a.ts: not changed after all',
  'Rewrote src/a.ts. The rewrite of src/a.ts was reverted.',
])('what a report denies of a file is no claim: %s', (summary) => {
  expect(paths(summary)).toEqual([])
})

test.each([
  'Updated src/a.ts. src/a.ts is otherwise unchanged.',
  'Updated src/a.ts. No other changes were made in src/a.ts.',
  'Updated src/a.ts. Apart from the rounding, src/a.ts is unchanged.',
  'Updated src/a.ts. I did not change the tests of src/a.ts.',
  'Updated src/a.ts. I did not change the src/a.ts tests.',
  "Updated src/a.ts. src/a.ts's API is unchanged.",
  'Updated src/a.ts. I did not touch the rest of src/a.ts.',
  'Updated src/a.ts. The signature in src/a.ts is intact.',
  'Updated src/a.ts. I restored the header of src/a.ts.',
  'Updated src/a.ts. I changed nothing outside src/a.ts, and no other file than src/a.ts was touched.',
  'Updated src/a.ts, leaving its public API untouched.',
  'Updated src/a.ts, its API intact.',
  'Updated src/a.ts while package.json stays unchanged.',
  'Updated src/a.ts to handle rounding, with no changes to the API.',
  'Updated src/a.ts, and kept package.json unchanged.',
  'Updated src/a.ts and restored src/b.ts.',
  'Updated src/a.ts (no changes to its API).',
  '## Changed files\n- src/a.ts: updated, its API unchanged',
  '- `src/a.ts` – updated, no changes to the API',
  '- src/a.ts: updated. Its API is unchanged.',
  'Updated src/a.ts.\n- src/a.ts, with no changes to the API',
  'Updated src/a.ts.\n- src/a.ts: the signature is intact',
  ...[
    'src/c.ts is unchanged and still imports src/a.ts.',
    'src/c.ts, which imports src/a.ts, is unchanged.',
    'I reverted src/c.ts, which src/a.ts replaces.',
    'src/c.ts is unchanged (it imports src/a.ts).',
    'src/c.ts needed no changes after I rewrote src/a.ts.',
    'src/c.ts did not change while src/a.ts did.',
    'src/a.ts now rounds, and src/c.ts is unchanged.',
    'I left src/c.ts alone and rewrote src/a.ts.',
    'I reverted the change to src/c.ts.',
    'The exports of src/a.ts are unchanged.',
    'The types exported from src/a.ts are intact.',
    'The tests that cover src/a.ts did not change.',
    'src/a.ts exports are unchanged.',
    'src/a.ts did not change its exports.',
    'The rewrite of src/a.ts left its exports unchanged.',
    'src/a.ts no longer touches src/c.ts.',
    'The fix in src/a.ts did not change src/c.ts.',
  ].map((denial) => `Updated src/a.ts.\n\n${denial}`),
])('a denial of something else hides no claim: %s', (summary) => {
  expect(paths(summary)).toEqual(['src/a.ts'])
})

test.each([
  'I did not touch src/a.ts.',
  'I left src/a.ts alone.',
  'I kept src/a.ts exactly as it was, unchanged.',
  'src/a.ts and src/b.ts remain untouched.',
  'There were no changes at all in src/a.ts.',
  'No edits were made to src/a.ts, src/b.ts or src/c.ts.',
  'I did not change any lines in src/a.ts.',
  'I reverted my edits to src/a.ts.',
  'In the end I restored src/a.ts to its original state.',
  'The file src/a.ts is byte for byte identical to before.',
  '- src/a.ts: unchanged, the API too',
  'src/b.ts, src/a.ts: unchanged.',
  'Reviewed src/b.ts and src/a.ts, no changes were needed.',
  'src/a.ts is unchanged and still imports src/c.ts.',
  'src/a.ts, which src/c.ts imports, is unchanged.',
  'src/c.ts imports src/a.ts, which is unchanged.',
  'src/a.ts imports src/c.ts and is unchanged.',
  'Because src/c.ts covers it, src/a.ts is unchanged.',
  'src/a.ts did not need to change because of src/c.ts.',
  'src/b.ts is unchanged and so is src/a.ts.',
  'src/b.ts is unchanged, src/a.ts too.',
  'I did not modify src/b.ts, nor did I modify src/a.ts.',
  'I left both src/b.ts and the helper src/a.ts alone.',
  'Neither src/a.ts nor src/b.ts was changed.',
  'The contents of src/a.ts are unchanged.',
  'src/a.ts ended up unchanged.',
])('a denial of the file takes back its claim: %s', (denial) => {
  expect(paths(`Updated src/a.ts.\n\n${denial}`)).toEqual([])
})

test('a denial after a list leaves the list', () => {
  const all = ['src/a.ts', 'src/b.ts', 'src/c.ts']
  expect(paths('Updated src/a.ts, src/b.ts, and src/c.ts, while src/d.ts is unchanged.')).toEqual(all)
  expect(paths('Updated src/a.ts, src/b.ts and src/c.ts and left src/d.ts alone.')).toEqual(all)
  expect(paths('If needed, update src/a.ts with no changes to src/b.ts.')).toEqual([])
})

test.each([
  'Edited src/a.ts while debugging and reverted it.',
  'Changed src/a.ts, then restored its content.',
])('what was put back within a sentence is no claim: %s', (summary) => {
  expect(paths(summary)).toEqual([])
})

test.each([
  'See src/a.ts, and https://example.com/src/x.ts.',
  'I did not change src/a.ts.',
  'Edited src/a.ts before the start of the task.',
  'Edited src/a.ts before I started this task.',
  'Checked in src/a.ts that I removed all uses.',
  'It reuses src/a.ts, which I replaced with a stub.',
  'Put the test back in src/a.ts.',
  'Fixed it without touching src/a.ts.',
  'src/a.ts should be updated later.',
  'Next: update src/a.ts',
  'If you change src/a.ts, update src/b.ts.',
  'Added tests for src/a.ts.',
  'Updated the docs as described in docs/a.md.',
  'Added `src/a.ts` to the exclude list.',
  'Added src/a.ts to all the lists, and src/b.ts to test suites.',
  'Added src/a.ts to `include` and to tsconfig.',
  'Ran `npm test src/a.test.ts` and updated src/**/*.ts.',
  'Geändert: src/a.ts wurde updated für alle.',
  '```\nUpdated src/a.ts\n```',
  'Updated ../other/src/a.ts, /etc/a.conf and version 1.2.3.',
  'Created src/a.ts to reproduce it. Deleted it again.',
])('claims nothing: %s', (summary) => {
  expect(paths(summary)).toEqual([])
})

test('a claimed file must exist unless it was created, and may be cut at its start', () => {
  const unchanged = (summary: string, changed: readonly string[], existing: readonly string[] = []) =>
    unchangedPaths(claims(summary), { changed, existing: new Set(existing) })
  expect(unchanged('Updated diff/reader.ts', ['src/diff/reader.ts'])).toEqual([])
  expect(unchanged('Updated diff/reader.ts', ['src/other.ts'], ['diff/reader.ts'])).toEqual([
    'diff/reader.ts',
  ])
  expect(unchanged('Updated diff/reader.ts', ['src/other.ts'])).toEqual([])
  expect(unchanged('Created diff/reader.ts', ['src/other.ts'])).toEqual(['diff/reader.ts'])
  expect(unchanged('Created dist/reader.js and Node.js', [])).toEqual([])
  expect(unchanged('Created src/Ünïcode.ts', [])).toEqual(['src/Ünïcode.ts'])
  expect(unchanged('Updated `my notes/a file.md`', [], ['my notes/a file.md'])).toEqual([
    'my notes/a file.md',
  ])
  expect(unchanged('Created `my notes/a file.md`', [])).toEqual([])
  expect(unchanged('Generated src/a.ts', [], ['src/a.ts'])).toEqual([])
  expect(unchanged('Updated README', ['docs/Readme.de.md'], ['README'])).toEqual([])
  expect(unchanged('Updated repo/SRC/a.ts', ['src/a.ts'])).toEqual([])
  expect(unchanged('Updated repo/src/a.ts', ['src/a.ts'], ['repo/src/a.ts'])).toEqual(['repo/src/a.ts'])
  // Another file with the same end answers nothing; the same file may be named from its package on.
  const core = ['packages/core/src/index.ts']
  const api = 'packages/api/src/index.ts'
  expect(unchanged(`Updated ${api}`, core, [api])).toEqual([api])
  expect(unchanged('Created packages/new/src/index.ts', core)).toEqual(['packages/new/src/index.ts'])
  expect(unchanged('Updated core/src/index.ts and src/index.ts', core, ['src/index.ts'])).toEqual([])
})

test.each([
  ['Updated src/nothing.js.', ['src/nothing.js']],
  ['Changed src/parse.js and updated test/invoice.test.js.', ['src/parse.js', 'test/invoice.test.js']],
  [
    'Fixed the bug in src/rounding.js, with a test in test/rounding.test.js.',
    ['src/rounding.js', 'test/rounding.test.js'],
  ],
  ['Updated README.md and docs/usage.md.', ['README.md', 'docs/usage.md']],
  ['Created CHANGELOG.md with an entry.', ['CHANGELOG.md']],
  ['Updated ./tsconfig.json and index.js.', ['tsconfig.json', 'index.js']],
  ['Updated Node.js, next.js and Vue.js.', []],
  ['Deleted notes.md.', []],
  [
    'I put the table in src/rates.js and placed its test under test/rates.test.js.',
    ['src/rates.js', 'test/rates.test.js'],
  ],
  ['Fixed rounding, covered by new tests for `halves` in test/rounding.test.js.', ['test/rounding.test.js']],
  ['Added a check with regression tests under test/a.test.ts', ['test/a.test.ts']],
  // Letters beyond ASCII, names with spaces, documents without an extension, what was generated.
  ['Updated src/Ünïcode.ts and docs/日本/notes.md.', ['src/Ünïcode.ts', 'docs/日本/notes.md']],
  [
    'Created `my notes/a file.md`, "design notes.md" and “old plan.md”.',
    ['my notes/a file.md', 'design notes.md', 'old plan.md'],
  ],
  ['Created CHANGELOG, and wrote README.', ['CHANGELOG', 'README']],
  ['Generated CHANGELOG.md and src/types.ts from the schema.', ['CHANGELOG.md', 'src/types.ts']],
  // Said to be gone, or compared as created files are.
  ['Deleted src/old.js and renamed lib/a.js to lib/b.js.', []],
  ['`src/old.js` was removed.', []],
  ['Deleted files:\n- src/old.js\n- src/older.js (deleted)', []],
  // No files of the project.
  ['Updated node_modules/x/index.js, dist/app.js and github.com/o/r/README.md.', []],
  ['Updated @scope/pkg/index.js, src/**/*.ts, /etc/app.conf and https://example.com/a/b.html.', []],
  // No claim that it was changed.
  ['Updated the readme, and added README files to both packages.', []],
  ['## CHANGELOG\n- Updated the limiter\n- Generated ids are stable', []],
  ['Added "see also a.md", `node scripts/run.mjs`, `notes in a.md` and the text "all of a.md".', []],
  ['Created `npm run build.js` and "a.md and b.md". Updated `the part on a.md`.', []],
  ['Generated trace.md to find the leak, and deleted it again.', []],
  ['Generated coverage.html. Generated types live in src/types.ts; src/api.ts was generated.', []],
  ['- src/api.ts (generated)\n- src/types.ts: generated from the schema', []],
  ['Verified it with the tests in test/a.test.ts.', []],
  ['Fixed the bug. It is like the test in test/a.test.ts.', []],
  ['Fixed the bug with no test in test/a.test.ts.', []],
])('a file that is claimed changed and does not exist is missing: %s', (summary, missing) => {
  const claimed = claims(summary)
  const absent = new Set(claimed.map(({ path }) => path))
  expect(missingPaths(claimed, { changed: [], absent })).toEqual(missing)
  expect(missingPaths(claimed, { changed: missing, absent })).toEqual([])
  expect(missingPaths(claimed, { changed: [], absent: new Set() })).toEqual([])
})

test.each([
  'Updated src/a\u200b.ts and src\u00ad/b.ts\u202e.',
  'Updated \u2066src/a.ts\u2069, src/\ufe0fb.ts',
  'Updated „src/a.ts“ and «src/b.ts».',
  'Updated：src/a.ts，src/b.ts（修正）。',
  'Fixed the naïve 舍入 parser in src/a.ts and src/b.ts.',
])('letters around a name, and invisible ones in it, hide no claim: %s', (summary) => {
  const claimed = claims(summary)
  const existing = new Set(['src/a.ts', 'src/b.ts'])
  expect(unchangedPaths(claimed, { changed: [], existing })).toEqual([...existing])
  expect(unchangedPaths(claimed, { changed: [...existing], existing })).toEqual([])
})

test.each([
  '没有修改src/a.ts',
  '接下来修改src/a.ts，未添加src/b.ts。',
  'src/a.tsを修正しませんでした。',
  '我修正了src/a.ts中的错误，并添加了src/b.ts。',
  'src/a.tsを更新した場合は再起動してください。',
  'Updated src/a.ts 的计划',
])('other languages are not read, since their denials are not: %s', (summary) => {
  expect(paths(summary)).toEqual([])
})

test.each(['設定a.ts', '東京とa.md', '説明（案）.md', '計画、a.md', 'x\u200da.ts', 'Ü.ts'.normalize('NFD')])(
  'a file with such letters in its own name may be claimed: %s',
  (path) => {
    const claimed = claims(`Updated src/c.ts and ${path}.`)
    const existing = new Set(claimed.map((claim) => claim.path))
    expect(unchangedPaths(claimed, { changed: [path], existing })).toEqual(['src/c.ts'])
    expect(missingPaths(claimed, { changed: [path, 'src/c.ts'], absent: existing })).toEqual([])
  },
)

test('a test that is only said to be there does not have to change', () => {
  const claimed = claims('Fixed src/a.js, with a test in test/a.test.js.')
  expect(unchangedPaths(claimed, { changed: ['src/a.js'], existing: new Set(['test/a.test.js']) })).toEqual(
    [],
  )
})
