import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { artifactType } from '../../src/gate/domain/artifacts.ts'
import { type SimulatedEvent, simulate } from '../../src/gate/domain/simulate.ts'
import { publishedSchema } from '../../src/gate/process-files/dialect.ts'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'
import { definitionIn, smallProcess } from '../support/processes.ts'

const folder = join(import.meta.dirname, '..', '..', 'processes')
const read = (id: string): string => readFileSync(join(folder, `${id}.yaml`), 'utf8')
const ids = readdirSync(folder).flatMap((name) => (name.endsWith('.yaml') ? [name.slice(0, -5)] : []))

function event(name: string, more: Partial<SimulatedEvent> = {}): SimulatedEvent {
  return { event: name, payload: {}, artifacts: [], role: null, ...more }
}

/** The states that a run goes through. */
function way(
  id: string,
  events: readonly SimulatedEvent[],
  satisfied: readonly string[] = [],
): readonly string[] {
  const definition = definitionIn(read(id))
  const { steps } = simulate(definition, events, { satisfied, context: {} })
  const moves = steps.flatMap(({ result }) => (result.accepted && result.stateChanged ? [result.to] : []))
  return [definition.initialState, ...moves]
}

test('four processes are shipped', () => {
  expect(ids.sort()).toEqual(['change-control', 'exploration', 'feature', 'release'])
})

test.each(ids)('%s is read without a finding, fits the published schema, and types its own paths', (id) => {
  const { definition, findings } = readDefinition(read(id))
  expect(findings).toEqual([])
  expect(definition?.id).toBe(id)
  expect(definition?.dialect).toBe(1)
  // People read the prompts, too: `waymark run show`.
  expect(read(id)).not.toMatch(/taskman_|state_gate_/)
  const validate = new Ajv2020().compile(JSON.parse(publishedSchema()))
  expect(validate(parse(read(id))), JSON.stringify(validate.errors)).toBe(true)
  for (const { type, paths } of definition?.artifacts ?? []) {
    for (const path of paths) {
      expect(definition && artifactType(definition, path.replace('*', 'one')), path).toBe(type)
    }
  }
})

test('processes/process.schema.json is what the reader knows (npm run docs writes it)', () => {
  expect(readFileSync(join(folder, 'process.schema.json'), 'utf8')).toBe(publishedSchema())
  const validate = new Ajv2020().compile(JSON.parse(publishedSchema()))
  expect(validate(parse(smallProcess)), JSON.stringify(validate.errors)).toBe(true)
  expect(validate(parse(smallProcess.replace('guard: low', 'gaurd: low')))).toBe(false)
})

const explored = event('submit_exploration', { artifacts: ['docs/change/exploration.md'] })
const planned = event('submit_plan', { payload: { summary: 'Do it' }, artifacts: ['docs/change/plan.md'] })
const failed = event('fail', { payload: { failure: 'A test' } })
const passed = event('pass', { artifacts: ['docs/change/results.md'] })
const changed = event('submit_change')

test('feature goes to its end, and after two corrections back to the plan', () => {
  const projectEvents = ['in_scope', 'no_blockers']
  expect(way('feature', [explored, planned, changed, passed], projectEvents)).toEqual([
    'explore',
    'plan',
    'implement',
    'verify',
    'done',
  ])
  const corrections = [failed, changed, failed, changed, failed, planned, changed, passed]
  expect(way('feature', [explored, planned, changed, ...corrections], projectEvents)).toEqual(
    'explore plan implement verify rework verify rework verify plan implement verify done'.split(' '),
  )
  expect(way('feature', [explored, planned, changed])).toEqual(['explore', 'plan', 'implement'])
  expect(way('feature', [explored, planned, changed, event('pass')], projectEvents).at(-1)).toBe('verify')
  expect(way('feature', [event('abandon')])).toEqual(['explore', 'abandoned'])
})

test('exploration collects three observations, and asks for new ones in each round', () => {
  const observed = (name: string) =>
    event('submit_observation', { artifacts: [`exploration/observations/${name}.json`] })
  const begin = [
    event('submit_hypothesis', { artifacts: ['exploration/hypothesis.md'] }),
    event('submit_experiment', { artifacts: ['exploration/experiment.md'] }),
  ]
  const concluded = event('submit_synthesis', {
    payload: { conclusion: 'So' },
    artifacts: ['exploration/synthesis.md'],
  })
  const round = [...begin, observed('a'), observed('b'), observed('b'), observed('c'), concluded]
  const again = event('iterate', { payload: { question: 'And why?' } })
  const states = ['frame', 'experiment', 'observe', 'synthesize', 'decide']
  expect(way('exploration', [...round, event('finalize')])).toEqual([...states, 'answered'])
  expect(way('exploration', [...round, again, ...round, event('finalize')])).toEqual([
    ...states,
    ...states,
    'answered',
  ])
  expect(way('exploration', [...round, again, ...begin, observed('a'), observed('b')]).at(-1)).toBe('observe')
  expect(way('exploration', [event('finalize', { role: 'agent' })])).toEqual(['frame'])
})

test('change control needs approvals as its risk says, and a person’s acceptance', () => {
  const propose = (risk: string) => event('propose', { payload: { risk }, artifacts: ['docs/change.md'] })
  const rest = [event('submit_change'), event('accept')]
  const projectEvents = ['in_scope', 'no_blockers']
  const whole = ['propose', 'review', 'change', 'acceptance', 'closed']
  expect(
    way('change-control', [propose('low'), event('approve'), ...rest], [...projectEvents, 'one_approval']),
  ).toEqual(whole)
  expect(way('change-control', [propose('high'), event('approve')], ['one_approval']).at(-1)).toBe('review')
  expect(
    way('change-control', [propose('high'), event('approve'), ...rest], [...projectEvents, 'two_approvals']),
  ).toEqual(whole)
  expect(way('change-control', [propose('low'), event('approve')]).at(-1)).toBe('review')
  expect(way('change-control', [propose('low'), event('reject')]).at(-1)).toBe('rejected')
})

test('release ends after its tasks are proven, approved and landed, in this order', () => {
  const steps = [event('submit'), event('approve'), event('finish')]
  const given = ['tasks_done', 'proven', 'redone', 'approved', 'seen', 'landed']
  expect(way('release', steps, given)).toEqual(['build', 'review', 'land', 'released'])
  for (const [missing, state] of [
    ['tasks_done', 'build'],
    ['proven', 'build'],
    ['approved', 'review'],
    ['seen', 'land'],
    ['landed', 'land'],
  ]) {
    const others = given.filter((name) => name !== missing)
    expect(way('release', steps, others).at(-1), missing).toBe(state)
  }
  const back = [event('submit'), event('send_back', { payload: { reason: 'A test is missing' } })]
  expect(way('release', back, given)).toEqual(['build', 'review', 'build'])
  const again = [...back, event('submit')]
  expect(way('release', again, given).at(-1)).toBe('review')
  expect(
    way(
      'release',
      again,
      given.filter((name) => name !== 'redone'),
    ).at(-1),
  ).toBe('build')
})
