import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { MilestoneId, MissionId, PhaseId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { aMission, anAttempt, aPhase } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'
import { aMilestone, p, planPhase, planTask, t } from './plan-events.ts'

const mission = 'm-1' as MissionId
const created = (number: number, changes = {}): NewProjectEvent => ({
  kind: 'phase.created',
  phase: planPhase(number, changes),
})
const phaseIds = (store: Store, owner: MissionId | null) =>
  store.view(async ({ plan }) => (await plan.phases(owner)).map(({ id }) => id))

describe.each(dialects)('phases and milestones of a plan in $dialect', ({ fresh }) => {
  test('phases go by their order, then creation; those of a mission by number', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      created(1),
      created(2, { sortOrder: 10 }),
      created(3, { sortOrder: 2 }),
      created(4),
      { kind: 'phase.created', phase: aPhase(2) },
      { kind: 'phase.created', phase: aPhase(1) },
    )
    expect(await phaseIds(store, null)).toEqual(['P3', 'P2', 'P1', 'P4'])
    expect(await phaseIds(store, mission)).toEqual(['ph-1', 'ph-2'])
    await store.view(async ({ plan }) => {
      const { hasWork: _, ...third } = { hasWork: false, ...planPhase(3, { sortOrder: 2 }) }
      expect(await plan.phase('P3')).toMatchObject(third)
      expect(await plan.phase('P9')).toBeNull()
    })
  })

  test('an edited phase keeps what was not named, and its tasks follow its order', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      created(1, { sortOrder: 1 }),
      created(2, { sortOrder: 2 }),
      { kind: 'task.planned', task: planTask(1, { phaseId: p(1) }) },
      { kind: 'task.planned', task: planTask(2, { phaseId: p(2) }) },
    )
    const edited = (changes: object, at: number) =>
      happened(store, at, { kind: 'phase.edited', phaseId: p(1), missionId: null, changes })
    const listed = () =>
      store.view(async ({ plan }) =>
        (await plan.tasks({ now: 0 }, { limit: 9 })).tasks.map(({ task }) => task.id),
      )
    expect(await listed()).toEqual([t(1), t(2)])
    await edited({ sortOrder: 3 }, 2)
    expect(await listed()).toEqual([t(2), t(1)])
    await edited({ name: 'Design', status: 'completed' }, 3)
    await store.view(async ({ plan }) => {
      expect(await plan.phase('P1')).toMatchObject({
        name: 'Design',
        status: 'completed',
        sortOrder: 3,
        completedAt: 3,
      })
    })
    await edited({ status: 'in_progress', sortOrder: null }, 4)
    expect(await store.view(({ plan }) => plan.phase('P1'))).toMatchObject({
      status: 'in_progress',
      sortOrder: null,
      completedAt: null,
    })
    expect(await listed()).toEqual([t(2), t(1)])
  })

  test('a milestone is read as it was made and edited, and listed in the order of its phase', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const second = aMilestone(2, { name: null, criterion: 'all green', reached: true, phaseId: p(2) })
    const ofMission = aMilestone(3, { phaseId: 'ph-1' as PhaseId })
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'phase.created', phase: aPhase(1) },
      created(2, { sortOrder: 2 }),
      created(1, { sortOrder: 1 }),
      { kind: 'milestone.created', milestone: second },
      { kind: 'milestone.created', milestone: aMilestone(1) },
      { kind: 'milestone.created', milestone: ofMission },
    )
    await store.view(async ({ plan }) => {
      expect(await plan.milestone('M2')).toEqual(second)
      expect(await plan.milestone('M9')).toBeNull()
      expect(await plan.milestones({ owner: null })).toEqual([aMilestone(1), second])
      expect(await plan.milestones({ phaseId: p(2) })).toEqual([second])
      expect(await plan.milestones({ owner: mission })).toEqual([ofMission])
      expect(await plan.milestones({ owner: mission, phaseId: p(2) })).toEqual([])
      expect(await plan.milestones({})).toHaveLength(3)
    })
    const changes = { name: 'Beta', criterion: null, reached: false }
    await happened(store, 2, { kind: 'milestone.edited', milestoneId: second.id, changes })
    expect(await store.view(({ plan }) => plan.milestone('M2'))).toEqual({ ...second, ...changes })
  })

  test('a milestone that moves takes its open tasks along, and leaves what is done', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const milestoneId = 'M1' as MilestoneId
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'phase.created', phase: aPhase(1) },
      created(1),
      { kind: 'milestone.created', milestone: aMilestone(1) },
      ...[1, 2, 3].map(
        (number): NewProjectEvent => ({
          kind: 'task.planned',
          task: planTask(number, { phaseId: p(1), milestoneId: number === 3 ? null : milestoneId }),
        }),
      ),
      { kind: 'task.marked', taskId: t(1), status: 'done' },
      { kind: 'milestone.edited', milestoneId, changes: { phaseId: 'ph-1' as PhaseId } },
    )
    await store.view(async ({ plan, missions }) => {
      expect((await plan.task('t-2'))?.task).toMatchObject({ phaseId: 'ph-1', missionId: 'm-1', milestoneId })
      expect((await plan.task('t-1'))?.task).toMatchObject({ phaseId: 'P1', missionId: null, milestoneId })
      expect((await plan.task('t-3'))?.task).toMatchObject({ phaseId: 'P1' })
      const ids = async (filter: object) =>
        (await plan.tasks({ now: 0, ...filter }, { limit: 9 })).tasks.map(({ task }) => task.id)
      expect(await ids({ owner: mission })).toEqual([t(2)])
      expect(await ids({ owner: null })).toEqual([t(1), t(3)])
      expect(await ids({ milestoneId })).toEqual([t(2), t(1)])
      expect(await ids({ owner: mission, phaseId: p(1) })).toEqual([])
      expect((await plan.tasks({ now: 0, owner: mission, phaseId: p(1) }, { limit: 9 })).total).toBe(0)
      expect(await missions.now(mission)).toMatchObject({ toDoTasks: 1 })
      expect(await missions.tallies(mission)).toMatchObject([{ phaseId: 'ph-1', tasks: 1 }])
    })
  })

  test('a task that was worked on in its old phase is listed there still', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const phaseId = 'ph-1' as PhaseId
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'phase.created', phase: aPhase(1) },
      created(1),
      ...[1, 2].map(
        (number): NewProjectEvent => ({
          kind: 'task.planned',
          task: planTask(number, { phaseId, missionId: mission }),
        }),
      ),
      { kind: 'attempt.opened', attempt: anAttempt({ phaseId }) },
      ...[1, 2].map(
        (number): NewProjectEvent => ({
          kind: 'task.edited',
          taskId: t(number),
          changes: { phaseId: p(1) },
        }),
      ),
    )
    await store.view(async ({ plan, tasks }) => {
      const worked = await tasks.list({ missionId: mission }, { limit: 9 })
      expect(worked.items.map(({ item }) => item.task.id)).toEqual([t(1)])
      expect(worked.total).toBe(1)
      expect((await tasks.list({ phaseId: p(1) }, { limit: 9 })).total).toBe(2)
      expect((await plan.tasks({ owner: mission, now: 0 }, { limit: 9 })).total).toBe(0)
      expect((await plan.tasks({ owner: null, now: 0 }, { limit: 9 })).total).toBe(2)
    })
  })

  test('declared roles are kept once each, in order', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const declared = ['zoologist', 'astronomer', 'zoologist'].map(
      (role): NewProjectEvent => ({
        kind: 'role.declared',
        role,
      }),
    )
    await happened(store, 1, ...declared)
    expect(await store.view(({ plan }) => plan.roles())).toEqual(['zoologist', 'astronomer'])
  })
})
