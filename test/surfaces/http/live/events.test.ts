import { expect, onTestFinished, test } from 'vitest'
import { type Answer, openProject, person, type TestProject } from '../../../support/project.ts'
import { LiveClient } from './live-client.ts'
import { openLiveServer } from './live-server.ts'

interface Watched {
  readonly project: TestProject
  readonly client: LiveClient
  /** The frames of what was recorded since the last time, a call included. */
  readonly heard: (work: () => Promise<unknown>) => Promise<readonly Answer[]>
}

async function watched(): Promise<Watched> {
  const project = await openProject()
  const server = await openLiveServer(project.context)
  const client = new LiveClient(server.port)
  onTestFinished(async () => {
    client.end()
    await server.close()
  })
  await client.hello()
  let calls = 0
  let told = 0
  return {
    project,
    client,
    async heard(work) {
      await work()
      calls += 1
      const role = `end-of-call-${calls}`
      await project.call('role_add', { role }, { actor: person })
      const isEnd = ({ event, data }: Answer) => event === 'role:created' && data.role === role
      await client.until(() => client.events.some(isEnd))
      const before = told
      const end = client.events.findIndex(isEnd)
      told = end + 1
      return client.events.slice(before, end)
    },
  }
}

const events = (frames: readonly Answer[]) => frames.map(({ event }) => event)

const done = { status: 'success', outcome: { summary: 'Done.', achievements: [], limitations: [] } }

test('[MC2-133] [MC2-134] start_mission is told to who watches, as the mission is afterwards and by whom', async () => {
  const { heard, client, project } = await watched()
  const frames = await heard(() => project.call('start_mission', { name: 'Auth', objective: 'Log in' }))
  expect(events(frames)).toEqual(['project:created', 'mission:created'])
  expect(Object.keys(frames[1])).toEqual(['seq', 'n', 'event', 'happened_at', 'actor', 'data'])
  expect(frames[1]).toMatchObject({
    seq: 2,
    n: 0,
    actor: { name: 'test-agent', kind: 'agent', role: null, channel: 'stdio' },
    data: { name: 'Auth', objective: 'Log in', status: 'PENDING', current_phase: 1 },
  })
  const { missions } = await project.call('list_missions')
  expect(frames[1].data).toEqual(missions[0])
  expect(client.frames[0]).toEqual({ event: 'hello', seq: 0, project: 'tree', version: '1.2.3' })
})

test('[MC2-136] [MC2-138] the first task of a phase tells of the phase, then of the task', async () => {
  const { heard, project } = await watched()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const phase = { mission_id, phase: 1, phase_name: 'Build' }
  const first = await heard(() => project.call('start_task', { ...phase, name: 'Form', goal: 'A form' }))
  expect(events(first)).toEqual([
    'project:created',
    'mission:created',
    'phase:created',
    'mission:updated',
    'task:created',
    'task:updated',
    'mission:updated',
  ])
  expect(first[2].data).toMatchObject({ name: 'Build', mission_id, phase_number: 1 })
  expect(first[4].data).toMatchObject({
    title: 'Form',
    mission_id,
    status: 'in_progress',
    outcome: 'IN_PROGRESS',
    attempt: { number: 1, status: 'open', files_changed: null },
  })
  expect(first[5]).toMatchObject({ seq: first[6].seq, n: 0 })
  expect(first[6]).toMatchObject({ n: 1, data: { mission_id, status: 'IN_PROGRESS', open_tasks: 1 } })
  const second = await heard(() => project.call('start_task', { ...phase, name: 'Page', goal: 'A page' }))
  expect(events(second)).toEqual(['task:created', 'task:updated', 'mission:updated'])
})

test('[MC2-099] [MC2-135] [MC2-137] [MC2-139] complete_task tells of its task, its phase and its mission, in this order', async () => {
  const { heard, project } = await watched()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const task = { mission_id, phase: 1, name: 'Form', goal: 'A form' }
  const { task_id } = await project.call('start_task', task)
  const other = await project.call('start_task', { ...task, name: 'Page' })
  await heard(async () => undefined)
  project.write('src/form.ts', 'export const form = 1\n')
  const within = await heard(() => project.call('complete_task', { task_id: other.task_id, ...done }))
  expect(within.map(({ event, n }) => [event, n])).toEqual([
    ['lines:touched', 0],
    ['task:updated', 0],
    ['mission:updated', 1],
  ])
  const last = await heard(() => project.call('complete_task', { task_id, ...done, phase_complete: true }))
  expect(last.map(({ event, n }) => [event, n])).toEqual([
    ['task:updated', 0],
    ['phase:updated', 0],
    ['mission:updated', 1],
  ])
  expect(last[0].data).toMatchObject({
    id: task_id,
    status: 'done',
    outcome: 'SUCCESS',
    attempt: { status: 'success', files_changed: { added: 1 }, scope_match: null },
  })
  expect(last[1].data).toMatchObject({ status: 'done', phase_number: 1 })
  expect(last[2].data).toMatchObject({ mission_id, current_phase: 2, open_tasks: 0, done_tasks: 2 })
  const ended = await heard(() =>
    project.call('complete_mission', {
      mission_id,
      status: 'completed',
      summary: 'Works.',
      achievements: [],
      limitations: [],
    }),
  )
  expect(events(ended)).toEqual(['mission:updated'])
  expect(ended[0].data).toMatchObject({ mission_id, status: 'COMPLETED' })
})

test('[MC2-140] [MC2-141] a workflow is told of under its own name, and again when a task of it changes its status', async () => {
  const { heard, project } = await watched()
  const plan = [
    { step: '1', goal: 'Install' },
    { step: '2', goal: 'Configure' },
  ]
  let steps: Answer
  const begun = await heard(async () => {
    steps = await project.call('start_workflow', { name: 'Migrate', plan })
  })
  expect(events(begun)).toEqual(['project:created', 'workflow:created', 'task:created', 'task:created'])
  const [first, second] = steps.planned_tasks
  const started = await heard(() => project.call('start_task', { planned_task_id: first.task_id }))
  expect(events(started)).toEqual(['task:updated', 'workflow:updated'])
  const completed = await heard(() => project.call('complete_task', { task_id: first.task_id, ...done }))
  expect(events(completed)).toEqual(['task:updated', 'workflow:updated'])
  expect(completed[1].data).toMatchObject({ kind: 'workflow', done_tasks: 1 })
  const dropped = await heard(() =>
    project.call('task_drop', { id: second.task_id, reason: 'Not needed.' }, { actor: person }),
  )
  expect(events(dropped).slice(0, 2)).toEqual(['task:updated', 'workflow:updated'])
})

test('what agents say is told, and a blocker from its opening to its answer', async () => {
  const { heard, project } = await watched()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Form', goal: 'A form' })
  await heard(async () => undefined)
  const said = await heard(async () => {
    await project.call('log_decision', {
      task_id,
      category: 'other',
      question: 'Which?',
      options_considered: ['a', 'b'],
      chosen: 'a',
      reasoning: 'Smaller.',
    })
    await project.call('log_milestone', { task_id, message: 'Half way', progress: 50 })
  })
  expect(said.map(({ event, data }) => [event, data.task_id, data.mission_id])).toEqual([
    ['decision:created', task_id, mission_id],
    ['progress:created', task_id, mission_id],
  ])
  const issue = { task_id, type: 'other', description: 'No key.', resolution: 'Mocked it.' }
  const blocked = await heard(() => project.call('log_issue', { ...issue, requires_human_review: true }))
  expect(events(blocked)).toEqual(['issue:created', 'mission:updated', 'inbox:opened'])
  expect(blocked[1].data.open_blockers).toBe(1)
  const { item_id } = blocked[2].data
  expect(blocked[2].data).toMatchObject({ kind: 'blocker', status: 'open', workaround: 'Mocked it.' })
  const answered = await heard(() =>
    project.call('resolve', { id: item_id, answer: 'Here it is.' }, { actor: person }),
  )
  expect(events(answered)).toEqual(['inbox:closed', 'issue:resolved', 'mission:updated'])
  expect(answered[0]).toMatchObject({ actor: { name: 'Tess', kind: 'person', channel: 'cli' } })
  expect(answered[1].data).toMatchObject({
    description: 'No key.',
    resolved: { closed_by: 'Tess', answer: 'Here it is.' },
  })
})

test('the plan is told of in the shapes of its own operations', async () => {
  const { heard, project } = await watched()
  const frames = await heard(async () => {
    await project.call('taskman_phase_add', { id: 'P1', name: 'Design' })
    await project.call('taskman_milestone_add', { id: 'M1', phase: 'P1', name: 'Drawn', criterion: 'Seen' })
    await project.call('taskman_task_add', { phase: 'P1', title: 'Draw' })
    await project.call('role_add', { role: 'translator' }, { actor: person })
  })
  expect(events(frames)).toEqual([
    'project:created',
    'phase:created',
    'milestone:created',
    'task:created',
    'role:created',
  ])
  const { id } = frames[3].data
  const shown = await project.call('taskman_task_get', { id })
  expect(frames[3].data).toMatchObject(shown)
  const claimed = await heard(() => project.call('taskman_task_next', { claim: true }))
  expect(events(claimed)).toEqual(['task:claimed'])
  expect(claimed[0].data).toMatchObject({ id, claimed_by: 'test-agent' })
  const rest = await heard(async () => {
    await project.call('taskman_task_note_add', { id, content: 'Blue' })
    await project.call('taskman_task_edit', { id, status: 'to_do' })
    await project.call('taskman_task_edit', { id, status: 'done' })
    await project.call('taskman_milestone_edit', { id: 'M1', reached: true })
    await project.call('taskman_phase_edit', { id: 'P1', status: 'done' })
  })
  expect(events(rest)).toEqual([
    'note:created',
    'task:updated',
    'task:updated',
    'milestone:updated',
    'phase:updated',
  ])
})
