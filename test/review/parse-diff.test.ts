import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseDiff } from '../../web/parts/parse-diff.ts'

test('a diff that git made is read with its line numbers', () => {
  const diff = diffOf(
    { 'a.txt': 'one\ntwo\nthree\n' },
    { 'a.txt': 'one\n2\nthree\nfour', 'new file.txt': 'x\n' },
  )
  const [first, second] = parseDiff(diff)
  expect(first?.path).toBe('a.txt')
  expect(first?.hunks[0]?.lines).toEqual([
    { kind: 'same', old: 1, new: 1, text: 'one' },
    { kind: 'deleted', old: 2, new: null, text: 'two' },
    { kind: 'added', old: null, new: 2, text: '2' },
    { kind: 'same', old: 3, new: 3, text: 'three' },
    { kind: 'added', old: null, new: 4, text: 'four' },
    { kind: 'note', old: null, new: null, text: 'No newline at end of file' },
  ])
  expect(second?.path).toBe('new file.txt')
  expect(second?.notes).toEqual(['new file mode 100644'])
})

test('a line that looks like a header is content where a hunk is not over', () => {
  const diff = diffOf({ 'a.sql': '-- old\nx\n' }, { 'a.sql': '++ b/new\nx\n' })
  expect(parseDiff(diff)[0]?.hunks[0]?.lines.slice(0, 2)).toEqual([
    { kind: 'deleted', old: 1, new: null, text: '-- old' },
    { kind: 'added', old: null, new: 1, text: '++ b/new' },
  ])
})

test('a line before the hunks is a note, unless git repeats the path in it', () => {
  const note = 'Secret file: its content is not shown'
  const diff = `diff --git a/.env b/.env\nindex 1..2 100644\n--- a/.env\n+++ b/.env\n${note}\n`
  expect(parseDiff(diff)).toEqual([{ path: '.env', hunks: [], notes: [note] }])
})

test('nothing is a diff of no files', () => {
  expect(parseDiff('')).toEqual([])
})

function diffOf(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-diff-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' })
  git('init', '-q')
  for (const [path, text] of Object.entries(before)) writeFileSync(join(folder, path), text)
  git('add', '.')
  git('commit', '-qm', 'Before')
  for (const [path, text] of Object.entries(after)) writeFileSync(join(folder, path), text)
  git('add', '.')
  return git('diff', '--cached')
}
