import { describe, expect, test } from 'vitest'
import type { AttemptId, MissionId, TaskId } from '../../src/kernel/id.ts'
import { aMission, anAttempt, aPhase, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'

const mission = 'm-1' as MissionId
const task = (number: number) => `t-${number}` as TaskId

describe.each(dialects)('a timeline in $dialect', ({ fresh }) => {
  test('has the tasks of a mission, at home there or worked on there, and its last attempts with what was measured', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const phase = aPhase(1)
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'mission.started', mission: aMission({ id: 'm-2' as MissionId }) },
      { kind: 'phase.created', phase },
    )
    const homes = [mission, mission, null, 'm-2' as MissionId]
    for (const [number, missionId] of homes.entries()) {
      const phaseId = number === 0 ? phase.id : null
      await happened(store, 2, {
        kind: 'task.planned',
        task: aTask({ id: task(number), missionId, phaseId, status: 'to_do' }),
      })
    }
    const attempts = [0, 0, 2].map((number, place) =>
      anAttempt({
        id: `a-${place}` as AttemptId,
        taskId: task(number),
        missionId: mission,
        phaseId: phase.id,
        number: place + 1,
        openedAt: 10 + place,
      }),
    )
    const changes = [
      aChange('a.ts', { addedLines: 7, deletedLines: 1, scope: 'out' }),
      aChange('b.png', { addedLines: null, deletedLines: null }),
      aChange('c.ts', { addedLines: 3, deletedLines: 2 }),
    ]
    for (const [place, attempt] of attempts.entries()) {
      await happened(store, 10 + place, { kind: 'attempt.opened', attempt })
      if (place < 2) await happened(store, 20 + place, closing(attempt, place === 0 ? changes : [], 'failed'))
    }

    await store.view(async ({ timeline }) => {
      const tasks = await timeline.tasks(mission, 10)
      expect(tasks.map(({ id, phaseId, status }) => ({ id, phaseId, standing: status }))).toEqual([
        { id: 't-0', phaseId: 'ph-1', standing: 'ready' },
        { id: 't-1', phaseId: null, standing: 'ready' },
        { id: 't-2', phaseId: 'ph-1', standing: 'in_progress' },
      ])
      expect(await timeline.tasks(mission, 2)).toHaveLength(2)
      const found = await timeline.attempts(mission, 10)
      expect(found.map(({ id, status, measurement }) => ({ id, status, measurement }))).toEqual([
        { id: 'a-0', status: 'failed', measurement: 'exact' },
        { id: 'a-1', status: 'failed', measurement: 'exact' },
        { id: 'a-2', status: 'open', measurement: null },
      ])
      expect(found.map(({ counts }) => counts?.modified ?? null)).toEqual([3, 0, null])
      expect(found.map(({ scopeMatches }) => scopeMatches)).toEqual([false, true, null])
      expect([...(await timeline.lines(mission, 10))]).toEqual([
        ['a-0', { added: 10, deleted: 3, outOfScope: 1, outOfScopeAccepted: 0 }],
      ])
      expect(await timeline.files(mission, { limit: 2, offset: 0 })).toEqual([
        {
          path: 'a.ts',
          change: 'modified',
          scope: 'out',
          addedLines: 7,
          deletedLines: 1,
          others: false,
          attempts: 1,
          taskId: 't-0',
        },
        {
          path: 'b.png',
          change: 'modified',
          scope: 'in',
          addedLines: null,
          deletedLines: null,
          others: false,
          attempts: 1,
          taskId: 't-0',
        },
      ])
      expect((await timeline.attempts(mission, 2)).map(({ id }) => id)).toEqual(['a-1', 'a-2'])
      expect(await timeline.lines(mission, 2)).toEqual(new Map())
      expect(await timeline.attemptsTotal(mission)).toBe(3)
      expect(await timeline.attemptsTotal('m-2' as MissionId)).toBe(0)
      expect(await timeline.tasks('m-9' as MissionId, 10)).toEqual([])
    })
  })
})
