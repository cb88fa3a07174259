import { expect, test } from 'vitest'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'
import { smallProcess } from '../support/processes.ts'

/** What lint says about the small process after some replacements: `severity rule line: message`. */
function found(...replacements: readonly (readonly [string, string])[]): readonly string[] {
  const text = replacements.reduce((current, [from, to]) => {
    if (!current.includes(from)) throw new Error(`the small process has no ${from}`)
    return current.replace(from, to)
  }, smallProcess)
  return readDefinition(text).findings.map(
    ({ severity, rule, place, message }) => `${severity} ${rule} ${lineText(text, place?.line)}| ${message}`,
  )
}

/** The line that a finding points at, shortened. */
function lineText(text: string, line: number | undefined): string {
  return (text.split('\n')[(line ?? 0) - 1] ?? 'nowhere').trim()
}

test('a good definition has no finding', () => {
  expect(found()).toEqual([])
})

test.each(['', '../x', '.git/hooks/', 'src\\\\a.ts', 'C:/src', '!', '{1..9}/x'])(
  'a path pattern that can never match is an error where it stands: %j',
  (pattern) => {
    const { findings } = readDefinition(
      [
        'process: { dialect: 1, id: x, version: "1", name: X, initial_state: a }',
        'states:',
        `  - { name: a, tool_permissions: { paths: { Write: ["src/", "${pattern}"] } } }`,
        '  - { name: b, is_final: true, outcome: succeeded }',
        'events: [{ name: go, allowed_roles: ["*"] }]',
        'transitions: [{ from: a, event: go, to: b, guard: { all: [g, h] } }]',
        'guards:',
        `  g: { type: changes, condition: touches, paths: ["${pattern}"] }`,
        `  h: { type: command, run: make, pinned: ["${pattern}"] }`,
        'artifacts:',
        `  - { type: plan, paths: ["${pattern}"] }`,
      ].join('\n'),
    )
    const wrong = pattern === '' ? 'odd-value' : 'path-pattern'
    expect(findings.filter(({ rule }) => rule === wrong).map(({ place }) => place?.line)).toEqual([
      3, 8, 9, 11,
    ])
    expect(findings.filter(({ severity }) => severity === 'error')).toHaveLength(4)
  },
)

test.each([
  ['state', '  - { name: build, max_visits: 2 }', '  - { name: build, max_visits: 2 }\n  - { name: build }'],
  ['event', '  - { name: approve,', '  - { name: approve, allowed_roles: [reviewer] }\n  - { name: approve,'],
  ['role', '  - { name: agent, kind: agent }', '  - { name: agent, kind: agent }\n  - { name: agent }'],
  ['artifact', '  - { type: observation,', '  - { type: observation }\n  - { type: observation,'],
])('duplicate names: a %s', (_, from, to) => {
  expect(found([from, to])).toEqual([expect.stringMatching(/^error duplicate-name .*twice/)])
})

test.each([
  ['initial_state: plan', 'initial_state: pln', 'There is no state "pln". Did you mean "plan"?'],
  ['required_artifacts: [plan]', 'required_artifacts: [plam]', 'There is no artifact "plam".'],
  [
    'submit_build, allowed_roles: [agent]',
    'submit_build, allowed_roles: [agnet]',
    'There is no role "agnet".',
  ],
  ['from: review, event: send_back', 'from: revew, event: send_back', 'There is no state "revew".'],
  ['event: send_back, to: build', 'event: send_bck, to: build', 'There is no event "send_bck".'],
  ['send_back, to: build', 'send_back, to: biuld', 'There is no state "biuld". Did you mean "build"?'],
  ['guard: low_risk', 'guard: low_rsk', 'There is no guard "low_rsk". Did you mean "low_risk"?'],
  ['guard: low_risk', 'guard: { all: [low_risk, { not: enuogh }] }', 'There is no guard "enuogh".'],
  ['send_back, to: build', 'send_back, to: build, allowed_roles: [reviwer]', 'There is no role "reviwer".'],
  ['artifact_type: observation', 'artifact_type: observatoin', 'There is no artifact "observatoin".'],
  [
    'guards:\n',
    'guards:\n  ok: { type: approval, role: lead, artifact: plam }\n',
    'There is no role "lead".',
  ],
  [
    'guards:\n',
    'guards:\n  ok: { type: approval, role: lead, artifact: plam }\n',
    'There is no artifact "plam".',
  ],
])('unknown references: %s', (from, to, message) => {
  const [, changed = ''] = [from, to.trim().split('\n').at(-1)]
  const finding = found([from, to]).find((each) => each.includes(message)) ?? 'nothing was found'
  expect(finding).toContain('error unknown-reference')
  expect(finding.split('|')[0]).toContain(changed.trim().slice(0, 20))
})

test.each([
  ['warning unreachable-state', [['states:\n', 'states:\n  - { name: lost }\n']], '"lost"'],
  [
    'error no-way-out',
    [
      ['event: send_back, to: build', 'event: send_back, to: stuck'],
      ['from: "*"', 'from: plan'],
      ['states:\n', 'states:\n  - { name: stuck }\n'],
    ],
    '"stuck"',
  ],
  [
    'error no-final-state',
    [
      ['done, is_final: true', 'done'],
      ['abandoned, is_final: true, outcome: failed', 'abandoned'],
    ],
    'No state is final',
  ],
  [
    'error no-way-to-an-end',
    [
      ['from: "*"', 'from: plan'],
      ['event: send_back, to: build', 'event: send_back, to: around'],
      ['states:\n', 'states:\n  - { name: around }\n  - { name: about }\n'],
      [
        'transitions:\n',
        'transitions:\n  - { from: around, event: send_back, to: about }\n  - { from: about, event: send_back, to: around }\n',
      ],
    ],
    '"around"',
  ],
  [
    'warning leaves-final-state',
    [['from: review, event: send_back', 'from: done, event: send_back']],
    '"done" is final',
  ],
  [
    'warning unused',
    [['events:\n', 'events:\n  - { name: idle, allowed_roles: [agent] }\n']],
    'uses event "idle"',
  ],
  ['warning unused', [['guard: low_risk }', 'guard: enough }']], 'uses guard "low_risk"'],
  ['warning unused', [['required_artifacts: [plan], ', '']], 'needs the artifact "plan"'],
  [
    'warning unused',
    [
      ['allowed_roles: ["*"]', 'allowed_roles: [agent]'],
      ['roles:\n', 'roles:\n  - { name: watcher }\n'],
    ],
    'Role "watcher"',
  ],
  ['error two-without-guard', [['done, guard: low_risk', 'done']], 'is always taken'],
  [
    'error guardless-first',
    [
      ['transitions:\n', 'transitions:\n  - { from: review, event: approve, to: build, guard: low_risk }\n'],
      [
        '  - { from: review, event: approve, to: build, guard: low_risk }\n',
        '  - { from: review, event: approve, to: plan }\n',
      ],
    ],
    'Put this one before it',
  ],
  [
    'warning guardless-first',
    [
      ['  dialect: 1\n', ''],
      ['transitions:\n', 'transitions:\n  - { from: "*", event: approve, to: plan }\n'],
    ],
    'guarded ones first',
  ],
  ['warning cannot-accumulate', [[', when_blocked: record', '']], 'when_blocked: record keeps them'],
  ['error cannot-accumulate', [['notes/*.md', 'notes/one.md']], 'can only be notes/one.md'],
  [
    'warning roles-disagree',
    [['submit_build, allowed_roles: [agent]', 'submit_build, allowed_roles: []']],
    'No one may emit',
  ],
  ['warning roles-disagree', [['allowed_roles: ["*"]', 'allowed_roles: ["*", agent]']], 'is everyone'],
  [
    'warning roles-disagree',
    [['send_back, to: build', 'send_back, to: build, allowed_roles: [agent]']],
    'No role may take this',
  ],
  [
    'warning roles-disagree',
    [
      ['  dialect: 1\n', ''],
      ['kind: human', 'kind: human, allowed_events: [approve, submit_build, abandon]'],
    ],
    'lists "submit_build"',
  ],
  [
    'warning roles-disagree',
    [
      ['  dialect: 1\n', ''],
      ['kind: human', 'kind: human, allowed_events: [approve, abandon]'],
    ],
    '"send_back" allows role "reviewer"',
  ],
  [
    'warning roles-disagree',
    [['guards:\n', 'guards:\n  ok: { type: approval, role: agent }\n']],
    'an agent can have',
  ],
  [
    'error unusable-schema',
    [['type: object, required: [summary]', 'type: objct, required: [summary]']],
    'There is no type "objct"',
  ],
  [
    'error unusable-schema',
    [['summary: { type: string }, risk: {} }', 'summary: { pattern: "(" }, risk: {} }']],
    'not a regular expression',
  ],
  ['error unusable-schema', [['risk: {} }', 'risk: { $ref: "#/nowhere" } }']], 'leads nowhere'],
  [
    'error initial-context',
    [['initial_context: { risk: low }', 'initial_context: { risk: huge }']],
    'at /risk',
  ],
  ['error unknown-variable', [['{{context.risk}}', '{{contxt.risk}}']], 'Did you mean "context"?'],
  ['warning unknown-variable', [['{{context.risk}}', '{{context.rsik}}']], 'Did you mean "risk"?'],
  ['warning unknown-variable', [['variable: risk', 'variable: rsik.of']], 'nothing sets "rsik"'],
  ['error unknown-variable', [['$.payload.summary', '$.payloda.summary']], 'Did you mean "payload"?'],
  ['warning unknown-variable', [['$.payload.summary', '$.payload.sumary']], 'Did you mean "summary"?'],
  [
    'warning tool-listed-twice',
    [['build, max_visits: 2', 'build, max_visits: 2, tool_permissions: { allowed: [Bash], denied: [Bash] }']],
    '"denied" counts',
  ],
] as const)('%s: %j', (rule, replacements, message) => {
  const findings = found(...replacements).filter((each) => each.startsWith(rule) && each.includes(message))
  expect(findings).toHaveLength(1)
  expect(findings[0]).not.toContain('nowhere|')
})

test('a guardless transition whose state has a limit of visits, or that is no escape, hides no other', () => {
  const limited =
    '  - { from: review, event: send_back, to: build }\n  - { from: review, event: send_back, to: plan }\n'
  expect(found(['  - { from: review, event: send_back, to: build }\n', limited])).toEqual([])
  const twoWays = '  - { from: plan, event: abandon, to: abandoned }\n  - { from: "*", event: abandon'
  expect(found(['  - { from: "*", event: abandon', twoWays])).toEqual([])
})

test.each([
  ['done', 'failed', true],
  ['done', 'rejected', true],
  ['done', 'wont_fix', true],
  ['done', 'not_done', true],
  ['done', 'done_with_errors', true],
  ['done', 'closed', false],
  ['done', 'ReleaseDone', false],
])('a final state without outcome whose name is not plainly a success: %s → %s', (from, to, isTold) => {
  const findings = found(
    [`name: ${from}, is_final: true`, `name: ${to}, is_final: true`],
    ['to: done', `to: ${to}`],
  )
  const told = [
    expect.stringMatching(new RegExp(`^warning no-outcome .*"${to}" is final and has no outcome`)),
  ]
  expect(findings).toEqual(isTold ? told : [])
  const stated = `name: ${to}, is_final: true, outcome: succeeded`
  expect(found([`name: ${from}, is_final: true`, stated], ['to: done', `to: ${to}`])).toEqual([])
})

const reviewed = (parts: { plan?: string; ways?: string; fresh?: string }) => `process:
  dialect: 1
  id: reviewed
  version: "1"
  name: Reviewed
  initial_state: write
roles: [{ name: agent, kind: agent }, { name: reviewer, kind: human }]
states: [{ name: write }, { name: review }, { name: build }, { name: done, is_final: true }]
events:
  - { name: submit, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [reviewer] }
  - { name: send_back, allowed_roles: [reviewer] }
transitions:
${
  parts.ways ??
  `  - { from: write, event: submit, to: review }
  - { from: review, event: approve, to: build, guard: right }
  - { from: review, event: send_back, to: write }
  - { from: build, event: submit, to: done }`
}
guards:
  right: ${parts.plan ?? '{ type: approval, role: reviewer, artifact: plan }'}
artifacts: [{ type: plan, paths: ["plan.md"], fresh: ${parts.fresh ?? 'state'} }]
`

function freshness(parts: Parameters<typeof reviewed>[0]): readonly string[] {
  return readDefinition(reviewed(parts)).findings.map(
    ({ severity, rule, message }) => `${severity} ${rule}: ${message}`,
  )
}

test('freshness: what came with the event into a state can be approved there, in each round', () => {
  for (const fresh of ['run', 'state', 'loop']) expect(freshness({ fresh })).toEqual([])
})

test('freshness: an approval of what nothing can have handed in is an error', () => {
  const ways = `  - { from: write, event: submit, to: review, guard: right }
  - { from: review, event: approve, to: build }
  - { from: review, event: send_back, to: write }
  - { from: build, event: submit, to: done }`
  const message = expect.stringMatching(
    /^error never-fresh: "submit" in "write" needs an approval of "plan", and no earlier event/,
  )
  expect(freshness({ ways })).toEqual([message])
  expect(freshness({ ways, fresh: 'run' })).toEqual([message])
  expect(freshness({ ways: ways.replace('guard: right', 'guard: right, when_blocked: record') })).toEqual([])
})

test('freshness: a file of this state on an event that people send without files is a warning', () => {
  const plan = '{ type: artifact, artifact_type: plan, condition: exists }'
  expect(freshness({ plan })).toEqual([
    expect.stringMatching(
      /^warning never-fresh: "approve" in "review" needs "plan", people send it without files/,
    ),
  ])
  expect(freshness({ plan, fresh: 'loop' })).toEqual([])
})

test('freshness: a way back into the state itself leaves nothing that is new enough', () => {
  const ways = `  - { from: write, event: submit, to: review }
  - { from: review, event: approve, to: build, guard: right }
  - { from: build, event: send_back, to: review }
  - { from: build, event: submit, to: done }`
  expect(freshness({ ways })).toEqual([
    expect.stringMatching(
      /^warning never-fresh: A run that reaches "review" through write, build, review is stuck/,
    ),
  ])
  expect(freshness({ ways, fresh: 'run' })).toEqual([])
})

test('freshness: a process with very many ways is not walked to the end, and that is said', () => {
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`)
  const ways = names.flatMap((from) =>
    names.map((to) => `  - { from: ${from}, event: submit, to: ${to}, guard: g${to} }`),
  )
  const text = reviewed({
    ways: [...ways, '  - { from: s0, event: approve, to: done, guard: right }'].join('\n'),
  })
    .replace(
      '[{ name: write }, { name: review }, { name: build }, ',
      `[${names.map((name) => `{ name: ${name} }`).join(', ')}, `,
    )
    .replace('initial_state: write', 'initial_state: s0')
    .replace(
      'guards:',
      `guards:\n${names.map((name) => `  g${name}: { type: context, variable: a, condition: exists }`).join('\n')}`,
    )
  const { findings } = readDefinition(text)
  expect(findings.filter(({ rule }) => rule === 'never-fresh')).toMatchObject([
    { severity: 'note', message: expect.stringContaining('too many paths') },
  ])
})
test.each([
  ['CI=1 cargo test && go vet ./...', 'Cargo.toml and go.mod'],
  ['./scripts/check.sh --fast', 'scripts/check.sh'],
  ['bash scripts/check.sh', 'scripts/check.sh'],
  ['node scripts/check.mjs', 'scripts/check.mjs'],
  ['python3 tools/check.py', 'tools/check.py'],
  ['cargo test', 'Cargo.toml'],
  ['go test ./...', 'go.mod'],
])('a command that runs what the project says pins it: %s', (run, files) => {
  const guards = (pinned: string) => `guards:\n  ran: { type: command, run: "${run}"${pinned} }\n`
  const used: readonly [string, string] = ['guard: low_risk }', 'guard: { all: [low_risk, ran] } }']
  const said = found(['guards:\n', guards('')], used)
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('warning nothing-pinned')
  expect(said[0]).toContain(`is defined in ${files}. Pin`)
  expect(found(['guards:\n', guards(', pinned: [x]')], used)).toEqual([])
})

test.each([
  'true',
  'git diff --exit-code',
  'test -f README.md',
  '/usr/bin/node /opt/check.js',
  'grep -q done plan.md',
  // An approval covers their scripts.
  'npm test',
  'CI=1 pnpm run check --silent && make check',
])('a command that runs nothing of the project but what its approval covers needs no pin: %s', (run) => {
  const guards = `guards:\n  ran: { type: command, run: "${run}" }\n`
  expect(found(['guards:\n', guards], ['guard: low_risk }', 'guard: { all: [low_risk, ran] } }'])).toEqual([])
})

test('an event that would read as an option is refused by name, and ends no lint', () => {
  const text = `process: { dialect: 1, id: e, version: "1", name: E, initial_state: a }
roles: [{ name: agent, kind: agent }]
states: [{ name: a }, { name: b, is_final: true }]
events: [{ name: "-x", allowed_roles: [agent] }]
transitions: [{ from: a, event: "-x", to: b }]
`
  expect(readDefinition(text).findings.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('does not begin with a dash, and is "-x"'),
  )
})
