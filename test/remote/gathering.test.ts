import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { measureLocally } from '../../src/remote/machine/measure.ts'
import { type PortContext, runCalls } from '../../src/remote/machine/port-runner.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { looks } from '../../src/remote/operations/looks.ts'
import { type PortCallName, portCalls } from '../../src/remote/operations/port-calls.ts'
import { type Answer, openProject, person } from '../support/project.ts'
import { throughEdge } from '../support/through-edge.ts'

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

test('every operation may be run again: it asks for nothing with a transaction open, nor after it recorded', async () => {
  const project = await openProject({ isOnEdge: true })
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
  const { holds }: Answer = await call('inbox', {}, asPerson)
  const hold = holds.find(({ kind }: Answer) => kind === 'command')
  await refused('approve', { id: hold.hold_id, content: 'abcdefabcdef' }, asPerson)
  await call('approve', { id: hold.hold_id }, asPerson)
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
  await call('tidy')
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
  'tidy',
]

test('measures at most four rounds for a start and a completion', async () => {
  const project = await openProject()
  const rounds = async (name: string, input: object) => {
    const operation = catalog.find((one) => one.name === name)
    if (!operation) throw new Error(name)
    const work = (context: Parameters<typeof invoke>[1]) => invoke(operation, context, input)
    const done = await throughEdge(project.context, name, work, { input })
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

test('case 31: what no server may ask is refused and said, and nothing of it is run', async () => {
  const project = await openProject()
  const trusted = (trustsServer: boolean) =>
    new TrustedCommands({
      approvals: project.context.commandApprovals,
      runner: { start: async () => ({ status: 'passed', exitCode: 0, output: 'ran' }) },
      actor: project.context.actor,
      askPerson: null,
      trustsServer,
      now: () => 0,
    })
  const started = (commands: TrustedCommands): PortContext['runCommand'] => {
    return async (command) => {
      const { ended } = await commands.start(command)
      return { ...(await ended), tree: null, touched: null, hash: command.hash }
    }
  }
  const running = {
    context: project.context,
    edge: 'e-0123456789ab',
    snapshots: () => join(project.context.program.stateFolder, 'snapshots'),
    commands: trusted(false),
    asked: 'start_task',
    looks: Object.keys(portCalls).filter((call) => !call.startsWith('linkedTrees.')) as PortCallName[], // its own keys
    input: { name: 'T' },
    named: new Set<string>(),
    written: { done: false },
    now: () => 0,
    runCommand: started(trusted(false)),
  }
  const place = { engine: 'git', top: project.folder, prefix: '', id: 'unborn' }
  const hash = await project.context.commandApprovals.hashOf({
    run: 'touch ran',
    folder: project.folder,
    pinned: [],
  })
  const start = { id: 'cmd-1', run: 'touch ran', folder: project.folder, pinned: [], timeout: 1_000, hash }
  const ran = async (commands: TrustedCommands) => {
    const brief = [{ ...start, approvedThere: true }]
    const request = { operation: 'verify', asked: [{ name: 'ran', hash, brief }] }
    const around = { ...running, asked: 'verify', input: {}, commands, runCommand: started(commands) }
    const [measured] = await measureLocally(request, around)
    return measured
  }
  const asked = [
    { call: 'witness.locate', args: ['/etc'] },
    { call: 'evidenceFiles.contents', args: [join(project.folder, '..'), ['state/x']] },
    { call: 'evidenceFiles.read', args: [project.folder, ['../../etc/passwd']] },
    {
      call: 'witness.changes',
      args: [
        { ...place, directory: '/etc' },
        { ...place, directory: '/etc' },
      ],
    },
    { call: 'planFiles.load', args: ['/etc/passwd', null] },
    { call: 'shell.run', args: ['id'] },
    { call: 'constructor', args: [] },
    { call: 'witness.locate', args: [{ folder: project.folder }] },
    {
      call: 'linkedTrees.add',
      args: [{ folder: project.folder, path: '/tmp/x', branch: 'b', taskId: 't-1' }],
    },
    { call: 'commandApprovals.approve', args: [{ run: 'id', folder: project.folder, hash, by: 'x', at: 1 }] },
    { call: 'commandRunner.start', args: [{ ...start, approvedThere: true }] },
  ]
  const confined = {
    ...running,
    context: {
      ...project.context,
      planFiles: {
        load: () => Promise.reject(new Error('only the confined reader is ever given to an edge')),
      },
    },
  }
  const answers = await runCalls(asked, confined)
  for (const { call, failure } of answers) expect(failure, call).toBeDefined()
  const said = answers.map(({ failure }) => failure?.message)
  expect(said[0]).toContain('/etc, which lies outside the project')
  expect(said[5]).toContain('"shell.run", which no server may')
  expect(said[6]).toContain('"constructor", which no server may')
  expect(said[8]).toContain('nobody on this machine asked it for')
  expect(said[10]).toContain('"commandRunner.start", which no server may')
  expect((await ran(trusted(false)))?.failure).toMatchObject({ reason: 'command_not_approved' })
  expect(project.git('status', '--short')).toBe('')

  // An operation that declares its measurements lets a server ask for nothing else.
  const closed = await runCalls(asked, { ...running, looks: looks['start_task'] ?? [] })
  expect(closed.every(({ failure }) => failure?.code === 'FORBIDDEN')).toBe(true)

  expect((await ran(trusted(true)))?.measured).toMatchObject([{ report: { status: 'passed' } }])
})

test('what files held on another machine is removed when its time is over, but for what was in use since', async () => {
  const project = await openProject({ isOnEdge: true })
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
  expect(await project.call('tidy')).toMatchObject({ removed_contents: 0 })
  await work('export const auth = 3\n')
  project.wait(2 * day)
  // What the second one began with is what the first one left.
  expect(await project.call('tidy')).toMatchObject({ removed_contents: 1 })
  expect(await project.call('tidy')).toMatchObject({ removed_contents: 0, removed_bytes: 0 })
  const states = await project.context.store.view(({ reviews, tasks }) =>
    tasks.lastAttempt(first).then((attempt) => reviews.filesOf(attempt ? [attempt.id] : [])),
  )
  const [[file] = []] = states.values()
  const kept = await project.context.store.view(({ reviews }) =>
    reviews.contents([file?.before?.id ?? '', file?.after?.id ?? ''], 1_000),
  )
  expect([...kept.keys()]).toEqual([file?.after?.id])
})

test('names only operations that do not declare their measurements among those that look around', () => {
  const known = new Map(catalog.map((operation) => [operation.name, operation]))
  for (const name of Object.keys(looks)) {
    expect(known.has(name), name).toBe(true)
    expect(known.get(name)?.measurements, name).toBeUndefined()
  }
})
