import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWitness } from '../../src/git/witness.ts'
import { amount } from '../support/amount.ts'
import { git as runGit } from '../support/git.ts'
import { processorTime } from '../support/processor-time.ts'
import { lines, openStory, type Story } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const y = (...numbers: number[]) => lines('y', ...numbers)
const allX = { x1: 'a1', x2: 'a1', x3: 'a1' }

/** The same record, asked about another folder. */
async function ownersIn(s: Story, folder: string, file: string) {
  const { catalog } = await import('../../src/kernel/operations/catalog.ts')
  const { invoke } = await import('../../src/kernel/operations/invoke.ts')
  const blame = catalog.find(({ name }) => name === 'blame')
  if (!blame) throw new Error('no blame')
  const witness = createWitness({ stateFolder: s.context.program.stateFolder, clock: s.context.clock })
  const answer: any = await invoke(blame, { ...s.context, folder, witness }, { file })
  const named = answer.ranges.map((range: any) => [range.agent ?? range.kind, range.end - range.start + 1])
  return { named, notes: answer.notes }
}

test('42 amended, the reflog expired, pruned, the snapshots gone, a month later', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.git('commit', '-q', '--amend', '-m', 'again')
  await s.context.witness.settle()
  s.git('reflog', 'expire', '--expire=now', '--all')
  s.git('gc', '-q', '--prune=now')
  rmSync(join(s.context.program.stateFolder, 'snapshots'), { recursive: true })
  s.wait(31 * 24 * 60 * 60 * 1000)
  expect(await s.owners('f')).toEqual(allX)
})

test('43 an attempt in a linked work tree, merged, the tree removed', async () => {
  const s = await openStory()
  const tree = join(s.folder, '..', 'linked')
  s.git('worktree', 'add', '-q', '-b', 'side', tree)
  const started = await s.begin('a1', { work_tree: tree })
  writeFileSync(join(tree, 'f'), `${s.read('f')}${x(1, 2, 3).join('\n')}\n`)
  runGit(tree, 'commit', '-qam', 'side')
  await s.end(started)
  s.git('merge', '-q', 'side')
  s.git('worktree', 'remove', tree)
  expect(await s.owners('f')).toEqual(allX)
})

test('44 line endings that git changes', async () => {
  const s = await openStory()
  s.git('config', 'core.autocrlf', 'true')
  s.write('f', s.read('f').replaceAll('\n', '\r\n'))
  await s.attempt('a1', () => s.write('f', `${s.read('f')}${x(1, 2, 3).join('\r\n')}\r\n`))
  expect(await s.owners('f')).toEqual(allX)
  s.commit()
  expect((await s.whose('f')).slice(-1)).toEqual(['x3 a1 exact'])
  s.write('.gitattributes', '* text eol=lf\n')
  expect(await s.owners('f')).toEqual(allX)
})

test('44 a file of Git LFS has no lines', async () => {
  const s = await openStory()
  s.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
  s.commit()
  await s.attempt('a1', () => s.write('model.bin', 'many words of a model\n'))
  const answer = await s.call('blame', { file: 'model.bin' })
  expect(answer).toMatchObject({ lines: 0, ranges: [] })
  expect(answer.notes[0]).toContain('Git LFS')
})

test('44 a repository of sha-256', async () => {
  const s = await openStory()
  rmSync(join(s.folder, '.git'), { recursive: true })
  s.git('init', '-q', '--object-format=sha256')
  s.git('config', 'user.email', 'p@example.com')
  s.git('config', 'user.name', 'p')
  s.commit()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  expect(await s.owners('f')).toEqual(allX)
})

test('45 a shallow clone: exact where recorded, else the history is cut', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.put('f', lines('p', 1))
  s.commit()
  const clone = join(s.folder, '..', 'shallow')
  runGit(s.folder, 'clone', '-q', '--depth=1', `file://${s.folder}`, clone)
  const { named, notes } = await ownersIn(s, clone, 'f')
  expect(named).toContainEqual(['a1', 3])
  expect(notes.join()).toContain('clone is shallow')
})

test('45 a partial clone that cannot fetch', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.swap('f', 'x2', y(2)[0] ?? '')
  s.commit()
  s.git('config', 'uploadpack.allowFilter', 'true')
  const clone = join(s.folder, '..', 'partial')
  runGit(s.folder, 'clone', '-q', '--filter=blob:none', `file://${s.folder}`, clone)
  runGit(clone, 'remote', 'set-url', 'origin', join(s.folder, '..', 'nowhere'))
  const { notes } = await ownersIn(s, clone, 'f')
  expect(notes.join()).toContain('git blame failed')
})

test('46 nothing that a repository configures is executed, and the answer is the same', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  const before = await s.whose('f')
  const mark = join(s.folder, '..', 'ran')
  const program = join(s.folder, '..', 'program')
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`)
  chmodSync(program, 0o755)
  s.write('.git/info/attributes', '* diff=odd filter=odd\n')
  for (const [key, value] of [
    ['diff.odd.textconv', program],
    ['filter.odd.clean', program],
    ['filter.odd.smudge', program],
    ['core.fsmonitor', program],
    ['alias.blame', `!${program}`],
    ['alias.cat-file', `!${program}`],
    ['blame.markUnblamableLines', 'true'],
    ['blame.showRoot', 'true'],
    ['core.pager', program],
    ['diff.external', program],
  ] as const) {
    s.git('config', key, value)
  }
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.at(-1)).toMatchObject({ agent: 'a1', start: 5, end: 7 })
  expect(existsSync(mark)).toBe(false)
  expect(before.at(-1)).toBe('x3 a1 exact')
})

test('46 replaced commits do not change an answer; revisions to look through are looked through', async () => {
  const s = await openStory()
  s.put('f', lines('p', 1))
  s.commit('person')
  const whole = s.read('f')
  s.write('f', whole.replaceAll('p1 is', 'p1  is'))
  s.commit('only spaces')
  const spaces = s.git('rev-parse', 'HEAD').trim()
  const asked = async () => (await s.call('blame', { file: 'f' })).ranges.at(-1).commit
  expect(await asked()).toBe(spaces)
  s.write('ignored', `${spaces}\n`)
  s.git('config', 'blame.ignoreRevsFile', 'ignored')
  expect(await asked()).toBe(s.git('rev-parse', 'HEAD~1').trim())
  s.git('config', '--unset', 'blame.ignoreRevsFile')
  s.git('replace', spaces, s.git('rev-parse', 'HEAD~1').trim())
  expect(await asked()).toBe(spaces)
})

test('47 in a clone of which nothing is recorded, nobody is named', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  const other = await openStory()
  const clone = join(other.folder, '..', 'clone')
  runGit(s.folder, 'clone', '-q', s.folder, clone)
  expect((await ownersIn(other, clone, 'f')).named.map(([who]: any) => who)).not.toContain('a1')
  // And where the record is, the clone knows it.
  expect((await ownersIn(s, clone, 'f')).named).toContainEqual(['a1', 3])
})

test('48 two attempts that overlap in one file are both named', async () => {
  const s = await openStory()
  const first = await s.begin('a1')
  const second = await s.begin('a2')
  s.put('f', x(1, 2, 3))
  await s.end(second)
  s.put('f', y(1))
  await s.end(first)
  const { ranges } = await s.call('blame', { file: 'f' })
  const [contested, own] = ranges.slice(-2)
  expect(contested).toMatchObject({ attribution: 'contested', start: 5, end: 7 })
  expect(new Set(contested.attempts)).toEqual(new Set([first.attempt_id, second.attempt_id]))
  expect(own).toMatchObject({ agent: 'a1', attribution: 'certain', start: 8, end: 8 })
})

test('48 areas make the likelier one probable', async () => {
  const s = await openStory()
  const first = await s.begin('a1', { areas: ['/f'] })
  const second = await s.begin('a2', { areas: ['/g'] })
  s.put('f', x(1))
  s.put('g', y(1))
  await s.end(second)
  await s.end(first)
  const of = async (file: string) => (await s.call('blame', { file })).ranges.at(-1)
  expect(await of('f')).toMatchObject({ agent: 'a1', attribution: 'probable' })
  expect(await of('g')).toMatchObject({ agent: 'a2', attribution: 'probable' })
})

test('49 large, odd and missing files are answered, or it is said why not', async () => {
  const s = await openStory()
  const many = Array.from(
    { length: amount({ test: 10_000, soak: 20_000 }) },
    (_, at) => `line ${at} of a long file ${at % 7}`,
  )
  s.write('long', `${many.join('\n')}\n`)
  s.write('wide', `${'w'.repeat(1_000_000)}\n`)
  s.write('binary', `a\0b`)
  mkdirSync(join(s.folder, 'folder'))
  symlinkSync('f', join(s.folder, 'link'))
  s.commit()
  await s.attempt('a1', () => {
    s.write('long', `${[...many.slice(0, 9_000), ...x(1), ...many.slice(9_000)].join('\n')}\n`)
  })
  const look = async () => expect((await s.owners('long'))['x1']).toBe('a1')
  expect(await processorTime(look)).toBeLessThan(3_000)
  expect((await s.call('blame', { file: 'wide' })).lines).toBe(1)
  expect((await s.call('blame', { file: 'binary' })).notes).toEqual(['binary is not a text file.'])
  expect((await s.call('blame', { file: 'link' })).notes[0]).toContain('is a link')
  expect(await s.refused('blame', { file: 'folder' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'not_a_file',
  })
  expect(await s.refused('blame', { file: 'nothing' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'file_not_found',
  })
  expect(await s.refused('blame', { file: '../outside' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'path_outside_work_tree',
  })
  expect(await s.refused('blame', { file: 'f', rev: 'nowhere' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'commit_not_found',
  })
  expect(await s.refused('blame', { file: 'f', lines: '3-7' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'lines_invalid',
  })
  expect(await s.refused('blame', { file: 'f', lines: '90' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'lines_out_of_range',
  })
})

test('49 a submodule has no lines', async () => {
  const s = await openStory()
  const inner = join(s.folder, '..', 'inner')
  mkdirSync(inner)
  runGit(inner, 'init', '-q')
  writeFileSync(join(inner, 'i'), 'i\n')
  runGit(inner, 'add', '-A')
  runGit(inner, '-c', 'user.email=p@example.com', '-c', 'user.name=p', 'commit', '-qm', 'i')
  s.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub')
  s.commit()
  expect(await s.refused('blame', { file: 'sub' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'not_a_file',
  })
})

test('50 paths with spaces, quotes, line feeds, tabs and accents', async () => {
  const s = await openStory()
  const names = ['with space', 'with "quotes"', 'two\nlines', 'é composed', 'é decomposed', 'täb\there']
  const each = (work: (name: string) => void) => () => names.forEach(work)
  each((name) => s.write(name, 'base line\n'))()
  s.commit()
  await s.attempt(
    'a1',
    each((name) => s.put(name, x(1, 2, 3))),
  )
  for (const name of names) expect([name, await s.owners(name)]).toEqual([name, allX])
  s.commit()
  each((name) => s.put(name, lines('p', 1), 'base line'))()
  s.commit()
  for (const name of names) expect([name, await s.owners(name)]).toEqual([name, { ...allX, p1: 'author' }])
})

test('50 a name in the other form of its letters is found', async () => {
  const s = await openStory()
  s.write('caf\u00e9', 'base line\n')
  await s.attempt('a1', () => s.put('caf\u00e9', x(1)))
  expect(await s.owners('cafe\u0301')).toEqual({ x1: 'a1' })
})
