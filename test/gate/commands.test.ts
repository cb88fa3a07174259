import { expect, test } from 'vitest'
import { smallProcess } from '../support/processes.ts'
import { openProject } from '../support/project.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'

test('process lint ends with 1 on an error, with 0 on a warning, and names place and key', () => {
  const { run, json, write } = openCommandLine({ git: false })
  expect(json('process', 'lint', 'feature')).toMatchObject({ healthy: true, findings: [] })
  write('.waymark/processes/small.yaml', smallProcess.replace('guard: low_risk', 'gaurd: low_risk'))
  const wrong = run('process', 'lint', 'small', '--format', 'text')
  expect(wrong.code).toBe(1)
  expect(wrong.out).toMatch(
    /^\.waymark\/processes\/small\.yaml:\d+:\d+ {2}error .*"gaurd"\. Did you mean "guard"\?.*\n\n1 error, 0 warnings\n$/,
  )
  write('other.yaml', smallProcess.replace('id: small', 'id: other').replace(', when_blocked: record', ''))
  const warned = run('process', 'lint', 'other.yaml', '--json')
  expect(warned.code).toBe(0)
  expect(JSON.parse(warned.out)).toMatchObject({
    errors: 0,
    warnings: 1,
    findings: [{ rule: 'cannot-accumulate' }],
  })
  expect(run('process', 'lint', 'featur')).toMatchObject({
    code: 1,
    error: expect.stringContaining('Did you mean "feature"?'),
  })
  expect(run('process', 'lint', 'no/such.yaml')).toMatchObject({
    code: 1,
    error: expect.stringContaining('no/such.yaml'),
  })
})

test('process list shows the project’s own before the shipped ones, of both folders', async () => {
  const project = await openProject({ git: false })
  project.write('.waymark/processes/feature.yaml', smallProcess.replace('id: small', 'id: feature'))
  project.write('.state_gate/processes/small.yaml', smallProcess)
  project.write('.state_gate/processes/misnamed.yml', smallProcess)
  project.write('.waymark/processes/a-folder.yaml/notes.md', 'no process')
  const { processes } = await project.call('process_list')
  expect(processes.map((each: any) => `${each.process_id} ${each.origin} ${each.errors}`)).toEqual([
    'change-control shipped 0',
    'exploration shipped 0',
    'feature project 0',
    'misnamed project 1',
    'release shipped 0',
    'small project 0',
  ])
  const { findings } = await project.call('process_lint', { process: 'misnamed' })
  expect(findings).toMatchObject([{ rule: 'id-not-file-name', severity: 'error' }])
})

test('process lint warns of path patterns that match no file now, but not of artifacts', async () => {
  const project = await openProject()
  project.write(
    '.waymark/processes/idle.yaml',
    [
      'process: { dialect: 1, id: idle, version: "1", name: Idle, initial_state: a }',
      'states:',
      '  - { name: a, tool_permissions: { paths: { Write: [src/, "srcs/"] } } }',
      '  - { name: b, is_final: true, outcome: succeeded }',
      'events: [{ name: go, allowed_roles: ["*"] }]',
      'transitions: [{ from: a, event: go, to: b, guard: { all: [g, h, i] } }]',
      'guards:',
      '  g: { type: changes, condition: touches_none, paths: ["src/*.ts", "Src/"] }',
      '  h: { type: command, run: node x.js, pinned: [x.js] }',
      '  i: { type: artifact, artifact_type: plan, condition: exists }',
      'artifacts:',
      '  - { type: plan, paths: [plan.md] }',
    ].join('\n'),
  )
  const { healthy, findings } = await project.call('process_lint', { process: 'idle' })
  expect(healthy).toBe(true)
  expect(findings).toMatchObject([
    { rule: 'matches-nothing', severity: 'warning', line: 8, message: expect.stringContaining('"Src/"') },
    { rule: 'matches-nothing', line: 9 },
    { rule: 'matches-nothing', line: 3, message: expect.stringContaining('"srcs/"') },
  ])
})

test('process show tells the parts, and draws them', () => {
  const { json, run } = openCommandLine({ git: false })
  const shown = json('process', 'show', 'change-control')
  expect(shown.states.map(({ name }: any) => name)).toContain('acceptance')
  expect(shown.guards.find(({ name }: any) => name === 'two_approvals').looks_at).toEqual([
    'approvals by reviewer of proposal',
  ])
  const page = run('process', 'show', 'change-control', '--format', 'text').out
  for (const heading of ['States', 'Events', 'Transitions', 'Guards', 'Roles'])
    expect(page).toContain(heading)
  const mermaid: string = json('process', 'show', 'exploration', '--diagram', 'mermaid').diagram
  expect(mermaid).toMatch(/^stateDiagram-v2\n/)
  expect(mermaid.match(/: drop$/gm)).toHaveLength(5)
  const text = run('process', 'show', 'exploration', '--diagram', 'text', '--format', 'text').out
  expect(text.split('\n').slice(0, 2)).toEqual([
    '▶ [frame]  (needs hypothesis)',
    '   └─ submit_hypothesis  ─→ experiment',
  ])
  expect(text).toContain('├─ iterate            ─↑ frame')
  expect(text).toContain('if enough_observations, else keeps the evidence')
})

const deciding = `process: { dialect: 1, id: looking, version: "1.0.0", name: Looking, initial_state: decide }
roles: [{ name: lead, kind: human }]
states: [{ name: decide }, { name: more }, { name: done, is_final: true }]
events:
  - name: iterate
    description: Ask another question
    allowed_roles: [lead]
    payload_schema: { type: object, required: [question, "it's $(id)"], properties: { question: { type: string } } }
  - { name: finalize, allowed_roles: [lead] }
transitions:
  - { from: decide, event: iterate, to: more }
  - { from: decide, event: finalize, to: done }
  - { from: more, event: finalize, to: done }
`

test('the inbox lists the events of a decision that is no approval', () => {
  const { json, write } = openCommandLine({ git: false })
  write('.waymark/processes/looking.yaml', deciding)
  const { run_id: run } = json('run', 'create', 'looking')
  const [item] = json('inbox').items
  expect(item.answers).toEqual([
    {
      verb: 'Ask another question',
      command: `waymark decide ${run} iterate "<reason>" --payload '{ "question": …, "it'\\''s $(id)": … }'`,
    },
    { verb: 'finalize', command: `waymark decide ${run} finalize "<reason>"` },
  ])
  json('decide', run, 'iterate', 'Why so?', '--payload', '{ "question": "And then?", "it\'s $(id)": 1 }')
})

test('process simulate tells of each event whether it is accepted, why not, and what is missing', () => {
  const { json, run, write } = openCommandLine({ git: false })
  const events =
    '["submit_plan",{"event":"submit_plan","payload":{"summary":"x"}},{"event":"submit_plan","payload":{"summary":"x"},"artifacts":["./docs/plan.md"]},{"event":"submit_build","artifacts":["notes/a.md"]},{"event":"approve","role":"agent"}]'
  write('.waymark/processes/small.yaml', smallProcess)
  const answer = json('process', 'simulate', 'small', '--events', events)
  expect(answer.steps).toMatchObject([
    { accepted: false, code: 'INVALID_PAYLOAD', validation_errors: [{ path: '/summary' }] },
    { accepted: false, code: 'GUARD_FAILED', missing: [{ guard_name: 'required_artifacts.plan' }] },
    { accepted: true, transition: { from_state: 'plan', to_state: 'build' }, new_revision: 2 },
    { accepted: true, state_changed: false, missing: [{ guard_name: 'enough', fix: 'Look again.' }] },
    { accepted: false, code: 'INVALID_EVENT' },
  ])
  expect(answer).toMatchObject({ current_state: 'build', finished: false, revision: 3 })
  const text = run('process', 'simulate', 'small', '--events', events, '--format', 'text').out
  expect(text).toContain('✓ submit_build (agent)  build → build, evidence kept')
  expect(text).toContain('enough: not enough "observation" (now: 1, needed: 2)')
  const end = json(
    'process',
    'simulate',
    'feature',
    '--satisfied',
    '*',
    '--events',
    'submit_exploration, abandon',
  )
  expect(end).toMatchObject({ finished: true, current_state: 'abandoned' })
  expect(json('process', 'simulate', 'small')).toMatchObject({ steps: [], prompt: 'Plan with risk low.' })
  expect(json('process', 'simulate', 'small', '--context', '{"risk":"high"}').prompt).toBe(
    'Plan with risk high.',
  )
  expect(json('process', 'simulate', 'small', '--context', '{"risk":null}').prompt).toBe(
    'Plan with risk none yet.',
  )
  for (const wrong of ['[', '[3]', '[{"evnt":"a"}]']) {
    expect(run('process', 'simulate', 'small', '--events', wrong)).toMatchObject({ code: 2 })
  }
})

const redGreen = `process: { dialect: 1, id: red-green, version: "1.0.0", name: Red, initial_state: test }
roles: [{ name: agent, kind: agent }]
states: [{ name: test }, { name: build }, { name: done, is_final: true }]
events: [{ name: submit, allowed_roles: [agent] }]
transitions:
  - { from: test, event: submit, to: build, guard: { all: [red, { not: green }] } }
  - { from: build, event: submit, to: done, guard: green }
guards:
  red: { type: command, run: npm test, exit: nonzero }
  green: { type: command, run: npm test }
`

test('red, then green: each step of a simulation has its own assumptions, also that a guard fails', () => {
  const { run, refused, json, write } = openCommandLine({ git: false })
  write('.waymark/processes/red-green.yaml', redGreen)
  const play = (events: unknown) =>
    json('process', 'simulate', 'red-green', '--events', JSON.stringify(events))
  expect(play(['submit']).steps[0]).toMatchObject({
    accepted: false,
    missing: [
      { guard_name: 'red', status: 'unknown' },
      { guard_name: 'not green', status: 'unknown' },
    ],
  })
  const red = { event: 'submit', satisfied: ['red', 'not green'] }
  const green = { event: 'submit', satisfied: ['green'] }
  expect(play([red, red]).steps[1]).toMatchObject({
    accepted: false,
    missing: [{ guard_name: 'green', status: 'fails' }],
  })
  expect(play([red, green])).toMatchObject({ finished: true, current_state: 'done' })
  expect(play([{ event: 'submit', satisfied: ['red'] }]).finished).toBe(false)
  const wrong = run('process', 'simulate', 'red-green', '--events', 'submit', '--satisfied', 'gren')
  expect(wrong.code).toBe(2)
  expect(wrong.error).toContain(
    'Process red-green has no guard and no type of artifact "gren". Did you mean "green"?',
  )
  expect(
    refused('process', 'simulate', 'red-green', '--events', '[{"event":"submit","satisfied":["blue"]}]'),
  ).toMatchObject({ code: 'INVALID_INPUT', reason: 'assumption_unknown' })
})

test('a process with an error is neither shown nor played; the way to all of them is named', () => {
  const { run, write } = openCommandLine({ git: false })
  write('small.yaml', smallProcess.replace('to: done', 'to: dne'))
  const refused = run('process', 'simulate', 'small.yaml', '--events', 'abandon')
  expect(refused.code).toBe(1)
  expect(refused.error).toMatch(/line \d+, column \d+: There is no state "dne"\. Did you mean "done"\?/)
  expect(refused.error).toContain('waymark process lint small.yaml')
  write('broken.yaml', 'process: [')
  expect(run('process', 'show', 'broken.yaml')).toMatchObject({ code: 1 })
})
