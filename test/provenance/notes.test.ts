import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWitness } from '../../src/git/witness.ts'
import { catalog } from '../../src/operations/catalog.ts'
import { invoke } from '../../src/operations/invoke.ts'
import { git as runGit } from '../support/git.ts'
import { type Answer, type ProjectOptions, person, troubles } from '../support/project.ts'
import { lines, openStory, type Story } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const asPerson = { actor: person }

/** An attempt's lines in a commit; the project's own state folder stays out of it. */
async function committed(options: ProjectOptions = {}): Promise<Story> {
  const s = await openStory(options)
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit('lines of x')
  return s
}

const noteOf = (s: Story, ref: string, commit = 'HEAD') => s.git('notes', '--ref', ref, 'show', commit)
const foreignNote = [
  'f',
  '  s_aaaaaaaaaaaaaa::t_bbbbbbbbbbbbbb 5-6',
  '---',
  JSON.stringify({
    schema_version: 'authorship/3.0.0',
    git_ai_version: '1.2.3',
    base_commit_sha: '',
    prompts: {},
    sessions: {
      s_aaaaaaaaaaaaaa: {
        agent_id: { tool: 'codex', id: 'thread-7', model: 'gpt-5.2' },
        human_author: 'Ada',
      },
    },
    humans: {},
  }),
  '',
].join('\n')

function addNote(s: Story, note: string, ref = 'ai', commit = 'HEAD'): void {
  const file = join(s.folder, '..', 'note')
  writeFileSync(file, note)
  s.git('notes', '--ref', ref, 'add', '-f', '-F', file, commit)
}

const owners = async (s: Story, file = 'f') =>
  (await s.call('blame', { file })).ranges.map((range: Answer) => [
    range.start,
    range.end,
    range.kind,
    range.certainty,
    range.agent,
  ])

test('a note for each commit with a known line, by the person, and the repository is sound', async () => {
  const s = await committed()
  s.put('f', lines('p', 1))
  s.commit('a person')
  const before = s.git('for-each-ref', '--format=%(refname) %(objectname)')
  const answer = await s.call('provenance_write', { range: 'HEAD~2..HEAD' }, asPerson)
  const commit = s.git('rev-parse', 'HEAD~1').trim()
  expect(answer).toMatchObject({ ref: 'refs/notes/ai', commits: 2, written: [commit], unchanged: 0 })
  const [{ note }] = (await s.call('provenance_export', { range: commit, format: 'git-ai' })).notes
  expect(noteOf(s, 'ai', commit)).toBe(note)
  expect(s.git('log', '-1', '--format=%an <%ae> %cn <%ce> %s', 'refs/notes/ai')).toBe(
    s.git('log', '-1', '--format=%cn <%ce> %cn <%ce> Whose lines are whose, for 1 commit'),
  )
  expect(s.git('fsck', '--strict')).not.toMatch(/error|missing|dangling/)
  const refs = s.git(
    'for-each-ref',
    '--format=%(refname) %(objectname)',
    'refs/heads',
    'refs/tags',
    'refs/remotes',
  )
  expect(refs.trim()).toBe(before.trim())
  // Written again nothing moves; after the commit was written anew its new name gets a note, and the old one stays.
  const tip = s.git('rev-parse', 'refs/notes/ai')
  const again = await s.call('provenance_write', { range: 'HEAD~2..HEAD' }, asPerson)
  expect(again).toMatchObject({ written: [], unchanged: 1 })
  expect(s.git('rev-parse', 'refs/notes/ai')).toBe(tip)
  s.git('reset', '-q', '--hard', 'HEAD~1')
  s.git('commit', '-q', '--amend', '-m', 'other words')
  expect((await s.call('provenance_write', {}, asPerson)).written).toEqual([
    s.git('rev-parse', 'HEAD').trim(),
  ])
  expect(noteOf(s, 'ai', commit)).toBe(note)
})

test('notes of somebody else stay as they are, byte for byte, unless ours may be added', async () => {
  const s = await committed()
  addNote(s, foreignNote)
  const other = s.git('rev-parse', 'HEAD~1').trim()
  addNote(s, 'just words\r\n\n of a person', 'ai', other)
  const kept = [noteOf(s, 'ai'), noteOf(s, 'ai', other)]
  const tip = s.git('rev-parse', 'refs/notes/ai')
  const refused = await s.refusal('provenance_write', {}, asPerson)
  expect(refused).toContain('refs/notes/ai has a note of somebody else')
  expect(refused).toContain('With --merge')
  expect(s.git('rev-parse', 'refs/notes/ai')).toBe(tip)
  await s.call('provenance_write', { merge: true }, asPerson)
  const merged = noteOf(s, 'ai')
  const [attested = '', said = ''] = merged.split('\n---\n')
  expect(attested).toMatch(
    /^f\n {2}s_aaaaaaaaaaaaaa::t_bbbbbbbbbbbbbb 5-6\n {2}s_[0-9a-f]{14}::t_[0-9a-f]{14} 7$/,
  )
  const { sessions, git_ai_version } = JSON.parse(said)
  expect(Object.keys(sessions)).toHaveLength(2)
  expect(sessions.s_aaaaaaaaaaaaaa).toEqual({
    agent_id: { tool: 'codex', id: 'thread-7', model: 'gpt-5.2' },
    human_author: 'Ada',
  })
  expect(git_ai_version).toBe('1.2.3')
  expect(noteOf(s, 'ai', other)).toBe(kept[1])
  // What is merged already needs nothing, with the word or without.
  for (const input of [{ merge: true }, {}]) {
    expect((await s.call('provenance_write', input, asPerson)).unchanged).toBe(1)
  }
  expect(noteOf(s, 'ai')).toBe(merged)
  // A record of Agent Trace goes beside it.
  addNote(s, `${JSON.stringify({ version: '0.1.0', tool: { name: 'cursor' }, files: [] })}\n`, 'waymark')
  expect(await s.refusal('provenance_write', { format: 'agent-trace' }, asPerson)).toContain('somebody else')
  await s.call('provenance_write', { format: 'agent-trace', merge: true }, asPerson)
  const records = noteOf(s, 'waymark')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.map(({ tool }) => tool.name)).toEqual(['cursor', 'waymark'])
})

test('a note that cannot be read is named, and nothing is written', async () => {
  const s = await committed()
  addNote(s, 'just words')
  expect(await s.refusal('provenance_write', { merge: true }, asPerson)).toContain('nothing can be added to')
  expect(noteOf(s, 'ai')).toBe('just words\n')
})

test('8 writers at once lose no note', async () => {
  const s = await openStory()
  addNote(s, 'a note of before', 'ai')
  for (let one = 1; one <= 8; one += 1) {
    await s.attempt(`a${one}`, () => s.put('f', lines('x', one)))
    s.commit()
  }
  const commits = s.git('rev-list', '--max-count=8', 'HEAD').trim().split('\n')
  await Promise.all(commits.map((range) => s.call('provenance_write', { range }, asPerson)))
  const noted = s.git('notes', '--ref', 'ai', 'list').trim().split('\n')
  expect(noted).toHaveLength(9)
  for (const commit of commits) expect(noteOf(s, 'ai', commit)).toContain(commit)
  expect(s.git('rev-list', '--count', 'refs/notes/ai').trim()).toBe('9')
  expect(s.git('fsck', '--strict')).not.toMatch(/error|missing/)
})

test('what a repository configures is not executed, and who nobody is writes nothing', async () => {
  const s = await committed()
  const mark = join(s.folder, '..', 'ran')
  const program = join(s.folder, '..', 'program')
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`)
  chmodSync(program, 0o755)
  mkdirSync(join(s.folder, '.git', 'hooks'), { recursive: true })
  for (const hook of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-rewrite']) {
    writeFileSync(join(s.folder, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`)
    chmodSync(join(s.folder, '.git', 'hooks', hook), 0o755)
  }
  for (const [key, value] of [
    ['core.fsmonitor', program],
    ['alias.fast-import', `!${program}`],
    ['alias.update-ref', `!${program}`],
    ['core.editor', program],
    ['gpg.program', program],
    ['commit.gpgsign', 'true'],
    ['core.sshCommand', program],
  ] as const) {
    s.git('config', key, value)
  }
  await s.call('provenance_write', {}, asPerson)
  expect(existsSync(mark)).toBe(false)
  s.git('update-ref', '-d', 'refs/notes/ai')
  const { GIT_COMMITTER_NAME: _, GIT_COMMITTER_EMAIL: __, ...environment } = process.env
  s.git('config', 'user.name', '')
  s.git('config', 'user.email', '')
  const { stateFolder } = s.context.program
  const witness = createWitness({ stateFolder, clock: s.context.clock, environment })
  const write = catalog.find(({ name }) => name === 'provenance_write')
  if (!write) throw new Error('no write')
  await expect(invoke(write, { ...s.context, actor: person, witness }, {})).rejects.toThrow(
    'does not know who writes',
  )
  expect(s.git('for-each-ref', 'refs/notes')).toBe('')
})

test('agents do not write notes; a commit of which nothing is known gets none', async () => {
  const s = await openStory()
  expect(await s.refusal('provenance_write', {})).toContain('person')
  const { written, warnings } = await s.call('provenance_write', {}, asPerson)
  expect({ written, warnings }).toEqual({
    written: [],
    warnings: ['Of no line of 1 commit it is known which agent made it: nothing was written.'],
  })
  expect(await s.refusal('provenance_write', { range: 'nowhere' }, asPerson)).toContain('names no commit')
})

test('from an edge the note is written where the repository is', async () => {
  const s = await committed({ isOnEdge: true })
  const { written } = await s.call('provenance_write', {}, asPerson)
  expect(written).toHaveLength(1)
  expect(noteOf(s, 'ai')).toContain('authorship/3.0.0')
})

/** The same program in another clone; the record is the one that is given. */
async function blameIn(s: Story, folder: string, file = 'f'): Promise<Answer> {
  const blame = catalog.find(({ name }) => name === 'blame')
  if (!blame) throw new Error('no blame')
  const witness = createWitness({ stateFolder: s.context.program.stateFolder, clock: s.context.clock })
  return invoke(blame, { ...s.context, folder, witness }, { file })
}

test('47 a clone without the record: not recorded; with the notes: claimed; with the server: the attempt', async () => {
  const s = await committed()
  const other = await openStory()
  const clone = join(other.folder, '..', 'clone')
  runGit(s.folder, 'clone', '-q', s.folder, clone)
  const last = async (of: Story) => (await blameIn(of, clone)).ranges.at(-1)
  expect(await last(other)).toMatchObject({ kind: 'before', agent: null })
  const told = { start: 5, end: 7, kind: 'agent', certainty: 'claimed', agent: 'a1', how: 'claimed' }
  for (const [format, ref] of [
    ['agent-trace', 'waymark'],
    ['git-ai', 'ai'],
  ] as const) {
    await s.call('provenance_write', { format }, asPerson)
    runGit(clone, 'fetch', '-q', 'origin', `+refs/notes/${ref}:refs/notes/${ref}`)
    const found = await last(other)
    expect(found).toMatchObject({ ...told, agent: format === 'git-ai' ? 'a1' : 'waymark' })
    expect(found.task).toMatch(/^t-/)
    expect(found.claims).toMatchObject([{ by: 'agent', source: `refs/notes/${ref}` }])
    runGit(clone, 'update-ref', '-d', `refs/notes/${ref}`)
    expect(await last(other)).toMatchObject({ kind: 'before' })
  }
  // Where the record is, it is known by whoever asks, and from whatever clone.
  expect(await last(s)).toMatchObject({ kind: 'agent', certainty: 'exact', agent: 'a1' })
})

test('claims of others stand for what was not recorded; what was recorded stays first', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.put('f', lines('p', 1, 2))
  s.commit('both')
  // 5 and 6 are a1's, 7 and 8 nobody's.
  addNote(s, foreignNote.replace(' 5-6', ' 6-7'))
  expect(await owners(s)).toEqual([
    [1, 4, 'before', 'before the record', null],
    [5, 5, 'agent', 'matched', 'a1'],
    [6, 6, 'agent', 'matched', 'a1'],
    [7, 7, 'agent', 'claimed', 'codex'],
    [8, 8, 'author', 'not recorded', null],
  ])
  const { ranges } = await s.call('blame', { file: 'f' })
  const claim = {
    by: 'agent',
    name: 'codex',
    model: 'gpt-5.2',
    source: 'refs/notes/ai',
    conversation: 'thread-7',
  }
  expect(ranges.map(({ claims }: Answer) => claims)).toEqual([
    undefined,
    undefined,
    [claim],
    [claim],
    undefined,
  ])
  expect((await s.call('why', { place: 'f:7' })).says).toBe(
    'Made by codex with gpt-5.2, as refs/notes/ai claims; nothing was recorded here.',
  )
  const { kinds, share } = await s.call('provenance_stats', { path: 'f' })
  expect({ agent: kinds.agent, claimed: kinds.claimed, share }).toEqual({ agent: 2, claimed: 1, share: 1 })
  // Nor are they told on as ours.
  const [{ note }] = (await s.call('provenance_export', { format: 'git-ai' })).notes
  expect(note).toContain(' 5-6\n')
  expect(note).not.toContain('codex')
})

test('traces of the work tree are read, and what is none is passed over', async () => {
  const s = await openStory()
  s.put('f', x(1, 2))
  s.commit('nobody')
  const trace = (revision: string) => ({
    version: '0.1.0',
    id: 'one',
    timestamp: '2026-01-01T00:00:00Z',
    vcs: { type: 'git', revision },
    tool: { name: 'cursor' },
    files: [
      {
        path: 'f',
        conversations: [
          {
            url: 'https://example.com/c/1',
            contributor: { type: 'ai', model_id: 'anthropic/claude-opus-4-5' },
            ranges: [
              { start_line: 5, end_line: 5 },
              { start_line: 6, end_line: 6, contributor: { type: 'human' } },
            ],
          },
        ],
      },
    ],
  })
  const head = s.git('rev-parse', 'HEAD').trim()
  s.write('.agent-trace/traces.jsonl', `no json\n${JSON.stringify(trace(head))}\n{"version":1}\n`)
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.slice(1)).toMatchObject([
    { start: 5, end: 5, certainty: 'claimed', agent: 'cursor', model: 'anthropic/claude-opus-4-5' },
    { start: 6, end: 6, kind: 'before', claims: [{ by: 'person', source: '.agent-trace/traces.jsonl' }] },
  ])
  s.write('.agent-trace/traces.jsonl', JSON.stringify(trace('f'.repeat(40))))
  expect((await s.call('blame', { file: 'f' })).ranges).toHaveLength(2)
})

for (const engine of ['SQLite', 'an edge'] as const) {
  test(`what was exported is imported as claims, and gives the same lines, on ${engine}`, async () => {
    const s = await committed()
    const other = await openStory({ isOnEdge: engine === 'an edge' })
    runGit(other.folder, 'fetch', '-q', s.folder)
    runGit(other.folder, 'reset', '-q', '--hard', 'FETCH_HEAD')
    for (const format of ['agent-trace', 'git-ai'] as const) {
      const { records, notes } = await s.call('provenance_export', { format })
      const printed =
        format === 'git-ai'
          ? notes.map(({ commit, note }: Answer) => `commit ${commit}\n${note}`).join('\n')
          : records.map((record: Answer) => JSON.stringify(record)).join('\n')
      other.write('told', printed)
      const answer = await other.call('provenance_import', { from: 'told' }, asPerson)
      expect(answer).toMatchObject({ sources: ['told'], imported: 1, known: 0, commits: 1, warnings: [] })
      expect(await other.call('provenance_import', { from: 'told' }, asPerson)).toMatchObject({
        imported: 0,
        known: 1,
      })
    }
    other.remove('told')
    const found = await other.call('blame', { file: 'f' })
    expect(found.ranges.at(-1)).toMatchObject({
      start: 5,
      end: 7,
      certainty: 'claimed',
      claims: [{ source: 'told' }, {}],
    })
    expect(troubles(await other.call('doctor'))).toEqual([])
  })
}

test('all notes of a repository are imported; what says nothing is refused', async () => {
  const s = await openStory()
  s.put('f', x(1, 2))
  s.commit('nobody')
  expect(await s.refusal('provenance_import', { from: 'notes' }, asPerson)).toContain('There are no notes')
  addNote(s, foreignNote)
  expect(await s.call('provenance_import', { from: 'notes' }, asPerson)).toMatchObject({
    imported: 1,
    commits: 1,
  })
  s.git('update-ref', '-d', 'refs/notes/ai')
  expect((await owners(s)).at(-1)).toEqual([5, 6, 'agent', 'claimed', 'codex'])
  s.write('odd', 'what is this')
  expect(await s.refusal('provenance_import', { from: 'odd' }, asPerson)).toContain('Nothing in odd says')
  expect(await s.refusal('provenance_import', { from: 'gone' }, asPerson)).toContain('There is no file gone')
  expect(await s.refusal('provenance_import', { from: '../note' }, asPerson)).toContain(
    'not in the work tree',
  )
})

test('a disagreement is told where lines are known for certain', async () => {
  const s = await committed()
  addNote(s, foreignNote.replace('codex', 'a1'))
  expect((await owners(s)).at(-1)).toEqual([5, 7, 'agent', 'exact', 'a1'])
  addNote(s, foreignNote)
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.at(-2)).toMatchObject({ start: 5, end: 6, agent: 'a1', claims: [{ name: 'codex' }] })
  expect((await s.call('why', { place: 'f:5' })).range.claims).toHaveLength(1)
})
