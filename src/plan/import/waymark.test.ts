import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyPlanDocument } from '../../../test/support/any-plan-document.ts'
import { aDocument, aDocumentTask } from '../../../test/support/plan-documents.ts'
import { documentJson, type PlanDocument } from '../domain/document.ts'
import { readPlanJson, readPlanJsonl } from './waymark.ts'

test('a plan written as JSON is read again without loss', () => {
  fc.assert(
    fc.property(anyPlanDocument, (document) => {
      expect(readPlanJson(JSON.stringify(documentJson(document)))).toEqual({
        accepted: true,
        document,
        notices: [],
      })
    }),
  )
})

function lines(document: PlanDocument): string {
  const { waymark_plan: version, phases, milestones, tasks } = documentJson(document)
  const entities = [
    ...phases.map((phase) => ({ kind: 'phase', ...phase })),
    ...milestones.map((milestone) => ({ kind: 'milestone', ...milestone })),
    ...tasks.map((task) => ({ kind: 'task', ...task })),
  ]
  return [{ kind: 'plan', version }, ...entities].map((entity) => JSON.stringify(entity)).join('\n')
}

test('a plan written as JSONL is read again without loss', () => {
  fc.assert(
    fc.property(anyPlanDocument, (document) => {
      const text = lines(document)
      expect(text.trimEnd().split('\n').length).toBe(
        1 + document.phases.length + document.milestones.length + document.tasks.length,
      )
      expect(readPlanJsonl(text)).toEqual({ accepted: true, document, notices: [] })
    }),
  )
})

test('what is not needed can be left out', () => {
  const text =
    '{ "tasks": [{ "key": 1, "title": "One" }, { "key": "2", "title": "Two", "depends_on": [1] }] }'
  const tasks = [aDocumentTask('1', { title: 'One' }), aDocumentTask('2', { title: 'Two', dependsOn: ['1'] })]
  expect(readPlanJson(text)).toEqual({ accepted: true, document: aDocument(tasks), notices: [] })
})

test('every problem of a JSON plan is named with its path, and nothing is accepted', () => {
  const text = JSON.stringify({
    phases: [{ key: 'P1', name: 'Design', status: 'doing' }],
    tasks: [
      { key: 'a', titel: 'A', created_at: 'yesterday', notes: [{ text: 'x' }] },
      { key: 'b', title: 'B', depends_on: ['c', {}], phase: 'P1', sort_order: '3' },
      7,
    ],
  })
  const result = readPlanJson(text)
  expect(result).toEqual({
    accepted: false,
    notices: [],
    problems: [
      'phases[0].status: expected one of to_do, in_progress, done, found "doing".',
      'tasks[0]: "title" is missing.',
      'tasks[0].notes[0]: "content" is missing.',
      'tasks[0].created_at: expected a time such as 2026-01-31T09:30:00Z, found "yesterday".',
      'tasks[1].sort_order: expected a number, found "3".',
      'tasks[1].depends_on[1]: expected a text, found {}.',
      'tasks[2]: expected an object, found 7.',
      'tasks[0].notes[0]: the field "text" is unknown.',
      'tasks[0]: the field "titel" is unknown.',
      'tasks[2]: the task has an empty key.',
      'tasks[1]: the task "b" depends on "c", which is not in the plan.',
    ],
  })
})

test('a text that is not JSON says where it breaks', () => {
  expect(readPlanJson('{\n  "tasks": [\n    {}\n    {}\n  ]\n}')).toMatchObject({
    accepted: false,
    problems: [expect.stringMatching(/^line 4: this is not JSON: /)],
  })
  expect(readPlanJson('oops')).toMatchObject({
    accepted: false,
    problems: [expect.stringMatching(/^file: this is not JSON: .*oops/)],
  })
  expect(readPlanJson('[]')).toMatchObject({
    accepted: false,
    problems: ['plan: expected an object, found [].'],
  })
})

test('a newer plan is refused', () => {
  expect(readPlanJson('{"waymark_plan": 2}')).toMatchObject({
    accepted: false,
    problems: ['plan: the plan has version 2, and this Waymark reads version 1.'],
  })
})

test('a JSONL plan names the line of each problem', () => {
  const text = [
    '{"kind":"task","key":"a","title":"A","depends_on":["b"]}',
    '',
    'nonsense',
    '{"kind":"epic"}',
    '{}',
  ]
  const result = readPlanJsonl(text.join('\n'))
  expect(result).toMatchObject({
    accepted: false,
    problems: [
      expect.stringMatching(/^line 3: this is not JSON: /),
      'line 4.kind: expected one of plan, phase, milestone, task, found "epic".',
      'line 5: "kind" is missing; it is plan, phase, milestone or task.',
      'line 1: the task "a" depends on "b", which is not in the plan.',
    ],
  })
})
