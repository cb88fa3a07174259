import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { transition } from '../../src/gate/domain/engine.ts'
import { beginRun } from '../../src/gate/domain/run.ts'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'
import { amount } from '../support/amount.ts'
import { definitionIn, eventRequest, smallProcess } from '../support/processes.ts'

const everyKey = `${smallProcess
  .replace('kind: human', 'kind: human, description: Reads')
  .replace(
    'build, max_visits: 2',
    'build, description: Build it, max_visits: 2, tool_permissions: { allowed: [Read], denied: [Bash], ask: [Edit], paths: { Write: ["docs/**"] } }',
  )
  .replace(
    'send_back, to: build',
    'send_back, to: build, description: Again, allowed_roles: [reviewer], merge_payload: true',
  )
  .replace('guard: low_risk', 'guard: { all: [low_risk, { any: [tests, { not: scope }] }] }')
  .replace(
    '["docs/plan.md"]',
    '["docs/plan.md"], description: The plan, min_bytes: 10, schema: { type: object }',
  )
  .replace('name: Small', 'name: Small\n  description: A small one')}`.replace(
  'guards:\n',
  `guards:
  tests: { type: command, run: npm test, timeout: 10m, fresh: tree, pinned: [package.json], description: Tests }
  scope: { type: changes, condition: touches_only, paths: ["src/**"] }
  free: { type: blockers, condition: none }
  m1: { type: milestone, id: M1 }
  phase: { type: task, condition: all_done, phase: P1 }
  proven: { type: verdict, condition: proven }
  merged: { type: landed, branch: main }
  built: { type: ci, checks: [unit], max_age: 12h }
  ok: { type: approval, role: reviewer, artifact: plan, count: 2 }
`,
)

const freeKeys = [
  'initial_context',
  'context_schema',
  'payload_schema',
  'schema',
  'assign',
  'paths',
  'guards',
]

/** The paths of all keys whose name the dialect fixes. */
function keyPaths(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => keyPaths(item, [...path, String(at)]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'guards') {
      return [
        [...path, key],
        ...Object.entries(inner as object).flatMap(([name, guard]) => keyPaths(guard, [...path, key, name])),
      ]
    }
    return freeKeys.includes(key) ? [[...path, key]] : [[...path, key], ...keyPaths(inner, [...path, key])]
  })
}

/** The file with the key at a path written otherwise. */
function renamed(path: readonly string[], to: string): string {
  const rename = (value: any, [key = '', ...rest]: readonly string[]): any => {
    if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? rename(item, rest) : item))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (name !== key) return [name, inner]
        return rest.length === 0 ? [to, inner] : [name, rename(inner, rest)]
      }),
    )
  }
  return stringify(rename(parse(everyKey), path))
}

test('a valid definition with nearly every key is read', () => {
  expect(readDefinition(everyKey).findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(keyPaths(parse(everyKey)).length).toBeGreaterThan(110)
})

test('a typo in any key of a valid definition is refused, naming the key that was meant and the place', () => {
  const each = amount({ test: 3, soak: 1 })
  for (const path of keyPaths(parse(everyKey)).filter((_, at) => at % each === 0)) {
    const key = path.at(-1) ?? ''
    const typo = `${key}${key.at(-1)}`
    const { definition, findings } = readDefinition(renamed(path, typo))
    const told = findings.filter(({ message }) => message.includes(`"${typo}"`))
    expect(definition, path.join('.')).toBeNull()
    expect(told.map(({ message }) => message).join('\n'), path.join('.')).toMatch(
      new RegExp(`Did you mean "${key}"`),
    )
    expect(told[0]?.place, path.join('.')).not.toBeNull()
  }
})

test('a misspelt guard: is told with line, column and the key that was meant', () => {
  const { definition, findings } = readDefinition(smallProcess.replace('guard: low_risk', 'gaurd: low_risk'))
  expect(definition).toBeNull()
  const line = smallProcess.split('\n').findIndex((each) => each.includes('guard: low_risk')) + 1
  const column = (smallProcess.split('\n')[line - 1]?.indexOf('guard') ?? 0) + 1
  expect(findings).toEqual([
    {
      severity: 'error',
      rule: 'unknown-key',
      message: 'transitions[2] has no key "gaurd". Did you mean "guard"?',
      path: ['transitions', 2, 'gaurd'],
      place: { line, column },
    },
  ])
})

test.each([
  ['a key twice', 'roles:\n', 'roles: []\nroles:\n', 'unique'],
  ['an alias', 'kind: agent', 'kind: &a agent, description: *a', 'aliases'],
  ['an anchor', 'kind: agent', 'kind: &a agent', 'aliases'],
  ['a tag', 'kind: agent', 'kind: !!js/function agent', 'tag'],
  ['two documents', 'roles:\n', '---\nroles:\n', 'document'],
  ['a text for a number', 'max_visits: 2', 'max_visits: two', 'must be a whole number from 1, and is "two"'],
  ['a number for a text', 'name: Small', 'name: 3', 'must be a text, and is 3'],
  ['no value', 'version: "1.0.0"', 'version:', 'must be a text, and is null'],
  ['an empty guard', 'guard: low_risk', 'guard:', 'transitions[2].guard must be a text, and is null'],
  ['a wrong choice', 'when_blocked: record', 'when_blocked: recrod', 'Did you mean "record"?'],
  ['a wrong type of guard', 'type: context', 'type: contxt', 'Did you mean "context"?'],
  ['a wrong condition', 'condition: equals', 'condition: equal', 'Did you mean "equals"?'],
  ['a missing key', ', to: abandoned', '', 'has no "to"'],
  [
    'a list for an object',
    '  enough: { type',
    '  more: []\n  enough: { type',
    'guards.more must be an object, and is a list',
  ],
  ['a dialect to come', 'dialect: 1', 'dialect: 2', 'must be 1, and is 2'],
  ['an inert key', 'kind: human', 'kind: human, can_approve: true', 'In dialect 1 guards of type approval'],
  [
    'two branches of a guard',
    'guard: low_risk',
    'guard: { all: [low_risk], any: [enough] }',
    'one of all, any, not',
  ],
  ['no branch of a guard', 'guard: low_risk', 'guard: {}', 'one of all, any, not'],
  ['an empty list of guards', 'guard: low_risk', 'guard: { all: [] }', 'a list with an entry'],
])('refused: %s', (_, from, to, message) => {
  const { definition, findings } = readDefinition(smallProcess.replace(from, to))
  expect(definition).toBeNull()
  expect(findings.map((finding) => finding.message).join('\n')).toContain(message)
})

test('an empty section is an empty list', () => {
  const { definition } = readDefinition(`${smallProcess}schemas:\n`.replace('dialect: 1', ''))
  expect(definition?.transitions).toHaveLength(6)
})

test('a file that would exhaust memory or stack is refused, not read', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'.split('').map((key, at) => `${key}: &${key} [${`*${'abcdefgh'[at]},`.repeat(9)}]`),
  ]
  for (const text of [
    bomb.join('\n'),
    '['.repeat(200_000),
    `a: "${'x'.repeat(1_000_001)}"`,
    '',
    ': : :',
    '\u0000',
  ]) {
    const { definition, findings } = readDefinition(text)
    expect(definition).toBeNull()
    expect(findings.length).toBeGreaterThan(0)
  }
})

const original = `process: { id: exploration-process, version: "1.0.0", name: Exploration, initial_state: frame }
states:
  - { name: frame, required_artifacts: [hypothesis], prompt: "About {context.topic}" }
  - { name: decide, is_terminal: false }
  - { name: complete, is_final: true }
events:
  - name: submit_hypothesis
    allowed_roles: [agent, human]
    payload_schema: { $ref: "#/schemas/hypothesis" }
  - { name: finalize, allowed_roles: [human] }
transitions:
  - { from: frame, event: submit_hypothesis, to: decide, guard: has_hypothesis }
  - { from: decide, event: finalize, to: complete }
guards:
  has_hypothesis: { type: artifact, artifact_type: hypothesis, condition: count, min_count: 1 }
artifacts:
  - { type: hypothesis, required_in_states: [frame], required_for_transitions: [x] }
roles:
  - { name: agent, allowed_events: [submit_hypothesis], can_approve: false, can_reject: false }
  - { name: human, allowed_events: [submit_hypothesis, finalize] }
schemas:
  hypothesis: { type: object, required: [text], properties: { text: { type: string } } }
`

test('a file of the original loads; its inert keys are notes, its roles have kinds, its payload is merged', () => {
  const { definition, findings } = readDefinition(original)
  expect(new Set(findings.map(({ severity, rule }) => `${severity} ${rule}`))).toEqual(
    new Set(['note inert-key']),
  )
  expect(findings).toHaveLength(8)
  expect(definition?.roles.map(({ name, kind }) => `${name} ${kind}`)).toEqual(['agent agent', 'human human'])
  expect(definition?.transitions.every(({ mergePayload }) => mergePayload)).toBe(true)
  const process = definitionIn(original)
  const emit = (payload: object) =>
    transition(
      process,
      beginRun(process),
      eventRequest('submit_hypothesis', { payload: { ...payload }, assumed: ['*'] }),
    )
  expect(emit({ text: 'So' })).toMatchObject({ accepted: true, run: { context: { text: 'So' } } })
  expect(emit({ text: 1 })).toMatchObject({ code: 'INVALID_PAYLOAD', validationErrors: [{ path: '/text' }] })
})
