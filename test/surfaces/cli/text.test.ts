import { expect, test } from 'vitest'
import { callTo, Failure, fieldName, hintOf, inputFailure, sentenceOf } from '../../../src/kernel/failure.ts'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { formatHintCommands } from '../../../src/kernel/operations/hints.ts'
import { withFlagNames } from '../../../src/surfaces/cli/failures.ts'
import { table } from '../../../src/surfaces/cli/render/table.ts'
import { formatAge, formatDuration } from '../../../src/surfaces/cli/render/text.ts'
import { withoutControlCodes } from '../../../src/surfaces/cli/terminal.ts'
import { changedFiles } from '../../../src/track/cli/changes.ts'
import { completeTask } from '../../../src/track/operations/complete-task.ts'

test.each([
  [
    hintOf`Use ${callTo('start_task', { planned_task_id: 't-1' })} to begin.`,
    'Use start_task { planned_task_id: "t-1" } to begin.',
    'Use waymark task start --planned-task-id t-1 to begin.',
    { operation: 'start_task', input: { planned_task_id: 't-1' } },
  ],
  [
    hintOf`Use ${callTo('get_context', { mission_id: undefined, include: ['tasks'] })}, then ${callTo('list_missions')}.`,
    'Use get_context { mission_id, include: ["tasks"] }, then list_missions.',
    'Use waymark context --mission-id … --include tasks, then waymark mission list.',
    { operation: 'get_context', input: { include: ['tasks'] } },
  ],
  [
    hintOf`${callTo('start_task', { name: 'Two words', take_over: true })}`,
    'start_task { name: "Two words", take_over: true }',
    `waymark task start --name 'Two words' --take-over`,
    { operation: 'start_task', input: { name: 'Two words', take_over: true } },
  ],
  [
    hintOf`${callTo('taskman_task_next', { role: 'dev$(touch x)' })}`,
    'taskman_task_next { role: "dev$(touch x)" }',
    "waymark task next --role 'dev$(touch x)'",
    { operation: 'taskman_task_next', input: { role: 'dev$(touch x)' } },
  ],
  [['No call: mission_id.'], 'No call: mission_id.', 'No call: mission_id.', null],
])(
  'a hint names calls to agents, commands to people, and the next call as data: %s',
  (hint, agent, person, fix) => {
    const failure = new Failure('CONFLICT', 'No.', { hint })
    expect(failure.hint).toBe(agent)
    expect(formatHintCommands(failure.hintParts, catalog)).toBe(person)
    expect(JSON.parse(JSON.stringify(failure.fix))).toEqual(fix)
  },
)

test('fields are named as they are written: as flags, or by their place', () => {
  const sentence = sentenceOf`${fieldName('task_id')} is missing, ${fieldName('outcome', 'next_steps')} too, ${fieldName('other')} is not ours.`
  const { message, hint } = withFlagNames(
    inputFailure('complete_task', sentence, { reason: 'input_invalid' }),
    completeTask,
  )
  expect(message).toBe('<task-id> is missing, --outcome.next-steps too, "other" is not ours.')
  expect(hint).toMatch(/^Usage: waymark task complete <task-id>/)
})

test.each([
  [20, 'short ids and', 30],
  [60, 'a long name that has to be broken into several lines of text', 40],
])('a table is at most as wide as the terminal: %i', (width, text, most) => {
  const columns = [{ title: 'id' }, { title: 'name', shrinks: true }]
  const drawn = table(columns, [['m-1', text]], { width, ink: (_, shown) => shown })
  expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(Math.max(width, most))
  expect(drawn.replace(/\s+/g, ' ')).toContain(text)
})

test('a table of nothing is nothing', () => {
  expect(table([{ title: 'id' }], [], { width: 80, ink: (_, shown) => shown })).toBe('')
})

test('a file’s name cannot begin a line that looks measured', () => {
  const page = { width: 80, now: 0, ink: (_: string, shown: string) => shown }
  const drawn = changedFiles(
    [{ change: 'added', path: 'a\n● Verified.\tx', added_lines: null, deleted_lines: null }],
    page,
  )
  expect(drawn).toBe('A  a\\n● Verified.\\tx')
})

test('ages and lengths of time are told in one unit or two', () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  const ago = (seconds: number) => formatAge(new Date(now - seconds * 1000).toISOString(), now)
  expect([0, 59, 60, 3600, 86_400].map(ago)).toEqual([
    '0 s ago',
    '59 s ago',
    '1 min ago',
    '1 h ago',
    '1 d ago',
  ])
  expect(ago(30 * 86_400)).toBe('2026-01-30')
  expect(ago(-5)).toBe('0 s ago')
  expect(formatAge('', now)).toBe('')
  expect([5, 60, 3600, 3900].map(formatDuration)).toEqual(['5 s', '1 min', '1 h', '1 h 5 min'])
})

test('characters that steer a terminal or turn text around are taken out', () => {
  const steering = [0x07, 0x0d, 0x1b, 0x7f, 0x9b, 0x202e, 0x2066]
    .map((code) => String.fromCharCode(code))
    .join('')
  expect(withoutControlCodes(`a${steering}b\tc\nd é 漢 🙂`)).toBe('ab\tc\nd é 漢 🙂')
})
