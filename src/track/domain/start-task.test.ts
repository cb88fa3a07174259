import { describe, expect, test } from 'vitest'
import { agent, aMission, anAttempt, aPhase, aTask } from '../../../test/support/entities.ts'
import { settingAt } from '../../../test/support/setting.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { PlannedTask } from '../../plan/domain/plan.ts'
import type { TaskRequest, TaskSituation } from './start-task.ts'
import { beginAttempt } from './start-task.ts'
import { staleAfter, type Task } from './task.ts'

function request(changes: Partial<TaskRequest> = {}): TaskRequest {
  return {
    name: 'Log in',
    goal: null,
    areas: [],
    phase: null,
    phaseName: null,
    callerType: null,
    agentName: 'builder',
    takeOver: false,
    claimToken: null,
    doneWhen: null,
    force: false,
    actor: agent,
    snapshot: anAttempt().snapshot,
    snapshotAt: 5,
    ...changes,
  }
}

function situation(changes: Partial<TaskSituation> = {}): TaskSituation {
  return {
    mission: aMission(),
    phases: [],
    home: null,
    parent: null,
    parentAttempt: null,
    aboveParent: [],
    planned: null,
    last: null,
    items: [],
    lostAccess: null,
    dependencies: [],
    taskOfToken: null,
    ...changes,
  }
}

function plannedTaskFrom(task: Task, changes: Partial<PlannedTask> = {}): PlannedTask {
  return { task, dependsOn: [], unsettled: false, blocked: false, claim: null, ...changes }
}

const eventKinds = (started: ReturnType<typeof beginAttempt>) => started.events.map(({ kind }) => kind)

describe('phases', () => {
  test('a phase that does not exist is made, with its name', () => {
    const started = beginAttempt(request({ phase: 1, phaseName: 'Setup' }), situation(), settingAt(5))
    expect(eventKinds(started)).toEqual(['phase.created', 'task.planned', 'attempt.opened'])
    expect(started.phase).toMatchObject({ number: 1, name: 'Setup' })
    expect(started.phaseCreated).toBe(true)
  })

  test('without a number the task goes into the current phase', () => {
    const phases = [aPhase(1, { status: 'completed' }), aPhase(2)]
    const started = beginAttempt(request(), situation({ phases }), settingAt(5))
    expect(started.phase?.number).toBe(2)
    expect(started.phaseCreated).toBe(false)
  })

  test('more phases than announced raise the total, with a note', () => {
    const started = beginAttempt(request({ phase: 5 }), situation(), settingAt(5))
    expect(started.events).toContainEqual({
      kind: 'mission.extended',
      missionId: 'm-1',
      totalPhases: 5,
      before: 3,
    })
    expect(started.notes.join()).toContain('announced 3 phases')
  })

  test('work in a completed phase opens it again', () => {
    const phases = [aPhase(1, { status: 'completed', completedAt: 4 })]
    const started = beginAttempt(request({ phase: 1 }), situation({ phases }), settingAt(5))
    expect(eventKinds(started)[0]).toBe('phase.reopened')
    expect(started.phase?.status).toBe('in_progress')
  })

  test('a workflow task and a task without mission have no phase', () => {
    const workflow = aMission({ kind: 'workflow', totalPhases: 0 })
    expect(beginAttempt(request(), situation({ mission: workflow }), settingAt(5)).phase).toBeNull()
    expect(beginAttempt(request(), situation({ mission: null }), settingAt(5)).phase).toBeNull()
  })
})

describe('admission', () => {
  test('a finished mission takes no task, and the refusal says the way on', () => {
    const mission = aMission({ status: 'completed', summary: 'Done.' })
    expect(() => beginAttempt(request(), situation({ mission }), settingAt(5))).toThrow(/it is completed/)
  })

  test('a workflow that ended by itself goes on with the next task', () => {
    const mission = aMission({ kind: 'workflow', status: 'completed' })
    expect(eventKinds(beginAttempt(request(), situation({ mission }), settingAt(5)))[0]).toBe(
      'mission.reopened',
    )
  })

  test('a parent of another mission is refused', () => {
    const parent = aTask({ missionId: 'm-9' as MissionId })
    expect(() => beginAttempt(request(), situation({ parent }), settingAt(5))).toThrow(
      /belongs to mission m-9/,
    )
  })

  test('a done task is not started again', () => {
    const planned = plannedTaskFrom(aTask({ status: 'done', resolution: 'success' }))
    expect(() => beginAttempt(request(), situation({ planned }), settingAt(5))).toThrow(/already done/)
  })
})

describe('a planned task with an open attempt', () => {
  const planned = plannedTaskFrom(aTask({ id: 't-7' as TaskId, phaseId: 'ph-1' as PhaseId }))
  const open = anAttempt({ id: 'a-7' as AttemptId, taskId: planned.task.id })
  const held = situation({ planned, last: open, phases: [aPhase(1)] })

  test('is answered again to the one who holds it', () => {
    const started = beginAttempt(request(), held, settingAt(5))
    expect(started).toMatchObject({ resumed: true, attempt: { id: 'a-7' } })
    expect(eventKinds(started)).toEqual(['attempt.continued'])
  })

  test('is refused to others while it is alive', () => {
    const takeOver = () => beginAttempt(request({ agentName: 'other', takeOver: true }), held, settingAt(5))
    expect(takeOver).toThrow(/builder is working on task t-7/)
  })

  test('is taken over when it is stale, and only when asked', () => {
    const later = settingAt(staleAfter)
    expect(() => beginAttempt(request({ agentName: 'other' }), held, later)).toThrow(/is stale/)
    const started = beginAttempt(request({ agentName: 'other', takeOver: true }), held, later)
    expect(eventKinds(started)).toEqual(['attempt.abandoned', 'attempt.opened'])
    expect(started.attempt.number).toBe(2)
  })

  test('is taken over at once from a caller that lost its access, and only when asked', () => {
    const lost = { ...held, lostAccess: 'Dan is disabled' }
    expect(() => beginAttempt(request({ agentName: 'other' }), lost, settingAt(5))).toThrow(/Dan is disabled/)
    const started = beginAttempt(request({ agentName: 'other', takeOver: true }), lost, settingAt(5))
    expect(eventKinds(started)).toEqual(['attempt.abandoned', 'attempt.opened'])
  })
})

describe('a planned task', () => {
  const task = aTask({ id: 't-7' as TaskId, status: 'to_do' })
  const tokenHash = 'hash of c-1'
  const claim = { agent: 'other', actor: 'claude', tokenHash, claimedAt: 0, expiresAt: 100 }

  test('that somebody else holds is refused, and free again when the claim ran out', () => {
    const planned = plannedTaskFrom(task, { claim })
    expect(() => beginAttempt(request(), situation({ planned }), settingAt(99))).toThrow(
      /is claimed by other/,
    )
    expect(eventKinds(beginAttempt(request(), situation({ planned }), settingAt(100)))).toContain(
      'attempt.opened',
    )
  })

  test('is begun with the token of the claim, and not with an older one', () => {
    const planned = plannedTaskFrom(task, { claim })
    const withToken = (claimToken: string) => () =>
      beginAttempt(request({ claimToken }), situation({ planned, taskOfToken: task.id }), settingAt(5))
    expect(eventKinds(withToken('c-1')())).toContain('attempt.opened')
    expect(withToken('c-0')).toThrow(/claim c-0 on task t-7 has ended/)
  })

  test('that waits for others is begun only by force, and the record says so', () => {
    const planned = plannedTaskFrom(task, { dependsOn: ['t-3' as TaskId], blocked: true })
    const open = {
      task: aTask({ id: 't-3' as TaskId }),
      unsettled: false,
      summary: null,
      files: [],
      items: [],
    }
    const waiting = situation({ planned, dependencies: [open] })
    expect(() => beginAttempt(request(), waiting, settingAt(5))).toThrow(/waits for tasks.*t-3/)
    const forced = beginAttempt(request({ force: true }), situation({ planned }), settingAt(5))
    expect(eventKinds(forced)).toEqual(expect.arrayContaining(['task.forced', 'attempt.opened']))
    expect(forced.notes.join()).toContain('not done')
  })
})

test('an unnamed agent goes on with its own attempt only on the connection that began it', () => {
  const planned = plannedTaskFrom(aTask({ id: 't-7' as TaskId }))
  const began = { ...agent, connection: 'one' }
  const open = anAttempt({ id: 'a-7' as AttemptId, taskId: planned.task.id, agentName: null, actor: began })
  const held = situation({ planned, last: open })
  expect(beginAttempt(request({ agentName: null, actor: began }), held, settingAt(5)).resumed).toBe(true)
  const other = () =>
    beginAttempt(request({ agentName: null, actor: { ...agent, connection: 'two' } }), held, settingAt(5))
  expect(other).toThrow(/is working on task t-7/)
})
