import { describe, expect, test } from 'vitest'
import type { AttemptId, InboxItemId, TaskId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { Attempt } from '../../src/track/domain/task.ts'
import { staleAfter } from '../../src/track/domain/task.ts'
import { aMission, anAttempt, anItem, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aProgress, closing, happened } from './events.ts'

/** Attempt a-<number> at task t-<number>, opened at `number`, in a tree. */
async function opened(store: Store, number: number, top = '/tree'): Promise<Attempt> {
  const taskId = `t-${number}` as TaskId
  const attempt = anAttempt({
    id: `a-${number}` as AttemptId,
    taskId,
    snapshot: { engine: 'git', directory: `/state/${number}`, top, prefix: '', id: 'abc' },
    openedAt: number,
    lastCallAt: number,
  })
  await happened(
    store,
    number,
    { kind: 'task.planned', task: aTask({ id: taskId, status: 'to_do' }) },
    { kind: 'attempt.opened', attempt },
  )
  return attempt
}

const idsOf = (attempts: readonly Attempt[]): readonly string[] => attempts.map(({ id }) => id)

describe.each(dialects)('attempts over time in $dialect', ({ fresh }) => {
  test('a work tree knows the attempts that were open since a time', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 0, { kind: 'mission.started', mission: aMission() })
    const first = await opened(store, 1)
    await opened(store, 2, '/other')
    await opened(store, 3)
    await happened(store, 50, closing(first))
    await store.view(async ({ tasks }) => {
      expect(idsOf(await tasks.attemptsInTree('/tree', 50))).toEqual(['a-1', 'a-3'])
      expect(idsOf(await tasks.attemptsInTree('/tree', 51))).toEqual(['a-3'])
      expect(idsOf(await tasks.attemptsInTree('/elsewhere', 0))).toEqual([])
      const kept = async (since: number) =>
        (await tasks.keptSnapshots(since)).map(({ directory }) => directory)
      expect((await kept(50)).toSorted()).toEqual(['/state/1', '/state/2', '/state/3', '/state/end'])
      expect((await kept(51)).toSorted()).toEqual(['/state/2', '/state/3'])
    })
  })

  test('an attempt is silent until something is said about it, or an inbox item is open for it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 0, { kind: 'mission.started', mission: aMission() })
    for (const number of [1, 2, 3]) await opened(store, number)
    const attemptId = 'a-1' as AttemptId
    await happened(store, 90, { kind: 'progress.logged', progress: aProgress({ attemptId }) })
    const item = anItem({ kind: 'stale_attempt', attemptId: 'a-2' as AttemptId, taskId: 't-2' as TaskId })
    await happened(store, 91, { kind: 'inbox.opened', item })
    const silent = () => store.view(({ tasks }) => tasks.silentAttempts(80 + staleAfter))
    expect(idsOf(await silent())).toEqual(['a-3'])
    const answered = { missionId: null, taskId: null, status: 'dismissed', answer: null } as const
    await happened(store, 92, { kind: 'inbox.closed', itemId: 'h-1' as InboxItemId, ...answered })
    expect(idsOf(await silent())).toEqual(['a-2', 'a-3'])
    expect((await store.view(({ tasks }) => tasks.attempt('a-1')))?.lastCallAt).toBe(90)
  })
})
