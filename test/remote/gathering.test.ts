import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { type MeasuringContext, measureLocally } from '../../src/remote/machine/measure.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { type Answer, openProject, person } from '../support/project.ts'
import { throughMachine } from '../support/through-machine.ts'

const checked = `process: { dialect: 1, id: checked, version: "1.0.0", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work, prompt: Work. }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
artifacts: [{ type: paper, paths: ["papers/*.md"] }]
transitions:
  - { from: work, event: finish, to: done, guard: { all: [tests, paper] } }
guards:
  tests: { type: command, run: "cat src/auth.ts", timeout: 20s }
  paper: { type: artifact, artifact_type: paper, condition: exists }
`

test('no operation looks at the files of the server for a caller on another machine', async () => {
  const project = await openProject({ isOnMachine: true })
  project.write('.waymark/processes/checked.yaml', checked)
  project.write('plan.md', '# Plan\n\n- [ ] First\n- [ ] Second\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'A process')
  const used = new Set<string>()
  const call = (
    name: string,
    input: object = {},
    options: { actor?: typeof person } = {},
  ): Promise<Answer> => {
    used.add(name)
    return project.call(name, input, options)
  }
  const refused = async (name: string, input: object = {}, options: { actor?: typeof person } = {}) => {
    used.add(name)
    return project.refused(name, input, options)
  }
  const asPerson = { actor: person }

  const mission = await call('start_mission', { name: 'M', objective: 'It works' })
  const id = mission.mission_id
  const first = await call('start_task', { mission_id: id, name: 'A', goal: 'g', areas: ['src/'] })
  const second = await call('start_task', { mission_id: id, name: 'B', goal: 'g', areas: ['src/auth.ts'] })
  expect(second.warnings.join(' ')).toContain('Overlapping areas')
  project.write('src/auth.ts', 'export const auth = 2\n')
  project.write('papers/one.md', '# One\n')
  expect((await call('changes', { id: first.task_id })).total).toBeGreaterThan(0)
  expect((await call('diff', { id: first.task_id })).diff).toContain('auth = 2')
  await call('complete_task', {
    task_id: first.task_id,
    status: 'success',
    outcome: { summary: 'Changed src/auth.ts.' },
    preview: true,
  })
  const ended = await call('complete_task', {
    task_id: first.task_id,
    status: 'success',
    outcome: { summary: 'Changed src/auth.ts.' },
  })
  expect(ended.files_changed.modified).toEqual(['src/auth.ts'])
  await call('complete_task', {
    task_id: second.task_id,
    status: 'failed',
    outcome: { summary: 'Nothing.' },
  })
  await call('diff', { id })

  const run = await call('state_gate_create_run', { process_id: 'checked', mission_id: id })
  const runId = run.run_id
  await call('state_gate_get_state', { run_id: runId })
  await call('verify', { run_id: runId })
  const { items }: Answer = await call('inbox', {}, asPerson)
  const item = items.find(({ kind }: Answer) => kind === 'command')
  await refused('approve', { id: item.item_id, content: 'abcdefabcdef' }, asPerson)
  await call('approve', { id: item.item_id }, asPerson)
  await call('command_list', {}, asPerson)
  const moved = await call('state_gate_emit_event', {
    run_id: runId,
    event_name: 'finish',
    expected_revision: (await call('state_gate_get_state', { run_id: runId })).revision,
    idempotency_key: 'once',
    artifact_paths: ['papers/one.md'],
  })
  expect(moved.result).toMatchObject({ accepted: true })
  await call('show', { id: runId }, asPerson)
  await call('inbox', { include: ['evidence'] }, asPerson)
  const [approved]: Answer = (await call('command_list', {}, asPerson)).commands
  await call('command_revoke', { hash: approved.hash }, asPerson)

  await call('process_list')
  await call('process_show', { process: 'checked' })
  await call('process_lint', { process: 'checked' })
  await call('process_show', { process: 'checked', include: ['source'] })
  await call('process_simulate', { process: 'checked', events: 'finish', satisfied: ['*'] })
  await call('plan_import', { file: join(project.folder, 'plan.md') }, asPerson)
  const { tasks }: Answer = await call('taskman_task_list', {})
  const planned = tasks.find(({ title, name }: Answer) => (title ?? name) === 'First').id
  const tree = await call('worktree_add', { task_id: planned })
  expect(tree.path).toContain(planned)
  await call('worktree_list')
  await call('start_task', { planned_task_id: planned })
  await call('complete_task', {
    task_id: planned,
    status: 'success',
    outcome: { summary: 'Nothing to do.' },
  })
  await call('worktree_remove', { task_id: planned }, asPerson)
  await call('status')
  await call('doctor', {}, asPerson)
  await call('prune')
  await call('complete_mission', { mission_id: id, summary: 'Done' }).catch(() => undefined)

  const asking = catalog.filter(({ name }) => used.has(name)).map(({ name }) => name)
  expect(asking).toEqual(expect.arrayContaining(askingOutside))
})

/** Those whose handlers look at what is outside the record. */
const askingOutside = [
  'start_task',
  'complete_task',
  'state_gate_create_run',
  'state_gate_get_state',
  'state_gate_emit_event',
  'status',
  'changes',
  'diff',
  'inbox',
  'approve',
  'plan_import',
  'worktree_add',
  'worktree_list',
  'worktree_remove',
  'verify',
  'process_list',
  'process_show',
  'process_lint',
  'command_list',
  'command_revoke',
  'doctor',
  'prune',
]

test('measures at most four rounds for a start and a completion', async () => {
  const project = await openProject()
  const rounds = async (name: string, input: object) => {
    const operation = catalog.find((one) => one.name === name)
    if (!operation) throw new Error(name)
    const work = (context: Parameters<typeof invoke>[1]) => invoke(operation, context, input)
    const done = await throughMachine(project.context, name, work, { input })
    return { ...done, answer: done.answer as Answer }
  }
  const mission = await rounds('start_mission', { name: 'M', objective: 'It works' })
  expect(mission.rounds).toBe(1)
  const missionId = mission.answer.mission_id
  const started = await rounds('start_task', { mission_id: missionId, name: 'A', goal: 'g' })
  expect(started.rounds).toBe(2)
  const rival = await rounds('start_task', { mission_id: missionId, name: 'B', goal: 'g', areas: ['src/'] })
  expect(rival.rounds).toBeLessThanOrEqual(4)
  project.write('src/auth.ts', 'export const auth = 2\n')
  const ended = await rounds('complete_task', {
    task_id: started.answer.task_id,
    status: 'success',
    outcome: { summary: 'Done.' },
  })
  expect(ended.rounds).toBeLessThanOrEqual(5)
})

test('case 31: runs a command for a server only where a person at the machine approved it or trusts the server', async () => {
  const { context, folder, git } = await openProject()
  const hash = await context.commandApprovals.hashOf({ run: 'touch ran', folder, pinned: [] })
  const start = { id: 'cmd-1', run: 'touch ran', folder, pinned: [], timeout: 1_000, hash }
  const ran = async (trustsServer: boolean) => {
    const commands = new TrustedCommands({
      approvals: context.commandApprovals,
      runner: { start: async () => ({ status: 'passed', exitCode: 0, output: 'ran' }) },
      actor: context.actor,
      askPerson: null,
      trustsServer: () => trustsServer,
      now: () => 0,
    })
    const running: MeasuringContext = {
      context,
      machine: 'e-0123456789ab',
      snapshots: () => [join(context.program.stateFolder, 'snapshots')],
      commands,
      called: 'verify',
      input: {},
      named: new Set<string>(),
      written: { done: false },
      now: () => 0,
      runCommand: async (command) => {
        const { ended } = await commands.start(command)
        return { ...(await ended), tree: null, touched: null, hash: command.hash }
      },
    }
    const brief = [{ ...start, approvedThere: true }]
    const request = { operation: 'verify', asked: [{ name: 'ran', hash, brief }] }
    const [measured] = await measureLocally(request, running)
    return measured
  }
  expect((await ran(false))?.failure).toMatchObject({ reason: 'command_not_approved' })
  expect(git('status', '--short')).toBe('')
  expect((await ran(true))?.measured).toMatchObject([{ report: { status: 'passed' } }])
})

test('what files held on another machine is removed when its time is over, but for what was in use since', async () => {
  const project = await openProject({ isOnMachine: true })
  const { mission_id } = await project.call('start_mission', { name: 'M', objective: 'It works' })
  const work = async (content: string) => {
    const { task_id } = await project.call('start_task', { mission_id, name: 'A', goal: 'g' })
    project.write('src/auth.ts', content)
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
    return task_id
  }
  const first = await work('export const auth = 2\n')
  await project.call('setting_set', { name: 'retention_days', value: '90' }, { actor: person })
  const day = 24 * 60 * 60 * 1000
  project.wait(89 * day)
  expect(await project.call('prune')).toMatchObject({ removed_contents: 0 })
  await work('export const auth = 3\n')
  project.wait(2 * day)
  // What the second one began with is what the first one left.
  expect(await project.call('prune')).toMatchObject({ removed_contents: 1 })
  expect(await project.call('prune')).toMatchObject({ removed_contents: 0, removed_bytes: 0 })
  const states = await project.context.store.view(({ reviews, tasks }) =>
    tasks.lastAttempt(first).then((attempt) => reviews.filesOf(attempt ? [attempt.id] : [])),
  )
  const [[file] = []] = states.values()
  const kept = await project.context.store.view(({ reviews }) =>
    reviews.contents([file?.before?.id ?? '', file?.after?.id ?? ''], 1_000),
  )
  expect([...kept.keys()]).toEqual([file?.after?.id])
})
