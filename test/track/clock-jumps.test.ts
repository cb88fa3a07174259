import { expect, test } from 'vitest'
import { agentActor, openProject, person, type TestProject } from '../support/project.ts'

const hour = 3_600_000
const year = 365 * 24

async function startTask(project: TestProject): Promise<string> {
  const mission = { name: 'Clock', objective: 'Keep order', scope: 'src/**' }
  const { mission_id } = await project.call('start_mission', mission)
  const { task_id } = await project.call('start_task', { mission_id, name: 'Build', areas: ['src/**'] })
  return task_id
}

test.each([-1, 1, -year, year])(
  'keeps order, measurement and reasons when the clock jumps by %d hours and back',
  async (hours) => {
    const project = await openProject()
    const task_id = await startTask(project)
    project.wait(hours * hour)
    project.write('src/api.ts', 'export const api = "after a jump"\n')
    await project.call('log_milestone', { task_id, message: 'Half', progress: 50 })
    project.wait(-hours * hour)
    const outcome = { summary: 'Built.' }
    const done = await project.call('complete_task', { task_id, status: 'success', outcome })
    expect(done).toMatchObject({
      measurement: 'exact',
      details: [{ path: 'src/api.ts', attribution: 'certain' }],
    })
    expect(done.duration_seconds).toBeGreaterThanOrEqual(0)
    const { events } = await project.call('log', {}, { actor: person })
    const places = events.map(({ seq }: { readonly seq: number }) => seq)
    expect(places).toEqual(places.toSorted((a: number, b: number) => a - b))
    const kinds = events.map(({ kind }: { readonly kind: string }) => kind)
    expect(kinds.indexOf('mission.started')).toBeLessThan(kinds.indexOf('progress.logged'))
    expect(kinds.indexOf('progress.logged')).toBeLessThan(
      kinds.findLastIndex((kind: string) => /^(task|attempt)\./.test(kind)),
    )
    const why = await project.call('why', { location: 'src/api.ts:1' }, { actor: person })
    expect(JSON.stringify(why)).toContain(task_id)
  },
)

test.each([-year, -1])(
  'ends no attempt, and asks nothing, in a task that ends %d hours after its start',
  async (hours) => {
    const project = await openProject()
    const task_id = await startTask(project)
    project.wait(hours * hour)
    project.write('src/api.ts', 'export const api = 3\n')
    const outcome = { summary: 'Built.' }
    const done = await project.call('complete_task', { task_id, status: 'success', outcome })
    expect(done.measurement).toBe('exact')
    expect(done.duration_seconds).toBeGreaterThanOrEqual(0)
    expect((await project.call('inbox', {}, { actor: person })).items).toEqual([])
  },
)

const minute = 60_000

async function planned(): Promise<TestProject> {
  const project = await openProject()
  await project.call('taskman_phase_add', { id: 'P1', name: 'One' })
  await project.call('taskman_task_add', { title: 'Work', phase: 'P1' })
  return project
}

test('gives a claimed task to nobody else when the clock goes back a little, and to the next one after its lease', async () => {
  const project = await planned()
  const claim = () => project.call('taskman_task_next', { claim: true })
  const first = await claim()
  project.wait(-20 * minute)
  expect(await claim()).toMatchObject({ task: null })
  project.wait(51 * minute)
  const second = await claim()
  expect(second.task.id).toBe(first.task.id)
  expect(second.claim.token).not.toBe(first.claim.token)
})

test('a claim that was taken while the clock was ahead is over once it is right again', async () => {
  const project = await planned()
  const claim = () => project.call('taskman_task_next', { claim: true })
  project.wait(year * hour)
  const first = await claim()
  project.wait(-year * hour)
  const { tasks } = await project.call('taskman_task_list', { ready: true })
  expect(tasks.map(({ id }: { readonly id: string }) => id)).toEqual([first.task.id])
  const got = await project.call('taskman_task_get', { id: first.task.id })
  expect(got).toMatchObject({ status: 'to_do', claimed_by: null })
  const begin = { planned_task_id: first.task.id, claim_token: first.claim.token }
  expect(await project.refused('start_task', begin)).toMatchObject({
    code: 'CONFLICT',
    reason: 'claim_ended',
  })
  const second = await claim()
  expect(second.task.id).toBe(first.task.id)
  expect(second.claim.token).not.toBe(first.claim.token)
  project.wait(20 * minute)
  expect(await claim()).toMatchObject({ task: null })
})

test('an attempt that called last while the clock was ahead is stale once it is right again', async () => {
  const project = await openProject()
  project.wait(year * hour)
  const task_id = await startTask(project)
  project.wait(-year * hour)
  expect((await project.call('inbox', {}, { actor: person })).items).toMatchObject([
    { kind: 'stale_attempt', task_id },
  ])
  const other = { ...agentActor, name: 'another-agent' }
  const again = { planned_task_id: task_id, agent_name: 'other', take_over: true }
  expect(await project.call('start_task', again, { actor: other })).toMatchObject({ task_id })
})
