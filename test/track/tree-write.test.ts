import { describe, expect, test } from 'vitest'
import type { SnapshotId } from '../../src/kernel/id.ts'
import { treeWritten } from '../../src/track/operations/tree-write.ts'
import { happened } from '../store/events.ts'
import { soakTest } from '../support/amount.ts'
import { recordGuardedCommand } from '../support/guarded-command.ts'
import { openProject, person } from '../support/project.ts'

const day = 24 * 60 * 60 * 1000

test('the snapshot before files were written is recorded, found by its id, and kept for 30 days', async () => {
  const project = await openProject()
  const { context, folder } = project
  const { store, witness, clock, ids } = context
  const { ref: before } = await witness.snapshot({ folder, name: ids.next('attempt') })
  const event = treeWritten(
    {
      cause: 'restore',
      subject: 't-1',
      taskId: null,
      missionId: null,
      files: ['utils.ts'],
      before,
      after: null,
    },
    { context, setting: { at: clock.now(), ids } },
  )
  await happened(store, clock.now(), event)
  const { write } = event
  expect(write.id).toMatch(/^sn-/)
  await store.view(async ({ treeWrites, tasks }) => {
    expect(await treeWrites.byId(write.id)).toEqual(write)
    expect(await treeWrites.byId('sn-none' as SnapshotId)).toBeNull()
    expect(await treeWrites.since(write.writtenAt, before.top)).toEqual([write])
    expect(await treeWrites.since(write.writtenAt + 1)).toEqual([])
    expect(await treeWrites.since(0, '/elsewhere')).toEqual([])
    expect(await tasks.keptSnapshots(clock.now() - 30 * day)).toContainEqual(before)
    expect(await tasks.keptSnapshots(write.writtenAt + 1)).not.toContainEqual(before)
  })
  const { events } = await project.call('log')
  expect(events.at(-1)).toMatchObject({ kind: 'tree.written' })
})

describe('while another task is open', () => {
  const outcome = { status: 'success', outcome: { summary: 'Did it' } }

  async function besideAnother() {
    const project = await openProject()
    const { call, write, wait, git } = project
    const { task_id: done } = await call('start_task', { name: 'Add the tax', goal: 'g' })
    write('src/tax.ts', 'export const tax = 0.2\n')
    wait(1000)
    await call('complete_task', { task_id: done, ...outcome })
    git('clean', '-fdq')
    const { task_id: open } = await call('start_task', { name: 'Show the tax', goal: 'g', areas: ['web'] })
    wait(1000)
    const restored = await call('restore', { id: done, yes: true }, { actor: person })
    wait(1000)
    return {
      ...project,
      done,
      open,
      restored,
      complete: () => call('complete_task', { task_id: open, ...outcome }),
      tasksOf: async (file: string) => {
        const { ranges } = await call('blame', { file })
        return ranges.map(({ task }: { task: string | null }) => task)
      },
    }
  }

  test('what a restore brings back is not its work, and keeps the authors of its lines', async () => {
    const { done, complete, tasksOf, write } = await besideAnother()
    write('web/view.ts', 'export const view = 1\n')
    const { details, measurement, verification } = await complete()
    expect(details).toMatchObject([{ path: 'web/view.ts', attribution: 'certain' }])
    expect(measurement).toBe('exact')
    expect(verification).toEqual({
      scope_match: true,
      unexpected_files: [],
      warnings: ["Written by a person's waymark restore or undo, not by you: src/tax.ts."],
    })
    expect(await tasksOf('src/tax.ts')).toEqual([done])
  })

  test('what its agent adds to a restored file is its own, and the rest is not', async () => {
    const { done, open, complete, tasksOf, write } = await besideAnother()
    write('src/tax.ts', 'export const tax = 0.2\nexport const rate = tax\n')
    const { details } = await complete()
    expect(details).toMatchObject([{ path: 'src/tax.ts', attribution: 'certain', added_lines: 1 }])
    expect(await tasksOf('src/tax.ts')).toEqual([done, open])
  })

  test('what comes back of the lost files of two ended tasks is not its work', async () => {
    const { call, git, wait, write } = await openProject()
    const start = async (name: string, areas: readonly string[]) => {
      const { task_id } = await call('start_task', { name, goal: 'g', areas })
      wait(1000)
      return task_id
    }
    const done: string[] = []
    for (const name of ['rate', 'tax']) {
      done.push(await start(name, [`src/${name}.ts`]))
      write(`src/${name}.ts`, `export const ${name} = 0.2\n`)
      await call('complete_task', { task_id: done.at(-1), ...outcome })
      wait(1000)
    }
    git('clean', '-fdq')
    const open = await start('Describe', ['README.md'])
    const [loss] = (await call('inbox', { kind: 'loss' })).items
    expect(loss).toMatchObject({ task_id: null, paths: ['src/rate.ts', 'src/tax.ts'] })
    await call('restore', { id: loss.item_id, yes: true }, { actor: person })
    wait(1000)
    write('README.md', 'new\n')
    const { details, verification } = await call('complete_task', { task_id: open, ...outcome })
    expect(details).toMatchObject([{ path: 'README.md', attribution: 'certain' }])
    expect(verification).toMatchObject({ scope_match: true, unexpected_files: [] })
    for (const [at, name] of ['rate', 'tax'].entries()) {
      const { ranges } = await call('blame', { file: `src/${name}.ts` })
      expect(ranges).toMatchObject([{ task: done[at] }])
    }
  })

  test('what an undo takes back is not its work', async () => {
    const { call, done, complete, wait } = await besideAnother()
    await complete()
    const { task_id: next } = await call('start_task', { name: 'Format the tax', goal: 'g' })
    wait(1000)
    await call('undo', { id: done, yes: true }, { actor: person })
    wait(1000)
    const { details, verification } = await call('complete_task', { task_id: next, ...outcome })
    expect(details).toEqual([])
    expect(verification.warnings).toEqual([
      expect.stringMatching(/^Written by a person's .*: src\/tax\.ts\.$/),
    ])
  })

  test('its own work that comes back stays its own', async () => {
    const { call, open, complete, git, tasksOf, wait, write, context, folder } = await besideAnother()
    write('web/view.ts', 'export const view = 1\n')
    await recordGuardedCommand({ context, folder }, 'git clean -fd')
    git('clean', '-fdq', 'web')
    wait(1000)
    await call('restore', { id: open, yes: true, paths: ['web'] }, { actor: person })
    wait(1000)
    const { details } = await complete()
    expect(details).toMatchObject([{ path: 'web/view.ts', attribution: 'certain' }])
    expect(await tasksOf('web/view.ts')).toEqual([open])
  })

  soakTest('a restore counts as one beside many other attempts, too', async () => {
    const { call, complete, wait } = await besideAnother()
    for (let count = 0; count < 25; count += 1) {
      const { task_id } = await call('start_task', { name: `Other ${count}`, goal: 'g' })
      wait(1000)
      await call('complete_task', { task_id, ...outcome })
      wait(1000)
    }
    const { details, measurement } = await complete()
    expect([details, measurement]).toEqual([[], 'exact'])
  })

  test('a file that it removed and a similar one that came back are no rename', async () => {
    const { call, git, wait, write, remove } = await openProject()
    const long = Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join('')
    write('web/old.ts', long)
    git('add', '-A')
    git('commit', '-qm', 'old')
    const { task_id: done } = await call('start_task', { name: 'Copy', goal: 'g' })
    wait(1000)
    write('lib/copy.ts', `${long}more\n`)
    await call('complete_task', { task_id: done, ...outcome })
    git('clean', '-fdq')
    const { task_id: open } = await call('start_task', { name: 'Clean', goal: 'g', areas: ['web'] })
    wait(1000)
    remove('web/old.ts')
    await call('restore', { id: done, yes: true }, { actor: person })
    wait(1000)
    const { details, verification } = await call('complete_task', { task_id: open, ...outcome })
    expect(details).toMatchObject([{ path: 'web/old.ts', change: 'deleted', attribution: 'certain' }])
    expect(verification.unexpected_files).toEqual([])
  })

  test('what a restore wrote over it claims without contradiction', async () => {
    const { call, wait, write } = await openProject()
    const { task_id: done } = await call('start_task', { name: 'Raise', goal: 'g' })
    wait(1000)
    write('src/auth.ts', 'export const auth = 2\n')
    await call('complete_task', { task_id: done, ...outcome })
    const { task_id: open } = await call('start_task', { name: 'Raise more', goal: 'g' })
    wait(1000)
    write('src/auth.ts', 'export const auth = 3\n')
    await call('restore', { id: done, yes: true, force: true }, { actor: person })
    wait(1000)
    const claim = { status: 'success', outcome: { summary: 'Changed src/auth.ts.' } }
    const { verdict, details } = await call('complete_task', { task_id: open, ...claim })
    expect([verdict.is, details]).toEqual(['unproven', []])
  })

  test('a snapshot of everything gives lines back to their authors, and closes the loss', async () => {
    const { call, git, wait, tasksOf, done, context, folder } = await besideAnother()
    await recordGuardedCommand({ context, folder }, 'git clean -fd')
    wait(1000)
    git('clean', '-fdq')
    const { task_id: third } = await call('start_task', { name: 'Third', goal: 'g' })
    const losses = async () => (await call('inbox', { kind: 'loss' })).items
    expect(await losses()).toMatchObject([{ paths: ['src/tax.ts'] }])
    const [snapshot] = (await call('restore_list', {}, { actor: person })).restorable.filter(
      ({ what }: { what: string }) => what === 'guarded command',
    )
    wait(1000)
    await call('restore', { id: snapshot.id, yes: true }, { actor: person })
    wait(1000)
    await call('complete_task', { task_id: third, ...outcome })
    expect(await losses()).toEqual([])
    expect(await tasksOf('src/tax.ts')).toEqual([done])
  })
})
