import { describe, expect, test } from 'vitest'
import { Failure } from '../../failure.ts'
import { catalog } from '../catalog.ts'
import type { Operation } from '../operation.ts'
import { parseInput } from './parse-input.ts'

function operationNamed(name: string): Operation {
  const operation = catalog.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`no operation ${name}`)
  return operation
}

function messageOf(name: string, raw: unknown): string {
  try {
    parseInput(operationNamed(name), raw)
  } catch (error) {
    if (error instanceof Failure) return `${error.message} | ${error.hint}`
    throw error
  }
  throw new Error('the input was accepted')
}

const completion = { task_id: 't-1', status: 'success', outcome: { summary: 'Done.' } }

describe('converts unambiguous input of agents', () => {
  test.each([
    ['Success', 'success'],
    ['done', 'success'],
    ['PARTIAL-SUCCESS', 'partial_success'],
    ['failure', 'failed'],
  ])('the status %s means %s', (sent, meant) => {
    expect(parseInput(operationNamed('complete_task'), { ...completion, status: sent })['status']).toBe(meant)
  })

  test('null and an empty optional text are absent', () => {
    const parsed = parseInput(operationNamed('start_task'), {
      name: 'a',
      parent_task_id: null,
      goal: '',
      mission_id: null,
    })
    expect(parsed).toEqual({ name: 'a' })
  })

  test('numbers as text, texts as numbers, booleans as words, and one text for a list', () => {
    expect(
      parseInput(operationNamed('start_task'), { name: 7, phase: '2', areas: 'auth', take_over: 'true' }),
    ).toEqual({
      name: '7',
      phase: 2,
      areas: ['auth'],
      take_over: true,
    })
    expect(parseInput(operationNamed('start_task'), { name: 'a', areas: '["x","y"]' })['areas']).toEqual([
      'x',
      'y',
    ])
    expect(parseInput(operationNamed('start_task'), { name: 'a', areas: 'x,y' })['areas']).toEqual(['x,y'])
    const desktop = { form: 'desktop', kinds: 'blocker, approval' }
    expect(parseInput(operationNamed('notify_add'), desktop)['kinds']).toEqual(['blocker', 'approval'])
  })

  test('a truth value where a choice is 0 or 1', () => {
    const milestone = { id: 'M1', phase: 'P1' }
    expect(
      parseInput(operationNamed('taskman_milestone_add'), { ...milestone, reached: true })['reached'],
    ).toBe('1')
    expect(parseInput(operationNamed('taskman_milestone_add'), { ...milestone, reached: 0 })['reached']).toBe(
      '0',
    )
  })

  test('text that only looks like a number stays refused', () => {
    expect(messageOf('log_milestone', { task_id: 't', message: 'm', progress: '50%' })).toContain('"50%"')
  })
})

describe('reports a mistake in one sentence with the value and the fix', () => {
  test('an unknown field names the nearest one', () => {
    expect(messageOf('start_mission', { name: 'a', objective: 'b', descripton: 'c' })).toContain(
      'Unknown field "descripton": did you mean "description"?',
    )
  })

  test('an unknown nested field names the nearest one there', () => {
    const sent = { ...completion, outcome: { summary: 's', achievments: [] } }
    expect(messageOf('complete_task', sent)).toContain('"outcome.achievments": did you mean "achievements"?')
  })

  test('a value outside a choice names the choices', () => {
    expect(messageOf('complete_task', { ...completion, status: 'maybe' })).toContain(
      '"status" cannot be "maybe": choose success, partial_success or failed.',
    )
  })

  test('a missing field and a hint with all fields', () => {
    const message = messageOf('start_mission', { name: 'a' })
    expect(message).toContain('"objective" is missing.')
    expect(message).toContain('name, objective, description, profile')
  })

  test('a wrong type, an empty text, a number out of range', () => {
    expect(messageOf('log_milestone', { task_id: 't', message: {}, progress: 101 })).toMatch(
      /"message" must be a string, not \{\}\..*"progress" must be at most 100, not 101\./,
    )
    expect(messageOf('start_mission', { name: '', objective: 'x' })).toContain('"name" must not be empty.')
  })

  test('names the length of a text that is too long', () => {
    const message = messageOf('start_mission', { name: 'a', objective: 'x'.repeat(20_001) })
    expect(message).toContain('has 20001 characters; at most 20000 are kept')
  })

  test.each([
    ['a list', []],
    ['a text', 'x'],
    ['a number', 4],
  ])('%s is no input', (_, raw) => {
    expect(messageOf('start_mission', raw)).toContain('takes an object of named fields')
  })

  test('hostile keys are refused like any other unknown field', () => {
    const hostile = JSON.parse('{"name":"a","objective":"b","__proto__":{"x":1},"constructor":1}') as unknown
    expect(messageOf('start_mission', hostile)).toContain(
      'Unknown fields "__proto__", "constructor": the fields are name',
    )
    expect(messageOf('complete_task', { ...completion, toString: 1 })).toContain('Unknown field "toString"')
  })
})

test('parses an object sent as text, and names the expected keys for any other text', () => {
  const sent = { ...completion, outcome: '{"summary":"Done."}' }
  expect(parseInput(operationNamed('complete_task'), sent)['outcome']).toEqual({ summary: 'Done.' })
  expect(messageOf('complete_task', { ...completion, outcome: 'Done.' })).toContain(
    '"outcome" must be an object of summary, achievements, limitations',
  )
})
