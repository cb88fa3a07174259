import { expect, onTestFinished, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { inputSchema } from '../../../src/kernel/operations/input/json-schema.ts'
import type { Operation } from '../../../src/kernel/operations/operation.ts'
import { flagsOf } from '../../../src/surfaces/cli/flags.ts'
import { runCommandLine } from '../../../src/surfaces/cli/run.ts'
import { printableJson, printableStyled, withoutControlCodes } from '../../../src/surfaces/cli/terminal.ts'
import { amount } from '../../support/amount.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { agentActor, openProject, person, type TestProject } from '../../support/project.ts'

/** Colours, a title for the window, C1, a bell, a way back in the line, and text turned around. */
const evil =
  '\u001b[31mred\u001b]0;title\u0007\u009b2J\u0090q\u0085\u007f\b\rover\u202eesrever\u2066\u200f\u061c'
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/v

const said = (about: string) => `${about} ${evil}`

test('nothing that anyone says steers a terminal, on any command', async () => {
  const project = await openProject()
  // What a command writes to a file of such a name belongs there.
  const before = process.cwd()
  process.chdir(temporaryFolder())
  onTestFinished(() => process.chdir(before))
  const ids = await fill(project)
  const asked = new Set<string>()
  const shown = new Set<string>()
  for (const operation of catalog) {
    // Without words of its own, an operation's text is the same whether it is named or not.
    const formats = (operation.print ? ['text', 'json', null] : ['json', null]).slice(
      0,
      amount({ test: 2, soak: 3 }),
    )
    for (const [place, words] of commandLines(operation, ids).entries()) {
      // Mistakes are told alike in every format.
      // In `npm test` of every twelfth field.
      if (place > 0 && (place + operation.name.length) % amount({ test: 12, soak: 1 }) !== 0) continue
      for (const format of place === 0 ? formats : ['text']) {
        asked.add(operation.name)
        const printed = await run(project, [...words, ...(format === null ? [] : ['--format', format])])
        if (printed.out.includes('esrever')) shown.add(operation.name)
        expect([words.join(' '), format, steering.exec(printed.out + printed.error)]).toEqual([
          words.join(' '),
          format,
          null,
        ])
      }
    }
  }
  // What was said is there, without what would steer.
  for (const name of [
    'show',
    'changes',
    'diff',
    'inbox',
    'status',
    'log',
    'get_context',
    'board',
    'plan_show',
  ])
    expect([name, shown.has(name)]).toEqual([name, true])
  for (const name of ['taskman_task_list', 'plan_graph', 'process_show', 'mission_timeline'])
    expect([name, shown.has(name)]).toEqual([name, true])
  expect([...asked].toSorted()).toEqual(catalog.map(({ name }) => name).toSorted())
}, 120_000)

test('an answer in JSON is exact all the same', async () => {
  const project = await openProject()
  await project.call('taskman_phase_add', { id: 'P1', name: evil })
  const { phases } = await project.call('taskman_phase_list')
  for (const interactive of [true, false]) {
    const { out } = await run(project, ['phase', 'list', '--format', 'json'], { interactive })
    expect(JSON.parse(out)).toEqual(phases)
  }
})

test('of a styled text only the styles are left, of JSON the same value', () => {
  expect(printableStyled(`\u001b[32mok\u001b[39m \u001b[2J\u009b31m\u001b]8;;x\u0007`)).toBe(
    '\u001b[32mok\u001b[39m [2J31m]8;;x',
  )
  expect(withoutControlCodes('a\tb\nc\rd\u001b[1me')).toBe('a\tb\ncd[1me')
  expect(JSON.parse(printableJson(JSON.stringify({ [evil]: evil })))).toEqual({ [evil]: evil })
  expect(printableJson(JSON.stringify(evil))).not.toMatch(steering)
})

interface Ids {
  readonly [field: string]: string
}

/** Each command as it is meant, with real ids; and with a hostile value in each of its fields in turn. */
function commandLines(operation: Operation, ids: Ids): readonly (readonly string[])[] {
  const flags = flagsOf(inputSchema(operation)).filter(({ path }) => path.length === 1)
  const command = operation.command.split(' ')
  const usual = (name: string): string | undefined => {
    if (name === 'id') return idFor(operation, ids)
    return ids[name]
  }
  const whole = flags.flatMap(({ name, path, required }) => {
    const value = usual(path[0] ?? '')
    return value !== undefined && (required || ['id', 'process_id'].includes(path[0] ?? ''))
      ? [`--${name}=${value}`]
      : []
  })
  const withEvil = flags
    .filter(({ takes }) => takes !== 'nothing')
    .map(({ name, takes }) => [
      ...command,
      ...whole.filter((word) => !word.startsWith(`--${name}=`)),
      `--${name}=${takes === 'json' ? JSON.stringify({ [evil]: evil }) : evil}`,
    ])
  const strange = [
    [...command, said('one value too much'), evil, evil, evil, evil],
    [...command, `--${evil}`],
  ]
  return [[...command, ...whole], ...withEvil, ...strange]
}

function idFor({ name }: Operation, ids: Ids): string {
  if (/^run_|^verify/.test(name)) return ids['run_id'] ?? ''
  if (name.startsWith('mission_')) return ids['mission_id'] ?? ''
  if (/phase/.test(name)) return 'P1'
  if (/milestone/.test(name)) return 'M1'
  if (['approve', 'reject', 'resolve'].includes(name)) return ids['item_id'] ?? ''
  return ids['task_id'] ?? ''
}

async function run(
  { context }: TestProject,
  words: readonly string[],
  { interactive = true }: { readonly interactive?: boolean } = {},
): Promise<{ readonly out: string; readonly error: string }> {
  let out = ''
  let error = ''
  await runCommandLine(words, {
    operations: async () => catalog,
    version: '0',
    terminal: {
      interactive,
      width: 100,
      ink: (_, text) => text,
      write: (text) => {
        out += text
      },
      writeError: (text) => {
        error += text
      },
    },
    open: () => ({ ...context, actor: { ...person, name: said('person') } }),
    close: async () => undefined,
  })
  return { out, error }
}

/** A project in which everything that can be said steers a terminal, and what can be asked for in it. */
async function fill(project: TestProject): Promise<Ids> {
  const { call, write } = project
  const asPerson = { actor: { ...person, name: said('person') } }
  const agent = said('agent')
  await call('taskman_phase_add', { id: 'P1', name: said('phase') })
  await call('taskman_milestone_add', {
    id: 'M1',
    phase: 'P1',
    name: said('milestone'),
    criterion: said('criterion'),
  })
  const planned = await call('taskman_task_add', {
    title: said('planned'),
    description: said('description'),
    phase: 'P1',
    milestone: 'M1',
  })
  const second = await call('taskman_task_add', { title: said('second'), phase: 'P1' })
  await call('taskman_task_dep_add', { 'task-id': second.id, 'dep-id': planned.id })
  await call('taskman_task_note_add', { id: planned.id, content: said('note') })
  await call('role_add', { name: 'observer', description: said('role') }, asPerson).catch(() => null)
  const { mission_id } = await call('start_mission', {
    name: said('mission'),
    objective: said('objective'),
    scope: said('scope'),
    constraints: said('constraints'),
  })
  const begun = {
    mission_id,
    phase: 1,
    phase_name: said('mission phase'),
    agent_name: agent,
    areas: ['src/**'],
  }
  const { task_id } = await call('start_task', { ...begun, name: said('task'), goal: said('goal') })
  await call('log_decision', {
    task_id,
    category: 'other',
    question: said('question'),
    options_considered: [said('one'), said('two')],
    chosen: said('chosen'),
    reasoning: said('reasoning'),
    trade_offs: said('trade-offs'),
  })
  const issue = { task_id, type: 'other', description: said('issue'), resolution: said('workaround') }
  const answered = await call('log_issue', { ...issue, requires_human_review: true })
  const { items } = await call('inbox', {}, asPerson)
  await call('resolve', { id: items[0].item_id, answer: said('answer') }, asPerson)
  expect(answered.blocker).toBe(true)
  await call('log_milestone', { task_id, message: said('progress'), progress: 40 })
  write(`src/${said('file')}.ts`, `${said('content')}\n`)
  write(`${said('outside')}.ts`, `${said('content')}\n`)
  await call('complete_task', {
    task_id,
    status: 'success',
    outcome: {
      summary: said('summary'),
      achievements: [said('achievement')],
      limitations: [said('limitation')],
      next_steps: said('next'),
      manual_review_needed: true,
      manual_review_reason: said('review'),
    },
  })
  await call('start_task', { ...begun, name: said('open task') })
  write('.waymark/processes/hostile.yaml', processText())
  const { run_id, revision } = await call('state_gate_create_run', {
    process_id: 'hostile',
    context: { said: said('context') },
  })
  const event = {
    run_id,
    event_name: 'submit',
    expected_revision: revision,
    idempotency_key: evil,
  }
  await call('state_gate_emit_event', event, { actor: { ...agentActor, name: agent } }).catch(() => null)
  await call('verify', { run_id }).catch(() => null)
  const { items: open } = await call('inbox', {}, asPerson)
  return {
    mission_id,
    mission: mission_id,
    task_id,
    run_id,
    item_id: open[0].item_id,
    process_id: 'hostile',
    process: 'hostile',
    depends_on: planned.id,
    dep_id: planned.id,
    include: 'tasks',
    event: 'submit',
    events: 'submit',
    event_name: 'submit',
    name: 'name',
    file: 'no-such-file.md',
  }
}

function processText(): string {
  return JSON.stringify({
    process: {
      dialect: 1,
      id: 'hostile',
      version: '1',
      name: said('process'),
      description: said('process description'),
      initial_state: 'build',
    },
    roles: [
      { name: 'agent', kind: 'agent' },
      { name: said('role'), kind: 'human', description: said('role description') },
    ],
    states: [
      { name: 'build', description: said('state description'), prompt: said('prompt') },
      { name: 'review' },
      { name: 'live', is_final: true },
    ],
    events: [
      { name: 'submit', description: said('event description'), allowed_roles: ['agent'] },
      { name: 'release', allowed_roles: [said('role')] },
    ],
    transitions: [
      { from: 'build', event: 'submit', to: 'review', guard: 'checked' },
      { from: 'review', event: 'release', to: 'live', guard: 'approved' },
    ],
    guards: {
      checked: { type: 'command', run: said('printf'), description: said('guard description') },
      approved: { type: 'approval', role: said('role') },
    },
    artifacts: [{ type: 'plan', description: said('artifact description'), paths: ['plan.md'] }],
  })
}
