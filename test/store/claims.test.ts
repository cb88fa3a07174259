import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId } from '../../src/kernel/id.ts'
import { claimDurationMs } from '../../src/plan/domain/claims.ts'
import { fingerprint } from '../../src/store/fingerprint.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { anAttempt } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aDecision, anIssue, aProgress, closing, happened } from './events.ts'
import { aClaim, aNote, planTask, t } from './plan-events.ts'

const claim = aClaim({ claimedAt: 10, expiresAt: 1000 })
const claimed: NewProjectEvent = { kind: 'task.claimed', taskId: t(1), claim }
const attempt = anAttempt({ missionId: null, agentName: 'builder' })
const nowhere = { missionId: null, attemptId: null, agentName: null }

/** Task t-1, claimed until 1000, and t-2. */
async function begun(store: Store): Promise<void> {
  await happened(
    store,
    10,
    { kind: 'task.planned', task: planTask(1) },
    { kind: 'task.planned', task: planTask(2) },
    claimed,
  )
}

const task = (store: Store) => store.view(({ plan }) => plan.task('t-1'))

describe.each(dialects)('claims in $dialect', ({ fresh }) => {
  test('a claim makes its task in progress wherever it is listed, until it ends', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const statuses = async () =>
      store.view(async ({ plan, tasks }) => ({
        plan: (await plan.tasks({ now: 11, status: 'in_progress' }, { limit: 9 })).total,
        list: (await tasks.list({}, { limit: 9 })).items.map(({ item }) => item.task.status),
      }))
    expect(await task(store)).toMatchObject({ task: { status: 'in_progress', resolution: null }, claim })
    expect(await statuses()).toEqual({ plan: 1, list: ['to_do', 'in_progress'] })
    await happened(store, 20, { kind: 'claim.ended', taskId: t(1), agent: 'builder', why: 'released' })
    expect(await task(store)).toMatchObject({ task: { status: 'to_do' }, claim: null })
    expect(await statuses()).toEqual({ plan: 0, list: ['to_do', 'to_do'] })
  })

  test('a claim that expired holds nothing, also before anybody noticed', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const at = async (now: number) =>
      store.view(async ({ plan }) => {
        const count = async (filter: object) => (await plan.tasks({ now, ...filter }, { limit: 9 })).total
        return {
          ready: await count({ ready: true }),
          toDo: await count({ status: 'to_do' }),
          inProgress: await count({ status: 'in_progress' }),
          next: (await plan.next({ now }))?.task.id,
          expired: (await plan.expiredClaims(now)).map(({ claim: ended }) => ended?.tokenHash),
        }
      })
    expect(await at(999)).toEqual({ ready: 1, toDo: 1, inProgress: 1, next: t(2), expired: [] })
    expect(await at(1000)).toEqual({ ready: 2, toDo: 2, inProgress: 0, next: t(1), expired: ['h-1'] })
    await happened(store, 1001, { kind: 'dependency.added', taskId: t(1), dependsOnId: t(2) })
    const blocked = await store.view(({ plan }) => plan.tasks({ now: 1001, blocked: true }, { limit: 9 }))
    expect(blocked.tasks.map((planned) => planned.task.id)).toEqual([t(1)])
    await happened(store, 1002, { kind: 'claim.ended', taskId: t(1), agent: 'builder', why: 'expired' })
    expect(await at(1002)).toEqual({ ready: 1, toDo: 2, inProgress: 0, next: t(2), expired: [] })
  })

  const calls: readonly NewProjectEvent[] = [
    { kind: 'decision.logged', decision: aDecision(nowhere) },
    { kind: 'issue.logged', issue: anIssue(nowhere) },
    { kind: 'progress.logged', progress: aProgress(nowhere) },
    { kind: 'note.added', note: aNote(1) },
    { kind: 'task.edited', taskId: t(1), changes: { name: 'New' } },
    { kind: 'dependency.added', taskId: t(1), dependsOnId: t(2) },
    { kind: 'dependency.removed', taskId: t(1), dependsOnId: t(2) },
    { kind: 'task.forced', taskId: t(1), open: [t(2)] },
  ]
  test.each(calls)('$kind renews a claim that runs, and none that ended', async (call) => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    if (call.kind === 'dependency.removed')
      await happened(store, 10, { kind: 'dependency.added', taskId: t(1), dependsOnId: t(2) })
    const late = 10 + claimDurationMs + 1000
    const until = async () => (await task(store))?.claim?.expiresAt
    await happened(store, 500, call)
    expect(await until()).toBe(500 + claimDurationMs)
    await happened(store, late, { kind: 'note.added', note: aNote(8) })
    expect(await until()).toBe(500 + claimDurationMs)
  })

  test('an attempt keeps the claim that runs and its token, and ends it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    await happened(store, 20, { kind: 'attempt.opened', attempt })
    const held = { ...claim, expiresAt: null }
    expect((await task(store))?.claim).toEqual(held)
    await happened(
      store,
      30,
      { kind: 'note.added', note: aNote(1) },
      { kind: 'claim.ended', taskId: t(1), agent: 'builder', why: 'expired' },
    )
    expect(await task(store)).toMatchObject({ claim: held, task: { status: 'in_progress' } })
    expect(await store.view(({ plan }) => plan.expiredClaims(1_000_000_000))).toEqual([])
    await happened(store, 40, closing(attempt))
    expect(await task(store)).toMatchObject({ claim: null, task: { status: 'done', resolution: 'success' } })
  })

  test('an attempt without a running claim holds the task for who opened it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const opened = { ...attempt, agentName: null, openedAt: 2000 }
    await happened(store, 2000, { kind: 'attempt.opened', attempt: opened })
    const { agent: name } = (await task(store))?.claim ?? {}
    expect(name).toBe(opened.actor.name)
    expect((await task(store))?.claim).toMatchObject({
      tokenHash: fingerprint('a-1'),
      claimedAt: 2000,
      expiresAt: null,
    })
    await happened(store, 2001, {
      kind: 'attempt.abandoned',
      attemptId: 'a-1' as AttemptId,
      taskId: t(1),
      missionId: null,
      reason: 'r',
    })
    expect(await task(store)).toMatchObject({ claim: null, task: { status: 'to_do' } })
  })

  test.each([
    { kind: 'task.marked', taskId: t(1), status: 'done' },
    { kind: 'task.marked', taskId: t(1), status: 'to_do' },
    { kind: 'task.dropped', taskId: t(1), reason: 'r' },
  ] as const)('$kind $status ends a claim', async (marked) => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    await happened(store, 20, marked)
    expect((await task(store))?.claim).toBeNull()
  })
})
