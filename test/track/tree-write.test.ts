import { expect, test } from 'vitest'
import type { SnapshotId } from '../../src/kernel/id.ts'
import { treeWritten } from '../../src/track/operations/tree-write.ts'
import { happened } from '../store/events.ts'
import { openProject } from '../support/project.ts'

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
