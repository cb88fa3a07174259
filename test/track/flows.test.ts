import { expect, test } from 'vitest'
import { openStdioProject } from '../support/stdio-project.ts'

/** The seeds' flows as they are written there, by an MCP client over stdio, on a real repository. */

test('MC1-026 MC1-027 the simple workflow: one task, its changes and its verdict come back by themselves', async () => {
  const { call, write } = await openStdioProject({ 'package.json': '{}\n' })
  const { workflow_id } = await call('start_workflow', {
    name: 'Add authentication',
    description: 'Implement JWT-based authentication',
  })
  const { task_id } = await call('start_task', {
    workflow_id,
    name: 'Setup JWT middleware',
    goal: 'Create middleware to verify JWT tokens',
    areas: ['auth', 'middleware'],
  })
  await call('log_decision', {
    task_id,
    category: 'library_choice',
    question: 'Quelle librairie JWT ?',
    options_considered: ['jsonwebtoken', 'jose'],
    chosen: 'jsonwebtoken',
    reasoning: 'Plus mature et documenté',
  })
  write('package.json', '{ "dependencies": { "jsonwebtoken": "9" } }\n')
  write('src/middleware/auth.ts', 'export {}\n')
  write('tests/auth.test.ts', 'export {}\n')
  await call('log_milestone', { task_id, message: 'Installing jsonwebtoken...', progress: 50 })
  const done = await call('complete_task', {
    task_id,
    status: 'success',
    outcome: {
      summary: 'JWT middleware créé et testé avec succès',
      achievements: ['Middleware vérifie signature JWT', 'Tests passent (100% coverage)'],
      limitations: ['Refresh tokens non implémentés (feature future)'],
    },
    metadata: {
      packages_added: ['jsonwebtoken', '@types/jsonwebtoken'],
      commands_executed: ['npm install jsonwebtoken', 'npm test'],
      tests_status: 'passed',
    },
  })
  expect(done.duration_seconds).toBeGreaterThanOrEqual(0)
  expect(done.files_changed).toMatchObject({
    added: ['src/middleware/auth.ts', 'tests/auth.test.ts'],
    modified: ['package.json'],
  })
  expect(done).toMatchObject({
    measurement: 'exact',
    verification: { scope_match: true, unexpected_files: [] },
  })
})

test('MC1-028 MC1-029 the hierarchical workflow: a task and two subtasks, one after the other', async () => {
  const { call, resource } = await openStdioProject({})
  const { workflow_id } = await call('start_workflow', { name: 'Full auth system' })
  const main = await call('start_task', { workflow_id, name: 'Implement authentication' })
  const done = { status: 'success', outcome: { summary: 'Done' } }
  for (const name of ['Setup JWT middleware', 'Create login route']) {
    const { task_id } = await call('start_task', { workflow_id, parent_task_id: main.task_id, name })
    await call('complete_task', { task_id, ...done })
    expect(await resource(`waymark://tasks/${task_id}`)).toMatchObject({ parent_task_id: main.task_id, name })
  }
  await call('complete_task', { task_id: main.task_id, ...done })
  expect(await resource(`waymark://missions/${workflow_id}`)).toMatchObject({
    status: 'COMPLETED',
    tasks_total: 3,
  })
})

test('MC2-126 MC2-002 the mission flow: phase 1 is made, completed, phase 2 follows, the mission ends', async () => {
  const { call, write } = await openStdioProject({})
  const { mission_id } = await call('start_mission', {
    name: 'Auth System',
    objective: 'Implement JWT authentication',
    profile: 'standard',
  })
  const first = await call('start_task', {
    mission_id,
    phase: 1,
    phase_name: 'Setup',
    caller_type: 'orchestrator',
    name: 'Setup JWT middleware',
    goal: 'Create middleware to verify JWT tokens',
    areas: ['auth', 'middleware'],
  })
  expect(first).toMatchObject({ phase_created: true, caller_type: 'orchestrator' })
  await call('log_decision', {
    task_id: first.task_id,
    category: 'library_choice',
    question: 'Which JWT library?',
    options_considered: ['jsonwebtoken', 'jose'],
    chosen: 'jsonwebtoken',
    reasoning: 'More mature and documented',
  })
  await call('log_milestone', { task_id: first.task_id, message: 'Installing dependencies...', progress: 50 })
  write('src/middleware.ts', 'export {}\n')
  const setup = await call('complete_task', {
    task_id: first.task_id,
    status: 'success',
    outcome: {
      summary: 'JWT middleware created and tested successfully',
      achievements: ['Middleware verifies JWT signature', 'Tests pass (100% coverage)'],
      limitations: ['Refresh tokens not implemented (future feature)'],
    },
    metadata: { packages_added: ['jsonwebtoken', '@types/jsonwebtoken'], tests_status: 'passed' },
    phase_complete: true,
  })
  expect(setup).toMatchObject({ phase_status: 'completed', phase_number: 1 })
  const second = await call('start_task', {
    mission_id,
    phase: 2,
    caller_type: 'subagent',
    agent_name: 'feature-implementer',
    name: 'Implement the routes',
    goal: 'Log in and out',
    areas: ['auth'],
  })
  await call('complete_task', { task_id: second.task_id, status: 'success', outcome: { summary: 'Done' } })
  const ended = await call('complete_mission', {
    mission_id,
    status: 'completed',
    summary: 'Auth system fully implemented',
    achievements: ['JWT auth', 'Role-based access', 'Token refresh'],
    limitations: ['OAuth deferred to next sprint'],
  })
  expect(ended.metrics).toMatchObject({ total_tasks: 2, files_changed: 1 })
  const { mission_status, phase_summary } = await call('get_context', {
    mission_id,
    include: ['phase_summary'],
  })
  expect(mission_status).toBe('COMPLETED')
  expect(phase_summary).toMatchObject([{ name: 'Setup', status: 'COMPLETED' }, { phase_number: 2 }])
})
