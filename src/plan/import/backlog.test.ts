import { expect, test } from 'vitest'
import type { PlanDocument } from '../domain/document.ts'
import { readBacklog, taskNames } from './backlog.ts'
import type { SourceText } from './import-result.ts'

function acceptedBacklog(files: readonly SourceText[]): {
  readonly document: PlanDocument
  readonly notices: readonly string[]
} {
  const result = readBacklog(files)
  if (!result.accepted) throw new Error(result.problems.join('\n'))
  return result
}

function file(path: string, ...frontMatter: readonly string[]): SourceText {
  return { path: `backlog/${path}`, text: ['---', ...frontMatter, '---', ''].join('\n') }
}

const full: SourceText = {
  path: 'backlog/tasks/task-12 - Log-in.md',
  text: `---
id: task-12
title: 'Log in: "OAuth" #1'
status: In Progress
assignee:
  - @ann
reporter: @bob
created_date: '2025-07-26 14:30'
updated_date: 2025-11-30
labels: [web, 'a: b']
milestone: m-8
dependencies:
  - TASK-2
  - 3
parent_task_id: task-1
priority: high
ordinal: 2000
color: red
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
People log in.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 It works
- [x] #2 It is quick
<!-- AC:END -->

## Implementation Notes

Took the library.
`.replaceAll('\n', '\r\n'),
}

const others = [
  file(
    'tasks/task-1 - Epic.md',
    'id: task-1',
    'title: Epic',
    'status: To Do',
    'assignee: [@ann, bob]',
    'labels:',
  ),
  file(
    'completed/task-2 - Old.md',
    'id: TASK-2',
    'title: Old',
    'status: Done',
    'milestone: Web UI',
    'ordinal: 1',
  ),
  file('archive/tasks/task-3 - Gone.md', 'id: task-3', 'title: Gone', 'status: To Do', 'milestone: v1.0'),
  file('milestones/m-8 - web-ui.md', 'id: m-8', 'title: "Web UI"'),
  { path: 'backlog/config.yml', text: 'project_name: x' },
]

test('a task keeps its text, criteria, notes, names, dates and references', () => {
  const { document } = acceptedBacklog([full, ...others])
  expect(document.tasks.find(({ key }) => key === 'task-12')).toEqual({
    key: 'task-12',
    title: 'Log in: "OAuth" #1',
    description: ['People log in.', 'Assignee: @ann\nLabels: web, a: b\nPriority: high'].join('\n\n'),
    doneWhen: { criteria: ['It works', 'It is quick'] },
    phase: 'backlog',
    milestone: 'm-8',
    parent: 'task-1',
    role: null,
    assignee: null,
    areas: [],
    status: 'in_progress',
    resolution: null,
    sortOrder: 2000,
    dependsOn: ['TASK-2', 'task-3'],
    notes: [
      {
        content: 'Took the library.',
        kind: 'implementation_notes',
        role: null,
        author: null,
        createdAt: null,
      },
    ],
    creator: '@bob',
    createdAt: Date.UTC(2025, 6, 26, 14, 30),
    updatedAt: Date.UTC(2025, 10, 30),
    foreignId: 'task-12',
  })
})

test('criteria that are no list stay in the description', () => {
  const prose = full.text.replace('- [ ] #1 It works', 'It works.')
  const { document } = acceptedBacklog([{ ...full, text: prose }, ...others])
  const task = document.tasks.find(({ key }) => key === 'task-12')
  expect(task?.description).toContain('## Acceptance Criteria')
  expect(task).not.toHaveProperty('doneWhen')
})

test('completed tasks are done, archived ones dropped, and tasks stand by their numbers', () => {
  const { tasks } = acceptedBacklog([full, ...others]).document
  expect(tasks.map(({ key, status, resolution }) => [key, status, resolution])).toEqual([
    ['task-1', 'to_do', null],
    ['TASK-2', 'done', null],
    ['task-3', 'done', 'dropped'],
    ['task-12', 'in_progress', null],
  ])
})

test('milestones come from their files, by id or title, and from tasks that only name one', () => {
  const { milestones, tasks } = acceptedBacklog([full, ...others]).document
  expect(milestones.map(({ key, name, reached, foreignId }) => [key, name, reached, foreignId])).toEqual([
    ['m-8', 'Web UI', false, 'm-8'],
    ['v1-0', 'v1.0', true, null],
  ])
  expect(tasks.map(({ milestone }) => milestone)).toEqual([null, 'm-8', 'v1-0', 'm-8'])
})

test('reports what is left out', () => {
  const files = [
    full,
    file(
      'tasks/task-4 - x.md',
      'id: task-4',
      'title: x',
      'status: Sleeping',
      'created_date: soon',
      'dependencies: [task-99]',
    ),
    file('drafts/draft-1 - y.md', 'id: draft-1', 'title: y'),
  ]
  expect(acceptedBacklog([...files, ...others]).notices).toEqual([
    'backlog/drafts/draft-1 - y.md: left out: it is a draft.',
    'backlog/tasks/task-4 - x.md: the status "Sleeping" is unknown; the task counts as to do.',
    'backlog/tasks/task-4 - x.md: left out: the created_date "soon", which is not a date.',
    'backlog/tasks/task-4 - x.md: left out: the dependency on task-99, which is not among the files.',
    'backlog/tasks/task-12 - Log-in.md: left out: the field "color", which Waymark does not keep.',
  ])
})

test('a file that cannot be read and a missing title refuse the whole folder', () => {
  const files = [
    { path: 'backlog/tasks/task-5 - a.md', text: '# No front matter' },
    { path: 'backlog/tasks/task-6 - b.md', text: '---\nid: task-6\ntitle: "open\n---\n' },
    file('tasks/task-9 - e.md', 'id: task-9'),
  ]
  const result = readBacklog(files)
  expect(result).toMatchObject({
    accepted: false,
    problems: [
      'backlog/tasks/task-5 - a.md: it has no front matter between two lines of ---.',
      expect.stringMatching(/^backlog\/tasks\/task-6 - b\.md: its front matter is not YAML: line \d+: /),
      'backlog/tasks/task-9 - e.md: "title" is missing.',
    ],
  })
})

test('of an id given twice the file that is worked on keeps it, and is what others mean', () => {
  const { document, notices } = acceptedBacklog([
    file('archive/tasks/task-8 - old.md', 'id: TASK-8', 'title: old'),
    file('tasks/task-9 - next.md', 'id: task-9', 'title: next', 'dependencies: [8, task-8]'),
    file('tasks/task-8 - new.md', 'id: task-8', 'title: new'),
    { path: 'backlog/tasks/readme.md', text: 'no task' },
  ])
  expect(document.tasks.map(({ key, title, dependsOn }) => [key, title, dependsOn])).toEqual([
    ['task-8', 'new', []],
    ['TASK-8-2', 'old', []],
    ['task-9', 'next', ['task-8']],
  ])
  expect(notices).toEqual([
    'backlog/archive/tasks/task-8 - old.md: the id TASK-8 belongs to another task already (backlog/tasks/task-8 - new.md), so this one became TASK-8-2.',
  ])
})

test('a folder without tasks is an empty plan', () => {
  expect(acceptedBacklog([]).document).toEqual({ phases: [], milestones: [], tasks: [] })
})

const find = taskNames([
  { id: 'BACK-7' },
  { id: 'back-7.1' },
  { id: 'BACK-8' },
  { id: 'old-8' },
  { id: 'back-7' },
])

test('a task is found by its id in any case, by its number, and under another prefix', () => {
  expect(['BACK-7', 'back-7', '7', 'task-7'].map(find)).toEqual(['BACK-7', 'BACK-7', 'BACK-7', 'BACK-7'])
  expect(['7.1', 'TASK-7.1'].map(find)).toEqual(['back-7.1', 'back-7.1'])
})

test('a number that two tasks have names neither, and an unknown one names none', () => {
  expect(['8', 'task-8', '9', 'soon', ''].map(find)).toEqual([null, null, null, null, null])
  expect(find('old-8')).toBe('old-8')
})
