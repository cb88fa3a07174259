import { describe, expect, test } from 'vitest'
import { notFound, openProject, wrongFields } from '../support/project.ts'
import { shared } from '../support/shared.ts'

/** A task of which no test records anything. */
const untouched = shared(() => openTask())

async function openTask() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const { task_id, attempt_id } = await project.call('start_task', { mission_id, name: 'a', goal: 'g' })
  const context = (include: string, more: object = {}) =>
    project.call('get_context', { mission_id, include: [include], ...more })
  return { project, mission_id, task_id: task_id as string, attempt_id: attempt_id as string, context }
}

const decision = {
  category: 'library_choice',
  question: 'Quelle librairie de validation utiliser ?',
  options_considered: ['Zod', 'Yup', 'Joi'],
  chosen: 'Zod',
  reasoning: 'Meilleur typage TypeScript natif et intégration avec tRPC',
  trade_offs: 'Moins de plugins que Joi mais performances meilleures',
}

describe('log_decision', () => {
  test('MC1-016 MC2-101 MC2-104 MC2-107 MC2-042 the seed’s example is kept, accents included', async () => {
    const { project, task_id, context } = await openTask()
    const answer = await project.call('log_decision', { task_id, ...decision })
    expect(answer).toEqual({ decision_id: expect.stringMatching(/^d-/), created_at: expect.any(String) })
    expect((await context('decisions')).decisions).toEqual([
      {
        ...decision,
        category: 'LIBRARY_CHOICE',
        id: answer.decision_id,
        task_id,
        agent_name: 'test-agent',
        created_at: answer.created_at,
      },
    ])
  })

  test.each([
    ['architecture', 'ARCHITECTURE'],
    ['library_choice', 'LIBRARY_CHOICE'],
    ['trade_off', 'TRADE_OFF'],
    ['workaround', 'WORKAROUND'],
    ['other', 'OTHER'],
  ])('MC2-102 MC1-031 the category %s is shown as %s', async (category, shown) => {
    const { project, task_id, context } = await openTask()
    await project.call('log_decision', { task_id, category, question: 'q', chosen: 'c', reasoning: 'r' })
    expect((await context('decisions')).decisions).toMatchObject([{ category: shown }])
  })

  test.each(['task_id', 'category', 'question', 'chosen', 'reasoning'])(
    'MC2-103 MC2-105 MC2-106 without %s it is refused and nothing is stored',
    async (field) => {
      const { project, task_id, context } = await untouched()
      const sent: Record<string, unknown> = { task_id, ...decision }
      delete sent[field]
      expect(await project.refused('log_decision', sent)).toMatchObject(wrongFields(field))
      expect((await context('decisions')).decisions_total).toBe(0)
    },
  )
})

const issue = {
  type: 'documentation_gap',
  description: 'La doc NextAuth v5 sur les callbacks est obsolète',
  resolution: "J'ai utilisé les exemples GitHub officiels du repo",
}

describe('log_issue', () => {
  test('MC1-017 MC2-112 MC2-113 MC2-114 the seed’s example is no blocker', async () => {
    const { project, task_id, context } = await openTask()
    const answer = await project.call('log_issue', { task_id, ...issue, requires_human_review: false })
    expect(answer).toMatchObject({ issue_id: expect.stringMatching(/^i-/), blocker: false })
    expect((await context('blockers')).blockers).toEqual([])
    expect((await project.call('show', { id: task_id })).issues).toMatchObject([
      { description: issue.description, resolution: issue.resolution, type: 'DOC_GAP' },
    ])
  })

  test.each([
    ['documentation_gap', 'DOC_GAP'],
    ['bug_encountered', 'BUG'],
    ['dependency_conflict', 'DEPENDENCY_CONFLICT'],
    ['unclear_requirement', 'UNCLEAR_REQUIREMENT'],
    ['other', 'OTHER'],
  ])(
    'MC2-111 MC1-032 MC2-116 the type %s is a blocker shown as %s when a person must look',
    async (type, shown) => {
      const { project, task_id, context } = await openTask()
      const sent = { task_id, type, description: 'd', resolution: 'r', requires_human_review: true }
      const { issue_id, blocker } = await project.call('log_issue', sent)
      expect(blocker).toBe(true)
      expect(await context('blockers')).toMatchObject({
        blockers: [{ id: issue_id, task_id, type: shown, description: 'd', resolution: 'r' }],
        blockers_total: 1,
      })
    },
  )

  test.each(['task_id', 'type', 'description'])('MC2-110 without %s it is refused', async (field) => {
    const { project, task_id } = await untouched()
    const sent: Record<string, unknown> = { task_id, ...issue }
    delete sent[field]
    expect(await project.refused('log_issue', sent)).toMatchObject(wrongFields(field))
  })
})

test('an issue without a resolution is recorded: what the schema leaves open is taken', async () => {
  const { project, task_id } = await openTask()
  const { resolution: _, ...open } = issue
  expect(await project.call('log_issue', { task_id, ...open })).toMatchObject({ blocker: false })
  expect((await project.call('show', { id: task_id })).issues).toMatchObject([
    { description: issue.description, resolution: null },
  ])
})

describe('log_milestone', () => {
  test('MC1-018 MC2-119 MC2-120 MC2-122 MC2-118 the seed’s sequence is kept in its order', async () => {
    const { project, task_id, context } = await openTask()
    const sent = [
      { message: 'Installing dependencies...', progress: 25 },
      { message: 'Running tests...', progress: 75, metadata: { test_suite: 'auth' } },
      { message: 'Build successful', progress: 100 },
    ]
    for (const step of sent) {
      const answer = await project.call('log_milestone', { task_id, ...step })
      expect(answer).toEqual({ milestone_id: expect.stringMatching(/^pr-/), created_at: expect.any(String) })
    }
    const { milestones } = await context('milestones')
    expect(milestones.map(({ message }: { message: string }) => message).reverse()).toEqual(
      sent.map((s) => s.message),
    )
    const { events } = await project.call('log', { limit: 2 })
    expect(events[0].body.progress.metadata).toEqual({ test_suite: 'auth' })
  })

  test('MC2-121 progress is a number from 0 to 100, or absent', async () => {
    const { project, task_id } = await openTask()
    for (const progress of [0, 33.3, 100, undefined]) {
      await project.call('log_milestone', { task_id, message: 'm', progress })
    }
    expect(await project.refused('log_milestone', { task_id, message: 'm', progress: 101 })).toMatchObject(
      wrongFields('progress'),
    )
    expect(await project.refused('log_milestone', { task_id, message: 'm', progress: -1 })).toMatchObject(
      wrongFields('progress'),
    )
  })
})

describe('where a record belongs', () => {
  test('an unknown task is not found, and the way on is named', async () => {
    const { project } = await openTask()
    expect(await project.refused('log_milestone', { task_id: 't-nowhere', message: 'm' })).toMatchObject({
      ...notFound('task'),
      fix: { operation: 'get_context' },
    })
  })

  test('a closed attempt takes no more records; the task still does', async () => {
    const { project, task_id, attempt_id } = await openTask()
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
    const late = { task_id, message: 'Late', attempt_id }
    expect(await project.refused('log_milestone', late)).toMatchObject({
      code: 'CONFLICT',
      reason: 'attempt_closed',
      fix: { operation: 'start_task', input: { planned_task_id: task_id } },
    })
    await project.call('log_milestone', { task_id, message: 'Late' })
  })

  test('an attempt at another task is refused', async () => {
    const { project, attempt_id } = await openTask()
    const other = await project.call('start_task', { name: 'b', goal: 'g' })
    const mixed = { task_id: other.task_id, message: 'm', attempt_id }
    expect(await project.refused('log_milestone', mixed)).toMatchObject({
      code: 'CONFLICT',
      reason: 'attempt_of_other_task',
    })
  })
})
