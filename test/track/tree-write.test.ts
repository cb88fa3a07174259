import { describe, expect, test } from 'vitest'
import type { SnapshotId } from '../../src/kernel/id.ts'
import { treeWritten } from '../../src/track/operations/tree-write.ts'
import { happened } from '../store/events.ts'
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
    expect(details).toMatchObject([{ path: 'src/tax.ts', attribution: 'probable' }])
    expect(await tasksOf('src/tax.ts')).toEqual([done, open])
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
})
