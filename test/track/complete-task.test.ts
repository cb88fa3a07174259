import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { staleAfter } from '../../src/track/domain/task.ts'
import { openProject, type TestProject, wrongFields } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 'Done.' } }

async function started(project: TestProject, input: object = {}): Promise<string> {
  return (await project.call('start_task', { name: 'a', goal: 'g', ...input })).task_id
}

test('MC2-095 MC2-094 MC2-073 MC2-074 the seed’s example: committed and uncommitted edits, once each', async () => {
  const project = await openProject()
  project.write('config.ts', '1\n')
  project.write('database.ts', '1\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'More')
  const task_id = await started(project)
  project.write('src/auth.ts', '2\n')
  project.write('database.ts', '2\n')
  project.git('commit', '-qam', 'Work')
  project.write('config.ts', '2\n')
  const answer = await project.call('complete_task', { task_id, ...done })
  expect(answer.files_changed).toEqual({
    added: [],
    modified: ['config.ts', 'database.ts', 'src/auth.ts'],
    deleted: [],
    renamed: [],
  })
  expect(answer.measurement).toBe('exact')
})

test('MC1-021 MC2-089 each file is in one list, by what became of it; a rename is in its own', async () => {
  const project = await openProject()
  const task_id = await started(project)
  project.write('new.ts', 'export {}\n')
  project.write('src/auth.ts', 'export const auth = 2\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'Work')
  project.write('src/auth.ts', 'export const auth = 3\n')
  project.git('mv', 'utils.ts', 'tools.ts')
  project.remove('src/api.ts')
  const answer = await project.call('complete_task', { task_id, ...done })
  expect(answer.files_changed).toEqual({
    added: ['new.ts'],
    modified: ['src/auth.ts'],
    deleted: ['src/api.ts'],
    renamed: [{ from: 'utils.ts', to: 'tools.ts' }],
  })
  expect(answer.counts).toEqual({ added: 1, modified: 1, deleted: 1, renamed: 1 })
  const detail = answer.details.find(({ path }: { path: string }) => path === 'src/auth.ts')
  expect(detail).toMatchObject({ origin: 'task', attribution: 'certain', added_lines: 1, deleted_lines: 1 })
})

describe('scope', () => {
  test('MC1-022 MC1-023 MC1-024 MC2-091 MC2-092 files outside the areas are named, with the seed’s warning', async () => {
    const project = await openProject()
    const task_id = await started(project, { areas: ['auth', 'api'] })
    for (const path of ['src/auth.ts', 'src/api.ts', 'utils.ts']) project.write(path, 'changed\n')
    const { verification } = await project.call('complete_task', { task_id, ...done })
    expect(verification.scope_match).toBe(false)
    expect(verification.unexpected_files).toEqual(['utils.ts'])
    expect(verification.warnings).toContain('⚠️ 1 file(s) modified outside declared scope (auth, api)')
  })

  test('MC2-090 all files inside the areas match; nothing is unexpected', async () => {
    const project = await openProject()
    const task_id = await started(project, { areas: ['auth'] })
    project.write('src/auth.ts', 'changed\n')
    const { verification } = await project.call('complete_task', { task_id, ...done })
    expect(verification).toMatchObject({ scope_match: true, unexpected_files: [], warnings: [] })
  })

  test('without areas there is no verdict', async () => {
    const project = await openProject()
    const task_id = await started(project)
    project.write('src/auth.ts', 'changed\n')
    const { verification } = await project.call('complete_task', { task_id, ...done })
    expect(verification.scope_match).toBeNull()
  })
})

test('MC2-088 MC1-020 the answer of a task without phase', async () => {
  const project = await openProject()
  const { workflow_id } = await project.call('start_workflow', { name: 'w' })
  const task_id = await started(project, { workflow_id })
  project.wait(1_247_000)
  const answer = await project.call('complete_task', { task_id, ...done })
  expect(answer).toMatchObject({ task_id, phase_status: null, phase_number: null })
  expect(answer.duration_seconds).toBeGreaterThanOrEqual(1247)
  expect(answer.duration_seconds).toBeLessThan(1300)
})

describe('phases', () => {
  test('MC2-087 MC2-093 MC2-096 MC2-097 MC2-098 phase_complete completes the phase and moves the mission on', async () => {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b' })
    const task_id = await started(project, { mission_id, phase: 1 })
    const context = () => project.call('get_context', { mission_id, include: ['phase_summary'] })
    expect((await context()).current_phase).toBe(1)
    const answer = await project.call('complete_task', { task_id, ...done, phase_complete: true })
    expect(answer).toMatchObject({ phase_status: 'completed', phase_number: 1 })
    expect(await context()).toMatchObject({ current_phase: 2, phase_summary: [{ status: 'COMPLETED' }] })
    const events = await project.call('log', { limit: 5 })
    const kinds = events.events.map(({ kind }: { kind: string }) => kind)
    expect(kinds.slice(-2)).toEqual(['attempt.closed', 'phase.completed'])
    const phase = await project.context.store.view(async ({ missions }) => missions.phases(mission_id))
    expect(phase[0]?.completedAt).toBe(Date.parse(answer.completed_at))
  })

  test('without it the phase goes on', async () => {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b' })
    const task_id = await started(project, { mission_id })
    expect(await project.call('complete_task', { task_id, ...done })).toMatchObject({
      phase_status: 'in_progress',
    })
  })
})

describe('what the agent says is kept as its claim', () => {
  test('MC2-076 MC2-077 MC2-078 MC2-081 MC2-127 outcome and metadata come back from the record', async () => {
    const project = await openProject()
    const task_id = await started(project)
    await project.call('complete_task', {
      task_id,
      status: 'success',
      outcome: {
        summary: 'JWT middleware created and tested successfully',
        achievements: ['Middleware verifies JWT signature', 'Tests pass (100% coverage)'],
        limitations: ['Refresh tokens not implemented (future feature)'],
        next_steps: ['Refresh tokens'],
      },
      metadata: { packages_added: ['jsonwebtoken', '@types/jsonwebtoken'], tests_status: 'passed' },
    })
    const { attempts } = await project.call('show', { id: task_id })
    expect(attempts[0].claimed).toMatchObject({
      summary: 'JWT middleware created and tested successfully',
      achievements: ['Middleware verifies JWT signature', 'Tests pass (100% coverage)'],
      limitations: ['Refresh tokens not implemented (future feature)'],
      next_steps: ['Refresh tokens'],
      packages_added: ['jsonwebtoken', '@types/jsonwebtoken'],
      tests_status: 'passed',
    })
  })

  test('MC2-082 MC2-083 MC2-084 MC2-085 MC2-086 MC1-019 every field of metadata is optional and kept', async () => {
    const project = await openProject()
    const metadata = {
      packages_added: ['a'],
      packages_removed: ['b'],
      commands_executed: ['npm test'],
      tests_status: 'not_run',
      tokens_input: 1200,
      tokens_output: 80,
    }
    const task_id = await started(project)
    await project.call('complete_task', { task_id, ...done, metadata })
    expect((await project.call('show', { id: task_id })).attempts[0].claimed).toMatchObject(metadata)
    for (const field of Object.keys(metadata)) {
      const other = await started(project)
      const one = { [field]: metadata[field as keyof typeof metadata] }
      await project.call('complete_task', { task_id: other, ...done, metadata: one })
      expect((await project.call('show', { id: other })).attempts[0].claimed).toMatchObject(one)
    }
    const bad = { task_id: await started(project), ...done, metadata: { tests_status: 'green' } }
    expect(await project.refused('complete_task', bad)).toMatchObject(wrongFields('metadata.tests_status'))
  })

  test('MC1-035 empty lists are fine', async () => {
    const project = await openProject()
    const task_id = await started(project)
    const outcome = { summary: 's', achievements: [], limitations: [] }
    await project.call('complete_task', { task_id, status: 'success', outcome })
    expect((await project.call('show', { id: task_id })).attempts[0].claimed).toMatchObject(outcome)
  })

  test('MC2-079 MC2-080 a review asked for waits for a person, with its reason', async () => {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b' })
    const task_id = await started(project, { mission_id })
    const outcome = { summary: 's', manual_review_needed: true, manual_review_reason: 'Check the flags.' }
    await project.call('complete_task', { task_id, status: 'partial_success', outcome })
    const { blockers } = await project.call('get_context', { mission_id, include: ['blockers'] })
    expect(blockers).toMatchObject([{ type: 'REVIEW', description: 'Check the flags.', task_id }])
  })
})

describe('MC2-075 MC1-030 the three outcomes', () => {
  test.each([
    ['success', 'SUCCESS'],
    ['partial_success', 'PARTIAL_SUCCESS'],
    ['failed', 'FAILED'],
  ])('%s is shown as %s', async (status, shown) => {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b' })
    const task_id = await started(project, { mission_id })
    await project.call('complete_task', { task_id, status, outcome: { summary: 's' } })
    const { tasks } = await project.call('get_context', { mission_id, include: ['tasks'] })
    expect(tasks).toMatchObject([{ status: shown }])
  })

  test('a failed task can be tried again, with its history', async () => {
    const project = await openProject()
    const task_id = await started(project)
    await project.call('complete_task', { task_id, status: 'failed', outcome: { summary: 'No luck' } })
    const again = await project.call('start_task', { planned_task_id: task_id })
    expect(again.task_id).toBe(task_id)
    const { attempts } = await project.call('show', { id: task_id })
    expect(attempts).toMatchObject([
      { number: 1, status: 'failed' },
      { number: 2, status: 'open' },
    ])
  })
})

describe('completing twice', () => {
  test('with the same words answers the same again', async () => {
    const project = await openProject()
    const task_id = await started(project)
    project.write('utils.ts', 'changed\n')
    const first = await project.call('complete_task', { task_id, ...done })
    project.write('later.ts', 'not its work\n')
    expect(await project.call('complete_task', { task_id, ...done })).toEqual({
      ...first,
      already_completed: true,
    })
  })

  test('with other words is refused, and the record stays', async () => {
    const project = await openProject()
    const task_id = await started(project)
    await project.call('complete_task', { task_id, ...done })
    const other = { task_id, status: 'failed', outcome: { summary: 'No' } }
    expect(await project.refused('complete_task', other)).toMatchObject({
      code: 'CONFLICT',
      reason: 'attempt_already_completed',
      fix: { operation: 'complete_task', input: { task_id } },
    })
  })

  test('after it failed, or was abandoned, is refused with the call that begins anew', async () => {
    const project = await openProject()
    const task_id = await started(project)
    const fix = { operation: 'start_task', input: { planned_task_id: task_id } }
    await project.call('complete_task', { task_id, ...done, status: 'failed' })
    expect(await project.refused('complete_task', { task_id, ...done })).toMatchObject({
      reason: 'attempt_already_completed',
      fix,
    })
    await project.call('start_task', { planned_task_id: task_id, agent_name: 'first' })
    project.wait(staleAfter)
    await project.call('start_task', { planned_task_id: task_id, agent_name: 'second', take_over: true })
    await project.call('complete_task', { task_id, ...done, status: 'failed', outcome: { summary: 'No' } })
    const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
    await project.call('start_task', { planned_task_id: task_id, mission_id })
    await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
    expect(await project.refused('complete_task', { task_id, ...done })).toMatchObject({
      reason: 'attempt_abandoned',
      fix,
    })
  })

  test('with a file that only an abandoned attempt left proves nothing about it', async () => {
    const project = await openProject()
    const start = { name: 'Limit', goal: 'g', agent_name: 'first' }
    const { task_id } = await project.call('start_task', start)
    project.write('src/limit.ts', 'export const limit = 5\n')
    project.wait(staleAfter)
    await project.call('start_task', { planned_task_id: task_id, agent_name: 'second', take_over: true })
    const outcome = { summary: 'Added src/limit.ts.' }
    const { verdict } = await project.call('complete_task', { task_id, status: 'success', outcome })
    expect(verdict.reasons).toContainEqual(
      expect.objectContaining({ rule: 'claimed_not_own', paths: ['src/limit.ts'] }),
    )
  })

  test('while the end cannot be recorded is refused, and works once that is mended', async () => {
    const project = await openProject()
    const task_id = await started(project)
    const { stateFolder } = project.context.program
    await project.context.witness.settle()
    renameSync(stateFolder, `${stateFolder}-away`)
    writeFileSync(stateFolder, '')
    expect(await project.refused('complete_task', { task_id, ...done })).toMatchObject({
      code: 'REFUSED',
      reason: 'snapshots_not_writable',
    })
    rmSync(stateFolder)
    renameSync(`${stateFolder}-away`, stateFolder)
    const answer = await project.call('complete_task', { task_id, ...done })
    expect(answer.measurement).toBe('exact')
  })

  test('at once by two callers is recorded once', async () => {
    const project = await openProject()
    const task_id = await started(project)
    const both = await Promise.all([1, 2].map(() => project.call('complete_task', { task_id, ...done })))
    expect(both.filter((answer) => answer.already_completed)).toHaveLength(1)
    const { events } = await project.call('log', { limit: 100 })
    expect(events.filter(({ kind }: { kind: string }) => kind === 'attempt.closed')).toHaveLength(1)
  })
})

test('a task that was only planned cannot be completed: it has no snapshot to measure from', async () => {
  const project = await openProject()
  const { planned_tasks } = await project.call('start_workflow', {
    name: 'w',
    plan: [{ step: '1', goal: 'g' }],
  })
  const { task_id } = planned_tasks[0]
  expect(await project.refused('complete_task', { task_id, ...done })).toMatchObject({
    reason: 'task_not_started',
    fix: { operation: 'start_task', input: { planned_task_id: task_id } },
  })
})

test('open subtasks refuse the completion of their parent', async () => {
  const project = await openProject()
  const parent_task_id = await started(project)
  const child = await started(project, { parent_task_id })
  expect(await project.refused('complete_task', { task_id: parent_task_id, ...done })).toMatchObject({
    reason: 'subtasks_open',
    fix: { operation: 'complete_task', input: { task_id: child } },
  })
  await project.call('complete_task', { task_id: child, ...done })
  await project.call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const planned = await project.call('taskman_task_add', { title: 'Planned', phase: 'P1' })
  await project.call('start_task', { planned_task_id: planned.id, parent_task_id })
  expect(await project.refused('complete_task', { task_id: parent_task_id, ...done })).toMatchObject({
    reason: 'subtasks_open',
    fix: { operation: 'complete_task', input: { task_id: planned.id } },
  })
  await project.call('complete_task', { task_id: planned.id, status: 'failed', outcome: { summary: 'No.' } })
  await project.call('complete_task', { task_id: parent_task_id, ...done })
})

test('a report that cannot be measured is unknown, never "no changes"', async () => {
  const project = await openProject()
  const task_id = await started(project, { areas: ['auth'] })
  const attempt = await project.context.store.view(async ({ tasks }) => tasks.openAttempt(task_id as never))
  project.remove(`../state/snapshots`)
  expect(attempt).not.toBeNull()
  const { measurement, verification } = await project.call('complete_task', { task_id, ...done })
  expect(measurement).toBe('unknown')
  expect(verification.scope_match).toBeNull()
  expect(verification.warnings.length).toBeGreaterThan(0)
})
