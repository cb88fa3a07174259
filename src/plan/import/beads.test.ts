import { expect, test } from 'vitest'
import type { PlanDocument } from '../domain/document.ts'
import { readBeads } from './beads.ts'

function acceptedBeads(...issues: readonly object[]): {
  readonly document: PlanDocument
  readonly notices: readonly string[]
} {
  const result = readBeads(issues.map((issue) => `${JSON.stringify(issue)}\n`).join(''))
  if (!result.accepted) throw new Error(result.problems.join('\n'))
  return result
}

function link(from: string, to: string, type: string): object {
  return {
    issue_id: from,
    depends_on_id: to,
    type,
    created_at: '2025-10-16T20:46:09-07:00',
    created_by: 'ann',
  }
}

test('an issue keeps its texts, notes, comments, times and links', () => {
  const { document, notices } = acceptedBeads(
    {
      id: 'bd-2',
      title: 'Log in',
      description: 'People log in.',
      design: 'Use OAuth.\nOnly.',
      acceptance_criteria: 'It works.',
      notes: 'Half done.',
      status: 'closed',
      priority: 1,
      issue_type: 'feature',
      assignee: 'ann',
      estimated_minutes: 60,
      labels: ['web', 'auth'],
      external_ref: 'gh-9',
      created_at: '2025-10-16T20:46:09.123456-07:00',
      updated_at: '2025-10-17T00:00:00Z',
      closed_at: '2025-10-18T00:00:00Z',
      close_reason: 'Shipped',
      comments: [
        { id: 1, issue_id: 'bd-2', author: 'bob', text: 'Nice', created_at: '2025-10-19T00:00:00Z' },
      ],
      dependencies: [link('bd-2', 'bd-1', 'blocks'), link('bd-2', 'bd-9', 'discovered-from')],
    },
    { id: 'bd-1', title: 'Survey', status: 'open' },
  )
  expect(notices).toEqual([])
  expect(document.tasks[0]).toEqual({
    key: 'bd-2',
    title: 'Log in',
    description: [
      'People log in.',
      '## Design\n\nUse OAuth.\nOnly.',
      'Acceptance criteria: It works.\nType: feature\nPriority: 1\nLabels: web, auth\nAssignee: ann\nEstimate: 60 minutes\nElsewhere: gh-9',
    ].join('\n\n'),
    phase: null,
    milestone: null,
    parent: null,
    role: null,
    assignee: null,
    areas: [],
    status: 'done',
    resolution: null,
    sortOrder: null,
    dependsOn: ['bd-1'],
    notes: [
      { content: 'Half done.', kind: 'notes', role: null, author: null, createdAt: null },
      {
        content: 'Nice',
        kind: 'comment',
        role: null,
        author: 'bob',
        createdAt: Date.parse('2025-10-19T00:00:00Z'),
      },
      {
        content: 'Shipped',
        kind: 'close_reason',
        role: null,
        author: null,
        createdAt: Date.parse('2025-10-18T00:00:00Z'),
      },
      { content: 'discovered-from bd-9', kind: 'link', role: null, author: null, createdAt: null },
    ],
    creator: null,
    createdAt: Date.parse('2025-10-17T03:46:09.123Z'),
    updatedAt: Date.parse('2025-10-17T00:00:00Z'),
    foreignId: 'bd-2',
  })
})

test('a parent comes from its link, else from the name', () => {
  const { tasks } = acceptedBeads(
    { id: 'bd-1', title: 'Epic', issue_type: 'epic' },
    { id: 'bd-1.1', title: 'By name' },
    { id: 'bd-2', title: 'By link', dependencies: [link('bd-2', 'bd-1', 'parent-child')] },
    { id: 'bd-1.2', title: 'Moved', dependencies: [link('bd-1.2', 'bd-2', 'parent-child')] },
  ).document
  expect(tasks.map(({ key, parent, dependsOn }) => [key, parent, dependsOn])).toEqual([
    ['bd-1', null, []],
    ['bd-1.1', 'bd-1', []],
    ['bd-2', 'bd-1', []],
    ['bd-1.2', 'bd-2', []],
  ])
})

test('statuses become ours, and what they say beyond that is kept', () => {
  const { document, notices } = acceptedBeads(
    ...['open', 'in_progress', 'blocked', 'closed', 'deferred', 'tombstone', 'sleeping'].map((status) => ({
      id: status,
      title: 'x',
      status,
    })),
  )
  expect(document.tasks.map(({ key, status, description }) => [key, status, description])).toEqual([
    ['open', 'to_do', null],
    ['in_progress', 'in_progress', null],
    ['blocked', 'to_do', 'Status in beads: blocked'],
    ['closed', 'done', null],
    ['deferred', 'to_do', 'Status in beads: deferred'],
    ['sleeping', 'to_do', 'Status in beads: sleeping'],
  ])
  expect(notices).toEqual([
    'left out: deleted issues (1).',
    'line 7: the status "sleeping" is unknown; the task counts as to do.',
  ])
})

test('a dependency on an issue that is not there, and an unknown field, are reported', () => {
  const { document, notices } = acceptedBeads(
    { id: 'a', title: 'A', dependencies: [link('a', 'gone', 'blocks')], molecule: 1 },
    { id: 'b', title: 'B', molecule: 2 },
  )
  expect(document.tasks[0]?.dependsOn).toEqual([])
  expect(notices).toEqual([
    'line 1: left out: the dependency on gone, which is not in the file.',
    'line 1 and 1 more: left out: the field "molecule", which Waymark does not keep.',
  ])
})

test('a broken line, an id given twice and a circle refuse the whole file', () => {
  const a = JSON.stringify({ id: 'a', title: 'A', dependencies: [link('a', 'b', 'blocks')] })
  const b = JSON.stringify({ id: 'b', title: 'B', dependencies: [link('b', 'a', 'blocks')] })
  expect(readBeads(`${a}\n${b}\n`)).toMatchObject({
    accepted: false,
    problems: ['line 1: tasks depend on each other in a circle: a → b → a.'],
  })
  expect(readBeads('{"id":"a","title":"A"}\n{"id":\n{"id":"a","title":"A"}\n')).toMatchObject({
    accepted: false,
    problems: [
      expect.stringMatching(/^line 2: this is not JSON/),
      'line 3: the key "a" belongs to another task already (line 1).',
    ],
  })
})
