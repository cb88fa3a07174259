import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hookSituation } from '../../src/gate/operations/hook.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { recordMachineEvents } from '../../src/sessions/operations/record-hook-events.ts'
import { process } from '../gate/runs/processes.ts'
import { gatedMission } from '../gate/runs/subject.ts'
import { soakTest } from '../support/amount.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { type Answer, troubles } from '../support/project.ts'
import { brief, type Case, openCase, openStage, type Player } from './driver.ts'

/** A session that is at work in a turn whose first state is recorded. */
async function atWork(stage: Case, id: string, more: Parameters<Case['session']>[1] = {}): Promise<Player> {
  const player = stage.session(id, more)
  player.start()
  player.prompt()
  await stage.drain()
  return player
}

const twelve = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`)
function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

test('a page of sessions that ends with the last one has no next page', async () => {
  const stage = await openCase()
  for (const id of ['one', 'two', 'three']) (await atWork(stage, id)).end()
  await stage.drain()
  const pages = [{ limit: 3 }, { limit: 2 }].map((input) => stage.project.call('sessions', input))
  const [whole, first] = await Promise.all(pages)
  expect(whole).toMatchObject({ total: 3, next_cursor: null })
  expect(first.sessions).toHaveLength(2)
  const rest = await stage.project.call('sessions', { limit: 2, cursor: first.next_cursor })
  expect(rest).toMatchObject({ sessions: [{}], next_cursor: null })
})

describe('what a turn changed', () => {
  test('case 1: added, modified, deleted and renamed files, although no tool of ours was called', async () => {
    const stage = await openCase()
    stage.write('long.txt', text(twelve))
    stage.project.git('add', '-A')
    stage.project.git('commit', '-qm', 'long')
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.edit('src/new.ts', 'export const fresh = 1\n')
    claude.edit('utils.ts', null)
    claude.shell(() => stage.project.git('mv', 'long.txt', 'moved.txt'), { program: 'git' })
    claude.stop()
    claude.end()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(brief(turn)).toEqual([
      'R long.txt>moved.txt probable',
      'M src/auth.ts certain',
      'A src/new.ts certain',
      'D utils.ts certain',
    ])
    expect(await stage.sessions()).toMatchObject([{ status: 'closed', reason: 'exit', turns: 1, files: 4 }])
    expect(troubles(await stage.project.call('doctor'))).toEqual([])
  })

  test('case 2: a turn that only reads is a row without changes', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.stop()
    await stage.drain()
    const [session] = await stage.sessions()
    expect(await stage.project.call('sessions_show', { id: session.session_id })).toMatchObject({
      turns: [],
      hidden: 1,
    })
    expect(brief((await stage.turns('one'))[0])).toEqual([])
  })

  test('cases 3 and 4: an edit is certain, what a shell changes is probable, and in the turn', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.shell(() => stage.write('src/api.ts', 'export const api = 2\n'))
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(brief(turn)).toEqual(['M src/api.ts probable', 'M src/auth.ts certain'])
    expect(turn).toMatchObject({ measurement: 'partial', edits: 1, commands: 1 })
  })

  test('case 5: an edit that is undone in the same turn was reported, and is not found', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.edit('src/auth.ts', 'export const auth = 1\n')
    claude.stop()
    await stage.drain()
    expect(await stage.turns('one')).toMatchObject([{ changes: [], unfound: ['src/auth.ts'] }])
  })
})

describe('who changed it', () => {
  test('case 6: two sessions that edit different files are certain, without a rival', async () => {
    const stage = await openCase()
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    one.edit('src/auth.ts', 'export const auth = 2\n')
    two.edit('src/api.ts', 'export const api = 2\n')
    one.stop()
    await stage.drain()
    two.stop()
    await stage.drain()
    const [own] = await stage.turns('one')
    const [other] = await stage.turns('two')
    expect([brief(own), brief(other)]).toEqual([['M src/auth.ts certain'], ['M src/api.ts certain']])
    expect([own.changes[0].with, other.changes[0].with]).toEqual([undefined, undefined])
    expect([own.measurement, other.measurement]).toEqual(['exact', 'exact'])
  })

  test('case 7: two sessions that edit one file in turns have each their lines, for certain', async () => {
    const stage = await openCase()
    stage.write('shared.txt', text(twelve))
    stage.project.git('add', '-A')
    stage.project.git('commit', '-qm', 'shared')
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    const lines = [...twelve]
    lines[0] = 'one was here'
    one.edit('shared.txt', text(lines))
    lines.push('two a', 'two b', 'two c')
    two.edit('shared.txt', text(lines))
    lines[5] = 'one again'
    one.edit('shared.txt', text(lines))
    one.stop()
    two.stop()
    await stage.drain()
    const [own] = await stage.turns('one')
    const [other] = await stage.turns('two')
    expect(own.changes).toMatchObject([
      { attribution: 'certain', lines: 'own', added_lines: 2, deleted_lines: 2 },
    ])
    expect(other.changes).toMatchObject([
      { attribution: 'certain', lines: 'own', added_lines: 3, deleted_lines: 0 },
    ])
  })

  test('case 8: edits that overlap on one file are contested where nobody can tell them apart', async () => {
    const stage = await openCase()
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    one.beginEdit('src/auth.ts', 'a')
    two.beginEdit('src/auth.ts', 'b')
    stage.write('src/auth.ts', 'export const auth = 2\n// by one\n// by two\n')
    one.endEdit('src/auth.ts', 'a', false)
    two.endEdit('src/auth.ts', 'b', false)
    one.stop()
    two.stop()
    await stage.drain()
    const [own] = await stage.turns('one')
    const [other] = await stage.turns('two')
    expect(own.changes[0]?.attribution).not.toBe('certain')
    expect(other.changes[0]?.attribution).not.toBe('certain')
    expect(own.changes[0]?.with).toHaveLength(1)
  })

  test('case 8: an edit that another one wrote into before it ended is explained on top of that one', async () => {
    const stage = await openCase()
    stage.write('shared.txt', text(twelve))
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    one.beginEdit('shared.txt', 'a')
    two.beginEdit('shared.txt', 'b')
    stage.write('shared.txt', text(['one', ...twelve]))
    one.endEdit('shared.txt', 'a', true)
    const onto = join(stage.spool, 'onto')
    writeFileSync(onto, text(['one', ...twelve]))
    stage.write('shared.txt', text(['one', ...twelve, 'two', 'two']))
    two.endEdit('shared.txt', 'b', true, onto)
    one.stop()
    two.stop()
    await stage.drain()
    const [own] = await stage.turns('one')
    const [other] = await stage.turns('two')
    expect(own.changes).toMatchObject([{ attribution: 'certain', lines: 'own', added_lines: 1 }])
    expect(other.changes).toMatchObject([{ attribution: 'certain', lines: 'own', added_lines: 2 }])
  })

  test('case 9: while one shell runs, an edit of another is certain, and the rest probably the shell’s', async () => {
    const stage = await openCase()
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    two.beginShell('build')
    one.edit('src/auth.ts', 'export const auth = 2\n')
    stage.write('built.txt', 'built\n')
    two.endShell('build')
    one.stop()
    two.stop()
    await stage.drain()
    expect(brief((await stage.turns('one'))[0])).toEqual(['M src/auth.ts certain'])
    expect(brief((await stage.turns('two'))[0])).toEqual(['A built.txt probable'])
  })

  test('case 10: what changes while two shells run is contested for both', async () => {
    const stage = await openCase()
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    one.beginShell('a')
    two.beginShell('b')
    stage.write('built.txt', 'built\n')
    one.endShell('a')
    two.endShell('b')
    one.stop()
    two.stop()
    await stage.drain()
    for (const id of ['one', 'two'])
      expect(brief((await stage.turns(id))[0])).toEqual(['A built.txt contested'])
  })

  test('case 11: a person’s edit is outside, and the agent’s, probably, only while its shell ran', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    stage.write('README.md', '# By a person\n')
    claude.stop()
    await stage.drain()
    stage.write('utils.ts', 'export const utils = 2\n')
    claude.prompt()
    await stage.drain()
    claude.shell(() => stage.write('README.md', '# By a person, while a shell ran\n'))
    claude.stop()
    await stage.drain()
    const [first, second] = await stage.turns('one')
    expect(brief(first)).toEqual(['M src/auth.ts certain'])
    expect(first.outside).toEqual(['README.md'])
    expect(brief(second)).toEqual(['M README.md probable'])
  })

  test('case 12: what a formatter makes of an edit is the agent’s, before our copy and after it', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    const meant = join(stage.spool, 'meant')
    writeFileSync(meant, 'export const auth=2\n')
    claude.edit('src/auth.ts', 'export const auth=2\n', { formatted: 'export const auth = 2\n', meant })
    claude.edit('src/api.ts', 'export const api=2\n')
    stage.write('src/api.ts', 'export const api = 2\n')
    claude.edit('utils.ts', 'export const utils = 2\n')
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(brief(turn)).toEqual(['M src/api.ts probable', 'M src/auth.ts probable', 'M utils.ts certain'])
    expect(turn.changes.map(({ reformatted }: Answer) => reformatted)).toEqual([true, true, undefined])
    expect(turn.outside).toEqual([])
  })

  test('case 12: lines that are formatted between two agents keep their owners', async () => {
    const stage = await openCase()
    stage.write('shared.txt', text(twelve))
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    const lines = [...twelve]
    lines[0] = 'one was here'
    one.edit('shared.txt', text(lines))
    const formatted = lines.map((line) => `  ${line}`)
    stage.write('shared.txt', text(formatted))
    two.edit('shared.txt', text([...formatted, 'two a', 'two b']))
    one.stop()
    two.stop()
    await stage.drain()
    const [own] = await stage.turns('one')
    const [other] = await stage.turns('two')
    expect(own.changes).toMatchObject([{ lines: 'own', added_lines: 1, deleted_lines: 1, reformatted: true }])
    expect(other.changes).toMatchObject([{ lines: 'own', added_lines: 2, deleted_lines: 0 }])
  })
})

describe('subagents', () => {
  test('case 13: a subagent’s work is its own turn’s, and its parent’s report says so', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    const helper = claude.agent('sub-1', 'reviewer')
    helper.agentStart()
    helper.edit('src/api.ts', 'export const api = 2\n')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    helper.agentStop()
    claude.stop()
    await stage.drain()
    const [main, sub] = await stage.turns('one')
    expect(sub).toMatchObject({
      subagent: true,
      agent: 'claude-code, reviewer',
      parent_turn_id: main.turn_id,
    })
    expect(brief(sub)).toEqual(['M src/api.ts certain'])
    expect(main.changes).toMatchObject([
      { path: 'src/api.ts', via: sub.turn_id },
      { path: 'src/auth.ts', attribution: 'certain' },
    ])
  })

  test('case 14: a subagent with a work tree of its own that writes into its parent’s is recorded there', async () => {
    const stage = await openCase()
    const own = join(stage.project.folder, '..', 'own')
    stage.project.git('worktree', 'add', '-q', own)
    const claude = await atWork(stage, 'one')
    const helper = claude.agent('sub-1', 'builder', own)
    helper.edit(join(own, 'src/api.ts'), 'export const api = 3\n')
    helper.edit(join(stage.project.folder, 'src/auth.ts'), 'export const auth = 3\n')
    helper.agentStop()
    claude.stop()
    await stage.drain()
    const turns = await stage.turns('one')
    const places = turns.filter(({ subagent }) => subagent).map((turn) => [turn.folder, ...brief(turn)])
    expect(places).toEqual([
      [own, 'M src/api.ts certain'],
      [stage.project.folder, 'M src/auth.ts certain'],
    ])
    rmSync(own, { recursive: true, force: true })
  })
})

describe('beginnings and ends', () => {
  test('case 15: a turn stays open while its shell runs on, and the next one is not blamed', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.shell(() => undefined, { background: true })
    claude.stop({ background: 1 })
    await stage.drain()
    claude.prompt()
    await stage.drain()
    stage.write('built.txt', 'built\n')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.stop({ background: 0 })
    await stage.drain()
    const [first, second] = await stage.turns('one')
    expect(brief(first)).toContain('A built.txt probable')
    expect(brief(second)).toEqual(['M src/auth.ts certain'])
    expect([first.status, second.status]).toEqual(['ended', 'ended'])
  })

  test('case 16: the next prompt ends a turn that was interrupted, and half an hour of silence a session', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.prompt()
    await stage.drain()
    stage.project.wait(31 * 60 * 1000)
    await stage.drain()
    const turns = await stage.turns('one')
    expect(turns.map(({ status, note }) => [status, note])).toEqual([
      ['ended', 'Interrupted by the next prompt.'],
      ['ended', 'No hook event for half an hour.'],
    ])
    expect(brief(turns[0])).toEqual(['M src/auth.ts certain'])
    expect(await stage.sessions()).toMatchObject([{ status: 'closed', reason: 'idle' }])
  })

  test('case 17: resume and compact go on, clear and fork begin anew, a fork with its parent', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.stop()
    claude.end()
    await stage.drain()
    claude.start('resume')
    claude.prompt()
    claude.start('compact')
    claude.stop()
    await stage.drain()
    expect((await stage.sessions()).length).toBe(1)
    expect((await stage.turns('one')).length).toBe(2)
    claude.start('clear')
    claude.prompt()
    claude.stop()
    await stage.drain()
    const fork = stage.session('two')
    fork.start('fork', 'one')
    await stage.drain()
    const [forked, cleared, first] = await stage.sessions()
    expect(cleared).toMatchObject({ source: 'clear', turns: 1 })
    expect(forked).toMatchObject({ source: 'fork', parent_session_id: cleared.session_id })
    expect(first).toMatchObject({ status: 'closed', reason: 'clear' })
  })
})

describe('beside explicit work', () => {
  test('case 18: an attempt over two turns has its changes once, and the turns say so', async () => {
    const stage = await openCase()
    const { call } = stage.project
    const claude = await atWork(stage, 'one')
    const started = await call('start_task', { name: 'Change auth', goal: 'g', areas: ['src'] })
    claude.own('mcp__waymark__start_task', started.attempt_id)
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.stop()
    await stage.drain()
    claude.prompt()
    await stage.drain()
    claude.edit('src/api.ts', 'export const api = 2\n')
    await stage.drain()
    const done = await call('complete_task', {
      task_id: started.task_id,
      status: 'success',
      outcome: { summary: 'Done' },
    })
    expect(done.measurement).toBe('exact')
    claude.stop()
    await stage.drain()
    const { changes } = await call('changes', { id: started.task_id })
    expect(
      changes.map(({ path, attribution }: { path: string; attribution: string }) => [path, attribution]),
    ).toEqual([
      ['src/api.ts', 'certain'],
      ['src/auth.ts', 'certain'],
    ])
    const [first, second] = await stage.turns('one')
    expect(first.changes).toMatchObject([{ path: 'src/auth.ts', via: started.attempt_id }])
    expect(second.changes).toMatchObject([{ path: 'src/api.ts', via: started.attempt_id }])
    expect(first.attempts).toEqual([{ attempt_id: started.attempt_id, link: 'answer' }])
  })

  test.each(['call', 'environment'] as const)(
    'case 18: an attempt is linked by what its client says (%s)',
    async (link) => {
      const stage = await openCase()
      const claude = await atWork(stage, 'one', { client: 'codex' })
      const start = catalog.find(({ name }) => name === 'start_task')
      if (!start) throw new Error('start_task is gone')
      const caller = { session: 'one', link }
      const input = { name: 'Change auth', goal: 'g', areas: ['src'] }
      const started: Answer = await invoke(start, { ...stage.project.context, caller }, input)
      claude.edit('src/auth.ts', 'export const auth = 2\n')
      claude.stop()
      await stage.drain()
      const [turn] = await stage.turns('one')
      expect(turn.changes).toMatchObject([{ path: 'src/auth.ts', via: started.attempt_id }])
    },
  )

  test('an attempt is as certain beside a captured turn of others as without capture, but for what they reported', async () => {
    const stage = await openCase()
    const { call } = stage.project
    const cursor = await atWork(stage, 'other', { client: 'cursor' })
    const started = await call('start_task', { name: 'Change auth', goal: 'g', areas: ['src'] })
    stage.write('src/auth.ts', 'export const auth = 2\n')
    cursor.edit('README.md', '# Theirs\n')
    cursor.stop()
    await stage.drain()
    const done = await call('complete_task', {
      task_id: started.task_id,
      status: 'success',
      outcome: { summary: 'Done' },
    })
    expect(done.files_changed.modified).toEqual(['src/auth.ts'])
    expect(done).toMatchObject({ measurement: 'exact', verification: { scope_match: true } })
    expect(brief((await stage.turns('other'))[0])).toEqual(['M README.md certain'])
  })

  test('work of an attempt that its hooks told nothing of stays listed and judged, and is said to be unseen', async () => {
    const stage = await openCase()
    const { call } = stage.project
    const claude = await atWork(stage, 'one')
    const started = await call('start_task', { name: 'Change auth', goal: 'g', areas: ['src'] })
    claude.own('mcp__waymark__start_task', started.attempt_id)
    stage.write('utils.ts', 'export const hidden = 1\n')
    await stage.drain()
    const done = await call('complete_task', {
      task_id: started.task_id,
      status: 'success',
      outcome: { summary: 'Done' },
    })
    expect(done).toMatchObject({
      measurement: 'partial',
      verification: { scope_match: false, unexpected_files: ['utils.ts'] },
    })
    const { changes } = await call('changes', { id: started.task_id })
    expect(changes).toMatchObject([{ path: 'utils.ts', attribution: 'probable', unseen: true, scope: 'out' }])
  })

  test('case 20: an open captured turn holds up nothing and warns of nothing', async () => {
    const stage = await openCase()
    const { call } = stage.project
    await atWork(stage, 'other', { client: 'cursor' })
    const started = await call('start_task', { name: 'Change auth', goal: 'g', areas: ['src'] })
    expect(JSON.stringify(started.warnings ?? [])).not.toMatch(/another attempt|cursor/i)
    expect((await call('inbox')).total).toBe(0)
    expect((await call('list_missions')).missions).toEqual([])
    expect((await call('status')).running.length).toBe(1)
    expect((await call('board')).columns.active.length).toBe(1)
  })
})

test('case 20: hooks and guards decide beside an open captured turn as they do without one', async () => {
  const subject = await gatedMission(
    process('scoped', { guards: '  right: { type: changes, condition: in_scope }', guard: 'right' }),
    'scoped',
  )
  const { project, run, start } = subject
  const { store, witness, folder } = project.context
  const situation = () =>
    store.view((reads) => hookSituation(reads, { top: folder, packages: (place) => witness.packages(place) }))
  const stage = openStage(project.context)
  const cursor = stage.session('other', { client: 'cursor' })
  const missing = async () => (await run.refused('go')).details?.['missing_guards']
  const [before, refused] = [await situation(), await missing()]
  cursor.start()
  cursor.prompt()
  await stage.drain()
  cursor.edit('utils.ts', 'export const utils = 2\n')
  await stage.drain()
  expect([await situation(), await missing()]).toEqual([before, refused])
  expect(refused).toEqual(['right: the changes could not be measured'])
  await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
})

describe('late and twice', () => {
  test('case 22: three turns that nobody drained are all there, and say that their first state is late', async () => {
    const stage = await openCase()
    const claude = stage.session('one')
    claude.start()
    for (const [at, path] of ['src/auth.ts', 'src/api.ts', 'utils.ts'].entries()) {
      claude.prompt()
      claude.edit(path, `export const changed = ${at}\n`)
      claude.stop()
    }
    await stage.drain()
    const turns = await stage.turns('one')
    expect(turns.map(brief)).toEqual([
      ['M src/auth.ts certain'],
      ['M src/api.ts certain'],
      ['M utils.ts certain'],
    ])
    expect(turns.map(({ baseline, measurement }) => [baseline, measurement])).toEqual([
      ['late', 'partial'],
      ['late', 'partial'],
      ['late', 'partial'],
    ])
  })

  test('case 23: a file that was edited before the first state was recorded is exact by its copy', async () => {
    const stage = await openCase()
    stage.write('src/auth.ts', text(twelve))
    const claude = stage.session('one')
    claude.start()
    claude.prompt()
    claude.edit('src/auth.ts', text([...twelve, 'thirteen']))
    await stage.drain()
    claude.edit('src/api.ts', 'export const api = 2\n')
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(turn).toMatchObject({ baseline: 'late', measurement: 'partial' })
    expect(turn.changes).toMatchObject([
      { path: 'src/api.ts', attribution: 'certain' },
      { path: 'src/auth.ts', attribution: 'certain', added_lines: 1, deleted_lines: 0 },
    ])
    const { diff } = await stage.project.call('sessions_diff', { id: turn.turn_id, path: 'src/auth.ts' })
    expect(diff).toContain('+thirteen')
  })

  test('the difference of a turn shows what others changed meanwhile to nobody who names it', async () => {
    const stage = await openCase()
    const claude = stage.session('one')
    claude.start()
    claude.prompt()
    await stage.drain()
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    stage.write('notes.txt', 'of a person\n')
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(turn).toMatchObject({ changes: [{ path: 'src/auth.ts' }], outside: ['notes.txt'] })
    const named = (path: string) => stage.project.call('sessions_diff', { id: turn.turn_id, path })
    expect((await named('src/auth.ts')).diff).toContain('+export const auth = 2')
    await expect(named('notes.txt')).rejects.toThrow(`is no file that turn ${turn.turn_id} changed`)
  })

  test('the same moments again are recorded once, wherever a batch ends', async () => {
    const stage = await openCase()
    const claude = stage.session('one')
    claude.start()
    claude.prompt()
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.stop()
    const told = stage.told()
    for (let at = 1; at <= told.length; at += 1) {
      const recorded = await recordMachineEvents(stage.project.context, told.slice(0, at))
      expect(recorded).toMatchObject({ recorded: 1, repeated: at - 1 })
    }
    expect(await stage.drain()).toMatchObject({ recorded: 0, repeated: told.length })
    expect(await stage.sessions()).toMatchObject([{ turns: 1, events: told.length }])
    expect(troubles(await stage.project.call('doctor'))).toEqual([])
  })
})

describe('git inside and between turns', () => {
  /** A turn that edited a file, beside a branch that somebody else committed to. */
  async function editedBesideUpstream() {
    const stage = await openCase()
    const { git } = stage.project
    git('checkout', '-q', '-b', 'upstream')
    stage.write('upstream.txt', 'theirs\n')
    git('add', '-A')
    git('commit', '-qm', 'theirs')
    git('checkout', '-q', '-')
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    return { stage, git, claude }
  }

  test('case 27: a commit in a turn changes nothing of it, and what a pull brings in is imported', async () => {
    const { stage, git, claude } = await editedBesideUpstream()
    claude.shell(() => {
      git('commit', '-qam', 'own')
      git('merge', '-q', '--no-edit', 'upstream')
    })
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(turn.changes).toMatchObject([
      { path: 'src/auth.ts', attribution: 'certain', origin: 'task' },
      { path: 'upstream.txt', origin: 'imported' },
    ])
    expect(turn.commits).toMatchObject([{ subject: 'own', whose: 'own' }])
  })

  test('case 27: what a turn amends is its own, and what a rebase brings in is imported', async () => {
    const { stage, git, claude } = await editedBesideUpstream()
    claude.shell(() => {
      git('commit', '-qam', 'own')
      stage.write('src/api.ts', 'export const api = 2\n')
      git('commit', '-qa', '--amend', '-m', 'own, and better')
      git('rebase', '-q', 'upstream')
    })
    claude.stop()
    await stage.drain()
    const [turn] = await stage.turns('one')
    expect(turn.changes).toMatchObject([
      { path: 'src/api.ts', attribution: 'probable', origin: 'task' },
      { path: 'src/auth.ts', attribution: 'certain', origin: 'task' },
      { path: 'upstream.txt', origin: 'imported' },
    ])
    expect(turn.commits).toMatchObject([
      { subject: 'own', whose: 'own' },
      { subject: 'own, and better', whose: 'own' },
    ])
  })

  test('case 28: what is put back between turns is nobody’s', async () => {
    const stage = await openCase()
    const claude = await atWork(stage, 'one')
    claude.edit('src/auth.ts', 'export const auth = 2\n')
    claude.stop()
    await stage.drain()
    stage.project.git('checkout', '--', 'src/auth.ts')
    claude.prompt()
    await stage.drain()
    claude.edit('src/api.ts', 'export const api = 2\n')
    claude.stop()
    await stage.drain()
    const [, second] = await stage.turns('one')
    expect(brief(second)).toEqual(['M src/api.ts certain'])
    expect(second.outside).toEqual([])
  })
})

test('tokens that a client reports are told of the turn and in the statistics, a subagent’s apart', async () => {
  const stage = await openCase()
  const claude = await atWork(stage, 'one')
  const helper = claude.agent('sub-1', 'reviewer')
  helper.edit('src/api.ts', 'export const api = 2\n')
  helper.tell({ kind: 'agent_stopped', usage: { input: 30, output: 3, cached: null } })
  const usage = { input: 100, output: 10, cached: 5 }
  claude.tell({ kind: 'stopped', error: null, interrupted: false, background: 0, usage })
  await stage.drain()
  const [main, sub] = await stage.turns('one')
  expect([main.tokens, sub.tokens.input]).toEqual([usage, 30])
  const { all, groups } = await stage.project.call('stats', { group_by: 'agent' })
  expect(all.turn_tokens).toEqual({
    basis: 'claimed',
    ended_turns: 2,
    input: { n: 2, sum: 130 },
    output: { n: 2, sum: 13 },
  })
  expect(groups).toMatchObject([{ key: 'claude-code', tokens: { ended_attempts: 0 } }])
})

test('doctor names a session in which files changed, and of which no edit and no command was told', async () => {
  const stage = await openCase()
  const claude = await atWork(stage, 'silent', { silent: true })
  claude.edit('src/auth.ts', 'export const auth = 2\n')
  claude.stop()
  const told = await atWork(stage, 'told')
  told.edit('src/api.ts', 'export const api = 2\n')
  told.stop()
  await stage.drain()
  const silent = (await stage.sessions()).find(({ client_session: id }) => id === 'silent')
  const { checks } = await stage.project.call('doctor')
  const [check] = checks.filter(({ check: name }: Answer) => name === 'sessions')
  expect(check).toMatchObject({ ok: true })
  expect(check.finding).toMatch(
    new RegExp(
      `^1 session reported no edit and no command, .* in its turns: ${silent.session_id} of claude-code\\. `,
    ),
  )
})

test('what was said in a session is forgotten on request, and what was measured stays', async () => {
  const stage = await openCase()
  const claude = stage.session('one')
  claude.start()
  claude.prompt({ text: 'make it blue' })
  claude.edit('src/auth.ts', 'export const auth = 2\n')
  claude.stop()
  await stage.drain()
  const [session] = await stage.sessions()
  expect((await stage.turns('one'))[0].prompt).toBe('make it blue')
  const exported = JSON.stringify(await stage.project.call('export'))
  expect(exported).not.toContain('make it blue')
  const person = { name: 'Tess', kind: 'person', role: null, channel: 'cli' } as const
  await stage.project.call('sessions_forget', { id: session.session_id }, { actor: person })
  const [turn] = await stage.turns('one')
  expect(turn.prompt).toBeNull()
  expect(brief(turn)).toEqual(['M src/auth.ts certain'])
})

soakTest.skipIf(isPostgresLeftOut)(
  'a session is recorded and measured the same where a server keeps the record',
  async () => {
    const stage = await openCase({ postgres: await sharedPostgres() })
    const one = await atWork(stage, 'one')
    const two = await atWork(stage, 'two')
    one.edit('src/auth.ts', 'export const auth = 2\n')
    two.shell(() => stage.write('built.txt', 'built\n'))
    one.stop()
    two.stop()
    two.end()
    await stage.drain()
    expect(brief((await stage.turns('one'))[0])).toEqual(['M src/auth.ts certain'])
    expect(brief((await stage.turns('two'))[0])).toEqual(['A built.txt probable'])
    stage.project.wait(31 * 60 * 1000)
    await stage.drain()
    expect((await stage.sessions()).map(({ status }) => status)).toEqual(['closed', 'closed'])
    expect(troubles(await stage.project.call('doctor'))).toEqual([])
  },
)
