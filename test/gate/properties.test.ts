import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProcessDefinition } from '../../src/gate/domain/definition.ts'
import { checkTransition, transition } from '../../src/gate/domain/engine.ts'
import type { EventRequest } from '../../src/gate/domain/event-request.ts'
import { beginRun, type Run } from '../../src/gate/domain/run.ts'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'
import { amount } from '../support/amount.ts'
import { anyText } from '../support/any-text.ts'
import { artifactOf, definitionIn, eventRequest, smallProcess } from '../support/processes.ts'

const guard = fc.letrec<{ readonly guard: unknown }>((tie) => ({
  guard: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('low', 'high', 'noted'),
    fc.record({ all: fc.array(tie('guard'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('guard'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('guard') }),
  ),
})).guard

const states = ['s0', 's1', 's2', 's3']
const way = fc.record({
  from: fc.constantFrom('*', 's0', 's1', 's2'),
  event: fc.constantFrom('a', 'b', 'c'),
  to: fc.constantFrom(...states),
  when_blocked: fc.constantFrom('reject', 'record'),
  escape: fc.boolean(),
  assign: fc.constantFrom({}, { risk: '$.payload.risk' }),
  guard: fc.option(guard, { nil: undefined }),
})

/** Any process over four states: whether lint likes it does not matter to the engine. */
const anyProcess: fc.Arbitrary<ProcessDefinition> = fc
  .record({
    ways: fc.array(way, { minLength: 1, maxLength: 12 }),
    required: fc.boolean(),
    dialect: fc.constantFrom({}, { dialect: 1 }),
  })
  .map(({ ways: transitions, required, dialect }) =>
    definitionIn(
      JSON.stringify({
        process: { ...dialect, id: 'any', version: '1', name: 'Any', initial_state: 's0' },
        roles: [{ name: 'agent' }],
        states: [
          { name: 's0', ...(required && { required_artifacts: ['note'] }) },
          { name: 's1', max_visits: 2 },
          { name: 's2' },
          { name: 's3', is_final: true },
        ],
        events: ['a', 'b', 'c'].map((name) => ({ name, allowed_roles: ['agent'] })),
        transitions,
        guards: {
          low: { type: 'context', variable: 'risk', condition: 'equals', value: 'low' },
          high: { type: 'context', variable: '$.payload.risk', condition: 'equals', value: 'high' },
          noted: { type: 'artifact', artifact_type: 'note', condition: 'count', min_count: 2 },
        },
        artifacts: [{ type: 'note', paths: ['notes/*'] }],
      }),
    ),
  )

const anyEventRequests = fc.array(
  fc
    .record({
      event: fc.constantFrom('a', 'b', 'c', 'd'),
      payload: fc.constantFrom({}, { risk: 'low' }, { risk: 'high' }),
      paths: fc.subarray(['notes/1', 'notes/2', 'notes/3']),
    })
    .map(({ event, payload, paths }) =>
      eventRequest(event, { payload, artifacts: paths.map((path) => artifactOf('note', path)) }),
    ),
  { maxLength: 15 },
)

interface Played {
  readonly run: Run
  readonly accepted: readonly EventRequest[]
}

function play(definition: ProcessDefinition, eventRequests: readonly EventRequest[]): Played {
  let run = beginRun(definition)
  const accepted: EventRequest[] = []
  for (const each of eventRequests) {
    const result = transition(definition, run, each)
    if (!result.accepted) continue
    run = result.run
    accepted.push(each)
  }
  return { run, accepted }
}

test('never is a transition taken whose guard is false', () => {
  let moved = 0
  fc.assert(
    fc.property(anyProcess, anyEventRequests, (definition, eventRequests) => {
      let run = beginRun(definition)
      for (const each of eventRequests) {
        const result = transition(definition, run, each)
        if (!result.accepted) continue
        if (result.stateChanged) {
          moved += 1
          const ways = definition.transitions.filter(
            ({ from, event, to }) =>
              event === each.event && to === result.to && (from === '*' || from === run.state),
          )
          expect(
            ways.some(
              (taken) =>
                checkTransition(definition, run, { transition: taken, eventRequest: each }).satisfied,
            ),
          ).toBe(true)
        } else expect(result.run.state).toBe(run.state)
        expect(result.run.revision).toBe(run.revision + 1)
        run = result.run
      }
    }),
    { numRuns: amount({ test: 20, soak: 300 }) },
  )
  expect(moved).toBeGreaterThan(0)
})

test('replaying the accepted events alone gives the same run, and a refused one leaves no trace', () => {
  fc.assert(
    fc.property(anyProcess, anyEventRequests, (definition, eventRequests) => {
      const first = play(definition, eventRequests)
      expect(play(definition, first.accepted)).toEqual(first)
      expect(first.run.revision).toBe(first.accepted.length + 1)
    }),
    { numRuns: amount({ test: 20, soak: 300 }) },
  )
})

test('any change of one character in a file is read or told, never thrown', () => {
  fc.assert(
    fc.property(fc.nat(smallProcess.length - 1), anyText({ maxLength: 2 }), (at, text) => {
      const changed = smallProcess.slice(0, at) + text + smallProcess.slice(at + 1)
      const { definition, findings } = readDefinition(changed)
      expect(definition !== null || findings.some(({ severity }) => severity === 'error')).toBe(true)
    }),
    { numRuns: amount({ test: 15, soak: 300 }) },
  )
})
