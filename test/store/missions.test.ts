import { describe, expect, test } from 'vitest'
import type { MissionId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import { aMission, anAttempt, anItem, aPhase, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'

const nothingLeft = { toDoAgain: 0, contradicted: 0 }

const id = 'm-1' as MissionId
const planned = (number: number, changes = {}) =>
  aTask({ id: `t-${number}` as TaskId, status: 'to_do', ...changes })

describe.each(dialects)('missions in $dialect', ({ fresh }) => {
  test('a mission is read as it was recorded', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const mission = aMission({ constraints: 'no new packages', achievements: ['a "b"'], description: null })
    await happened(store, 1, { kind: 'mission.started', mission })
    expect(await store.view((reads) => reads.missions.find(id))).toEqual(mission)
    expect(await store.view((reads) => reads.missions.find('m-2'))).toBeNull()
  })

  test('a mission ends, is reopened and is extended', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      {
        kind: 'mission.ended',
        missionId: id,
        status: 'partial',
        summary: 's',
        achievements: ['a'],
        limitations: ['l'],
      },
      { kind: 'mission.extended', missionId: id, totalPhases: 5, before: 3 },
    )
    const ended = await store.view((reads) => reads.missions.find(id))
    expect(ended).toMatchObject({
      status: 'partial',
      summary: 's',
      limitations: ['l'],
      completedAt: 1,
      totalPhases: 5,
    })
    await happened(store, 2, { kind: 'mission.reopened', missionId: id })
    expect(await store.view((reads) => reads.missions.find(id))).toMatchObject({
      status: 'in_progress',
      completedAt: null,
    })
  })

  test('missions are listed newest first, by status and by words, page by page', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    for (const number of [1, 2, 3, 4]) {
      const status = number === 4 ? 'failed' : 'pending'
      const mission = aMission({ id: `m-${number}` as MissionId, name: `Step ${number}% done_`, status })
      await happened(store, number, { kind: 'mission.started', mission })
    }
    await store.view(async ({ missions }) => {
      const first = await missions.list({ limit: 2 })
      expect(first.items.map(({ item }) => item.id)).toEqual(['m-4', 'm-3'])
      expect(first.total).toBe(4)
      const second = await missions.list({ limit: 2, before: first.items[1]?.seq ?? 0 })
      expect(second.items.map(({ item }) => item.id)).toEqual(['m-2', 'm-1'])
      expect((await missions.list({ limit: 9, statuses: ['failed'] })).total).toBe(1)
      expect((await missions.list({ limit: 9, statuses: [] })).total).toBe(0)
      expect((await missions.list({ limit: 9, search: 'STEP 2% DONE_' })).items[0]?.item.id).toBe('m-2')
      expect((await missions.list({ limit: 9, search: 'step_' })).total).toBe(0)
      expect(await missions.idsLike('m-', 3)).toEqual(['m-1', 'm-2', 'm-3'])
      expect(await missions.idsLike('m-4', 3)).toEqual(['m-4'])
      expect(await missions.idsLike('t-', 3)).toEqual([])
    })
  })

  test('phases have one number each in their mission', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'phase.created', phase: aPhase(2, { status: 'pending' }) },
      { kind: 'phase.created', phase: aPhase(1) },
      { kind: 'phase.completed', phaseId: 'ph-1' as PhaseId, missionId: id },
    )
    const again = aPhase(2, { id: 'ph-9' as PhaseId })
    await happened(store, 2, { kind: 'phase.created', phase: again })
    await store.view(async ({ missions }) => {
      const numbers = (await missions.phases(id)).map((phase) => [phase.id, phase.number])
      expect(numbers).toEqual([
        ['ph-1', 1],
        ['ph-9', 2],
        ['ph-2', 3],
      ])
      expect(await missions.phase(id, 3)).toMatchObject({ id: 'ph-2', status: 'pending' })
      expect(await missions.phaseById('ph-1' as PhaseId)).toMatchObject({
        status: 'completed',
        completedAt: 1,
      })
      expect(await missions.phase(id, 4)).toBeNull()
    })
    await happened(store, 3, { kind: 'phase.reopened', phaseId: 'ph-1' as PhaseId, missionId: id })
    expect(await store.view((reads) => reads.missions.phase(id, 1))).toMatchObject({
      status: 'in_progress',
      completedAt: null,
    })
  })

  test('an attempt begins its mission and its phase; what it came to is added up', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const phaseId = 'ph-1' as PhaseId
    const attempt = anAttempt({ phaseId, openedAt: 10 })
    await happened(
      store,
      10,
      { kind: 'mission.started', mission: aMission({ status: 'pending' }) },
      { kind: 'phase.created', phase: aPhase(1, { status: 'pending' }) },
      { kind: 'task.planned', task: planned(1, { phaseId }) },
      { kind: 'task.planned', task: planned(2, { phaseId }) },
      { kind: 'attempt.opened', attempt },
      { kind: 'inbox.opened', item: anItem() },
      { kind: 'inbox.opened', item: anItem({ id: 'h-2' as never, kind: 'scope' }) },
    )
    await store.view(async ({ missions }) => {
      expect((await missions.find(id))?.status).toBe('in_progress')
      expect((await missions.phase(id, 1))?.status).toBe('in_progress')
      expect(await missions.now(id)).toEqual({
        openAttempts: 1,
        openBlockers: 1,
        openItems: 2,
        doneTasks: 0,
        toDoTasks: 1,
        left: nothingLeft,
      })
      expect(await missions.tallies(id)).toEqual([
        { phaseId, tasks: 2, firstStart: 10, lastEnd: null, openAttempts: 1 },
      ])
    })
    const imported = aChange('c.ts', { origin: 'imported', scope: 'imported' })
    await happened(store, 20, closing(attempt, [aChange('a.ts'), aChange('b.ts'), imported], 'failed'))
    const again = anAttempt({ id: 'a-2' as never, number: 2, phaseId, openedAt: 30 })
    await happened(store, 30, { kind: 'attempt.opened', attempt: again })
    await happened(store, 40, closing(again, [aChange('a.ts'), aChange('d.ts', { origin: 'mixed' })]))
    await store.view(async ({ missions }) => {
      expect(await missions.totals(id)).toEqual({
        tasks: 2,
        distinctFilesChanged: 3,
        tokensInput: 200,
        tokensOutput: 40,
      })
      expect(await missions.tallies(id)).toEqual([
        { phaseId, tasks: 2, firstStart: 10, lastEnd: 40, openAttempts: 0 },
      ])
      const mission = await missions.find(id)
      const [listed] = await missions.listings(mission ? [mission] : [])
      expect(listed).toEqual({
        mission,
        now: {
          openAttempts: 0,
          openBlockers: 1,
          openItems: 2,
          doneTasks: 1,
          toDoTasks: 1,
          left: nothingLeft,
        },
        phases: await missions.phases(id),
      })
    })
  })

  test('a project without anything answers everything with nothing', async () => {
    await using temporary = await fresh()
    await temporary.store.view(async ({ missions }) => {
      expect(await missions.list({ limit: 5 })).toEqual({ items: [], total: 0 })
      expect(await missions.now(id)).toEqual({
        openAttempts: 0,
        openBlockers: 0,
        openItems: 0,
        doneTasks: 0,
        toDoTasks: 0,
        left: nothingLeft,
      })
      expect(await missions.listings([])).toEqual([])
      expect(await missions.tallies(id)).toEqual([])
    })
  })
})
