import { expect, test } from 'vitest'
import type { TaskId } from '../../kernel/id.ts'
import {
  type FileLines,
  followLines,
  type LandingHistory,
  landingWords,
  type OtherPlace,
  type TaskFileLines,
} from './landed.ts'

const lines = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)
const file: TaskFileLines = { path: 'a.ts', added: lines('new', 4), removed: lines('old', 40) }

function landedOf(
  history: Partial<LandingHistory>,
  files: readonly TaskFileLines[] = [file],
  left: readonly TaskFileLines[] | null = null,
) {
  const task = { taskId: 't-1' as TaskId, since: 0, files, left, landed: null } // a brand
  return followLines(task, { branch: 'main', base: new Map(), versions: [], places: [], ...history }).is
}

const holding = (is: OtherPlace['is'], content: FileLines): OtherPlace => ({
  is,
  files: new Map([['a.ts', content]]),
})
const before = new Set(file.removed)
const after = new Set(file.added)
const version = (content: FileLines) => ({
  commit: 'c1',
  committedAt: 1,
  files: new Map([['a.ts', content]]),
})

test('a branch without the file is not where the lines are that a task removed', () => {
  const base = new Map([['a.ts', before]])
  const pages = holding('pushed', null)
  expect(landedOf({ base, places: [pages, holding('uncommitted', after)] })).toBe('uncommitted')
  expect(landedOf({ base, places: [pages, holding('uncommitted', before)] })).toBe('lost')
  expect(
    landedOf({ base, places: [holding('committed', new Set(['other'])), holding('uncommitted', after)] }),
  ).toBe('uncommitted')
})

test('a default branch on which somebody deleted the file has not the lines of the task', () => {
  const base = new Map([['a.ts', before]])
  expect(landedOf({ base, versions: [version(null)], places: [holding('uncommitted', after)] })).toBe(
    'uncommitted',
  )
  expect(landedOf({ base, versions: [version(after)] })).toBe('landed')
})

test('the first three files that are not committed are named, with how many more', () => {
  const files = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, added: lines(path, 10), removed: [] }))
  const holds = (is: OtherPlace['is'], own: readonly TaskFileLines[]): OtherPlace => ({
    is,
    files: new Map(own.map(({ path, added }) => [path, new Set(added)])),
  })
  const wordsWith = (...places: readonly OtherPlace[]) => {
    const task = { taskId: 't-1' as TaskId, since: 0, files, left: null, landed: null } // a brand
    return landingWords(followLines(task, { branch: 'main', base: new Map(), versions: [], places }))
  }
  const onDisk = holds('uncommitted', files)
  expect(wordsWith(onDisk)).toBe('not committed yet: a, b, c and 2 more')
  expect(wordsWith(holds('committed', files.slice(0, 3)), onDisk)).toBe('not committed yet: d and e')
})

test('the share of landed lines says that each counts once, other than in a diff', () => {
  const landed = { is: 'landed', branch: 'main', lines: 6, total: 6 } as const
  expect(landingWords(landed)).toBe('landed on main (6 of 6 distinct lines)')
})

test('of lines that later tasks rewrote, only what is left has to land', () => {
  const rewritten = new Set(['other'])
  const left = [{ ...file, added: [] }]
  const onDisk = [holding('uncommitted', rewritten)]
  const base = new Map([['a.ts', before]])
  expect(landedOf({ base, places: onDisk }, [file])).toBe('lost')
  expect(landedOf({ base, places: onDisk }, [file], left)).toBe('uncommitted')
  expect(landedOf({ base, versions: [version(rewritten)], places: onDisk }, [file], left)).toBe('landed')
  expect(landedOf({ places: onDisk }, [file], [])).toBe('replaced')
  expect(landedOf({ versions: [version(after), version(rewritten)] }, [file], [])).toBe('landed')
})

test('a task that only removes lines lands without them', () => {
  const only = [{ ...file, added: [] }]
  const base = new Map([['a.ts', before]])
  expect(landedOf({ base, versions: [version(new Set(['kept']))] }, only)).toBe('landed')
  expect(landedOf({ base, versions: [version(null)] }, only)).toBe('landed')
  expect(landedOf({ base, places: [holding('committed', null)] }, only)).toBe('committed')
})
