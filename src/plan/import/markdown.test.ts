import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlanDocument } from '../domain/document.ts'
import { readMarkdownPlan } from './markdown.ts'
import { readPlanText } from './read-plan.ts'

const markdownExample = `# Shop

## Design #p1

**Milestone:** Design agreed — everyone has read it #agreed

- [x] Draw the screens @project-designer
- [ ] Describe the API #api @software-architect
      OpenAPI, with examples.
      after: Draw the screens

## Build

- [ ] Basket (after: api)
  - [ ] Prices
  - [ ] Discounts (after: Prices)
- [ ] Checkout after: Basket, api @developer

**Milestone:** First order — an order goes through on staging
`

function acceptedMarkdown(text: string): {
  readonly document: PlanDocument
  readonly notices: readonly string[]
} {
  const result = readMarkdownPlan(text)
  if (!result.accepted) throw new Error(result.problems.join('\n'))
  return result
}

/** The dependencies of each task that has any. */
function dependencies(text: string): Readonly<Record<string, readonly string[]>> {
  const { tasks } = acceptedMarkdown(text).document
  return Object.fromEntries(
    tasks.filter((task) => task.dependsOn.length > 0).map((task) => [task.key, task.dependsOn]),
  )
}

test('the example of the dialect is read whole', () => {
  const { document, notices } = acceptedMarkdown(markdownExample)
  expect(notices).toEqual(['line 1: left out: the title "Shop".'])
  expect(document.phases.map(({ key, name, status }) => [key, name, status])).toEqual([
    ['p1', 'Design', 'in_progress'],
    ['build', 'Build', 'to_do'],
  ])
  expect(document.milestones.map(({ key, phase, name, criterion }) => [key, phase, name, criterion])).toEqual(
    [
      ['agreed', 'p1', 'Design agreed', 'everyone has read it'],
      ['first-order', 'build', 'First order', 'an order goes through on staging'],
    ],
  )
  expect(
    document.tasks.map(({ key, phase, milestone, parent, status, dependsOn }) => [
      key,
      phase,
      milestone,
      parent,
      status,
      dependsOn,
    ]),
  ).toEqual([
    ['draw-the-screens', 'p1', 'agreed', null, 'done', []],
    ['api', 'p1', 'agreed', null, 'to_do', ['draw-the-screens']],
    ['basket', 'build', 'first-order', null, 'to_do', ['api']],
    ['prices', 'build', 'first-order', 'basket', 'to_do', []],
    ['discounts', 'build', 'first-order', 'basket', 'to_do', ['prices']],
    ['checkout', 'build', 'first-order', null, 'to_do', ['basket', 'api']],
  ])
  expect(document.tasks[1]).toMatchObject({
    title: 'Describe the API',
    role: 'software-architect',
    description: 'OpenAPI, with examples.',
  })
})

test('the guide shows the same example', () => {
  const guide = new URL('../../../docs/guide/plan.md', import.meta.url)
  expect(readFileSync(guide, 'utf8')).toContain(`\`\`\`markdown\n${markdownExample}\`\`\``)
})

test('without checkboxes, lists are the tasks: numbered ones too, and numbers are references', () => {
  const { document, notices } = acceptedMarkdown(`# Plan

Some words first.

## Build
1. Draw it @developer
2. Build it after: 1
   with care
   - a part of it
3) Ship it (after: 2, Draw it)
## Later
* Look again
`)
  expect(document.phases.map(({ name }) => name)).toEqual(['Build', 'Later'])
  expect(document.tasks.map(({ key, parent, status, role }) => [key, parent, status, role])).toEqual([
    ['draw-it', null, 'to_do', 'developer'],
    ['build-it', null, 'to_do', null],
    ['a-part-of-it', 'build-it', 'to_do', null],
    ['ship-it', null, 'to_do', null],
    ['look-again', null, 'to_do', null],
  ])
  expect(document.tasks.map(({ dependsOn }) => dependsOn)).toEqual([
    [],
    ['draw-it'],
    [],
    ['build-it', 'draw-it'],
    [],
  ])
  expect(document.tasks[1]?.description).toBe('with care')
  expect(notices).toEqual(['line 1: left out: the title "Plan".', 'line 3: left out: text outside any task.'])
})

test('a numbered list is tasks beside checkboxes, and below one a description', () => {
  const { document, notices } = acceptedMarkdown(`## Build
1. **Draw** it
   - [ ] The form
   - a remark
2. Build it (after: 1)
## Check
- [ ] Try it **all** (after: Build it)
  1. start
  2. look
- a bullet
`)
  expect(document.tasks.map(({ title, parent, dependsOn }) => [title, parent, dependsOn])).toEqual([
    ['Draw it', null, []],
    ['The form', 'draw-it', []],
    ['Build it', null, ['draw-it']],
    ['Try it all', null, ['build-it']],
  ])
  expect(document.tasks[3]?.description).toBe('1. start\n2. look')
  expect(notices).toMatchObject([/1 list entry .* line 10\./].map((found) => expect.stringMatching(found)))
})

test.each([
  ['**Bold** and **more**', 'Bold and more'],
  ['**Whole title**', 'Whole title'],
  ['Write `__init__.py` and __main__', 'Write `__init__.py` and __main__'],
  ['2 ** 3 ** 4', '2 ** 3 ** 4'],
  [`${'**a '.repeat(400)}`, '**a '.repeat(400).trim()],
])('bold marks are left out of titles: %s', (written, title) => {
  expect(acceptedMarkdown(`- [ ] ${written}\n`).document.tasks[0]?.title).toBe(title)
})

test('marks say how far a task is, and an unknown one is reported', () => {
  const { document, notices } = acceptedMarkdown(
    '- [ ] a\n- [x] b\n* [X] c\n+ [/] d\n1. [~] e\n- [-] f\n- [] g\n- [?] h',
  )
  expect(document.tasks.map(({ key, status, resolution }) => `${key} ${status} ${resolution}`)).toEqual([
    'a to_do null',
    'b done null',
    'c done null',
    'd in_progress null',
    'e in_progress null',
    'f done dropped',
    'g to_do null',
    'h to_do null',
  ])
  expect(notices).toEqual(['line 8: the mark "[?]" is unknown; the task counts as to do.'])
})

test('what is not understood is reported with its lines, and rules and comments are not', () => {
  const text = `---
Intro
goes on

# Plan
<!-- - [ ] not a task
still not -->
- plain item
## Build
- [ ]
- [ ] Real
lazy
**Milestone:**
##
`
  expect(acceptedMarkdown(text).notices).toEqual([
    expect.stringMatching(/1 list entry .* line 8\./),
    'lines 2 to 3: left out: text outside any task.',
    'line 5: left out: the title "Plan".',
    'line 10: left out: a checkbox without text.',
    'line 12: left out: text outside any task.',
    'line 13: left out: a milestone without a name.',
    'line 14: left out: a heading without text.',
  ])
})

test('a reference is a key, a title or a leading number, and a comma may be part of a title', () => {
  const text = `
- [ ] 1.2 Read, write and *count* #rw
- [ ] T004: Test
- [ ] Fine
- [ ] all (after: #rw, t004, FINE)
- [ ] title (after: 1.2 Read, write and count)
- [ ] quoted after: "1.2 Read, write and count", \`Fine\`
- [ ] number
  - depends on: 1.2; Fine
`
  expect(dependencies(text)).toEqual({
    all: ['rw', 't004-test', 'fine'],
    title: ['rw'],
    quoted: ['rw', 'fine'],
    number: ['rw', 'fine'],
  })
})

test('a key after the dependencies is the key of the task itself', () => {
  expect(dependencies('- [ ] A #a\n- [ ] B #b\n- [ ] C after: #a, #b #c\n- [ ] D after: #a\n')).toEqual({
    c: ['a', 'b'],
    d: ['a'],
  })
})

test('a dependency that names nothing, or several tasks, is reported and left out', () => {
  const text = '- [ ] Test\n- [ ] Test\n- [ ] Ship (after: Test, Tset)\n'
  const { document, notices } = acceptedMarkdown(text)
  expect(document.tasks.map(({ key }) => key)).toEqual(['test', 'test-2', 'ship'])
  expect(document.tasks[2]?.dependsOn).toEqual([])
  expect(notices).toEqual([
    'line 3: left out: the dependency on "Test", which names the tasks of lines 1, 2; give one of them a #key.',
    'line 3: left out: the dependency on "Tset", which is not a task of this plan.',
  ])
})

test('of tasks with one title the one of the same phase is meant', () => {
  const text = '## A\n- [ ] Test\n## B\n- [ ] Test\n- [ ] Ship (after: Test)\n'
  expect(dependencies(text)).toEqual({ ship: ['test-2'] })
})

test('signs within a title belong to it, as do escaped ones at its end', () => {
  const { tasks } = acceptedMarkdown(
    '- [ ] Mail @bob about #12 today\n- [ ] Fix #12\n- [ ] Use \\#hash\n- [ ] **Bold one** @dev (id: b)\n',
  ).document
  expect(tasks.map(({ title, key, role }) => [title, key, role])).toEqual([
    ['Mail @bob about #12 today', 'mail-bob-about-12-today', null],
    ['Fix #12', 'fix-12', null],
    ['Use #hash', 'use-hash', null],
    ['Bold one', 'b', 'dev'],
  ])
})

test('a description keeps its shape, with code that looks like tasks', () => {
  const text = '- [ ] A\n\n  One.\n\n  - plain\n    - deeper\n  ```md\n  - [ ] no task\n  ```\n\n- [ ] B\n'
  const { tasks } = acceptedMarkdown(text).document
  expect(tasks.map(({ title }) => title)).toEqual(['A', 'B'])
  expect(tasks[0]?.description).toBe('One.\n\n- plain\n  - deeper\n```md\n- [ ] no task\n```')
})

test('tabs and Windows line ends make the same plan', () => {
  expect(acceptedMarkdown('- [ ] A\r\n\t- [ ] B\r\n\t\ttext\r\n').document).toEqual(
    acceptedMarkdown('- [ ] A\n    - [ ] B\n        text\n').document,
  )
})

test('headings that only hold headings give their name to those below', () => {
  const text = '# Shop\n## Backend\n### Storage\n- [ ] a\n### Search\n- [ ] b\n## Web\n- [ ] c\n## Later\n'
  expect(acceptedMarkdown(text).document.phases.map(({ name }) => name)).toEqual([
    'Backend / Storage',
    'Backend / Search',
    'Web',
    'Later',
  ])
})

test('a heading over nothing but text is no phase, and its text is reported in one piece', () => {
  const { document, notices } = acceptedMarkdown(
    '# Plan\n\nWhy.\n\nHow.\n\n## Notes\nSome.\n\n---\n\nMore.\n\n## Build\n- [ ] a\n',
  )
  expect(document.phases.map(({ name }) => name)).toEqual(['Build'])
  expect(notices).toEqual([
    'line 1: left out: the title "Plan".',
    'lines 3 to 5: left out: text outside any task.',
    'line 7: left out: a heading over text alone.',
    'lines 8 to 12: left out: text outside any task.',
  ])
})

test('a milestone may be reached, plain, or of tasks above it', () => {
  const text = '## A\n- [ ] a\n- [x] **Milestone**: Alpha: all green\n## B\nMilestone: Beta #beta\n- [ ] b\n'
  const { milestones, tasks } = acceptedMarkdown(text).document
  expect(milestones.map(({ key, name, criterion, reached }) => [key, name, criterion, reached])).toEqual([
    ['alpha', 'Alpha', 'all green', true],
    ['beta', 'Beta', null, false],
  ])
  expect(tasks.map(({ milestone }) => milestone)).toEqual(['alpha', 'beta'])
})

test('a circle of dependencies and a key given twice refuse the whole plan', () => {
  expect(readMarkdownPlan('- [ ] A #a (after: b)\n- [ ] B #b (after: a)\n- [ ] C #a\n')).toEqual({
    accepted: false,
    notices: [
      'line 2: left out: the dependency on "a", which names the tasks of lines 1, 3; give one of them a #key.',
    ],
    problems: ['line 3: the key "a" belongs to another task already (line 1).'],
  })
  expect(readMarkdownPlan('- [ ] A #a (after: b)\n- [ ] B #b (after: a)\n')).toMatchObject({
    problems: ['line 1: tasks depend on each other in a circle: a → b → a.'],
  })
})

const word = fc.constantFrom(
  '- [ ] ',
  '  - [x] ',
  '# ',
  '## ',
  'Milestone: ',
  'after: ',
  '#k',
  '@r',
  '\n',
  '\t',
  '"',
  '(',
  ')',
  'a',
  ',',
  '```',
  '<!--',
  '-->',
  '\\',
)

test('any text is read without an error, and each checkbox line is a task or is reported', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      const text = words.join('')
      const result = readMarkdownPlan(text)
      // Nothing is returned: fast-check takes what a matcher answers for the verdict.
      if (!result.accepted) {
        expect(result.problems.length).toBeGreaterThan(0)
        return
      }
      if (/```|<!--|~~~/.test(text)) return
      const checkboxes = text
        .split('\n')
        .filter((line) => /^\s*- \[[ x]\] *\S/.test(line) && !/milestone:/i.test(line))
      const unnamed = result.notices.filter((notice) => notice.includes('a checkbox without text')).length
      expect(result.document.tasks.length + unnamed).toBeGreaterThanOrEqual(checkboxes.length)
    }),
  )
})

test('list entries outside tasks with checkboxes are counted, with their lines', () => {
  const { document, notices } = acceptedMarkdown('## Build\n- [ ] A\n- B\n- C\n\nProse.\n\n* D\n')
  expect(document.tasks.map(({ title }) => title)).toEqual(['A'])
  expect(notices).toEqual([
    expect.stringMatching(/^left out: 3 list entries .* lines 3, 4, 8\./),
    'line 6: left out: text outside any task.',
  ])
})

test('a plan of more tasks than can be recorded at once is refused with their number', () => {
  expect(readMarkdownPlan('1. a\n'.repeat(50_001))).toMatchObject({
    accepted: false,
    problems: [expect.stringContaining('50001')],
  })
})

test('a plan of more lines or values than anyone works through is refused before it is read', () => {
  const markdown = readPlanText({ format: 'markdown', name: 'plan.md', text: '\n'.repeat(600_000) })
  const json = readPlanText({ format: 'json', name: 'plan.json', text: `[${'1,'.repeat(2_000_001)}1]` })
  for (const result of [markdown, json]) {
    expect(result).toMatchObject({ accepted: false, problems: [expect.stringContaining('Split it')] })
  }
})
