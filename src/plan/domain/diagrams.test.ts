import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aPlacedTask } from '../../../test/support/graph-tasks.ts'
import { dependencyTree, dot, mermaid } from './diagrams.ts'

const phases = [{ id: 'P1', name: 'Design "it"', missionId: null }]
const tasks = [
  aPlacedTask('Draw', { status: 'done', phaseId: 'P1' }),
  aPlacedTask('Build', { dependsOn: ['Draw'] }),
  aPlacedTask('Ship', { dependsOn: ['Build', 'elsewhere'] }),
  aPlacedTask('Write', { claimed: true }),
]

test('a mermaid flowchart groups by phase, points to what waits, and names the classes', () => {
  const text = mermaid({ phases, tasks })
  expect(text.split('\n').filter((line) => !line.includes('classDef'))).toEqual([
    'flowchart LR',
    '  subgraph p1["Design #34;it#34;"]',
    '    t1["Draw"]',
    '  end',
    '  t2["Build"]',
    '  t3["Ship"]',
    '  t4["Write"]',
    '  t1 --> t2',
    '  t2 ==> t3',
    '  class t1 done',
    '  class t4 in_progress',
    '  class t2 ready',
    '  class t3 blocked',
    '  class t2,t3 critical',
    '',
  ])
})

test('a dot digraph shows the same', () => {
  const text = dot({ phases, tasks })
  expect(text).toContain('label="Design \\"it\\""')
  expect(text).toContain('t1 [label="Draw" class="done" fillcolor="#d9ead3"]')
  expect(text).toContain(
    't2 [label="Build" class="ready critical" fillcolor="#cfe2f3" penwidth=3 color="#cc0000"]',
  )
  expect(text).toContain('t1 -> t2\n')
  expect(text).toContain('t2 -> t3 [penwidth=3 color="#cc0000"]')
})

const hostile = [
  'say "hi"] --> t9["x',
  'end',
  '<img src=x onerror=alert(1)>',
  'back\\slash\\n and \\"',
  'two\nlines\r\nand\ttabs\u2028',
  '1. not a list',
  '`**bold** _it_`',
  '%%{init: {}}%%',
  '#quot; &amp; &lt;',
  '{braces} (parens) |pipe|; click t1 href',
  'Ünïcödé 日本語 🚀 \u202eevil\u0000',
  '\ud800 lone',
  '   ',
  '\\',
]

test('a mermaid label holds no sign that could end it or be read as markup', () => {
  for (const title of hostile) {
    const labels = [
      ...mermaid({ phases: [], tasks: [aPlacedTask('a', { title })] }).matchAll(/^ {2}t1\["(.*)"\]$/gm),
    ]
    expect(labels.length, title).toBe(1)
    const withoutEntities = labels[0]?.[1]?.replace(/#\d+;/g, '') ?? '#'
    expect(withoutEntities, title).not.toMatch(/[!-/:-@[-`{-~\p{Cc}\p{Cs}\u202e\u2028]/u)
  }
})

test('a mermaid label says again what the title says', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (title) => {
      const label =
        /t1\["(.*)"\]/.exec(mermaid({ phases: [], tasks: [aPlacedTask('a', { title })] }))?.[1] ?? ''
      const read = label.replace(/#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      expect(read.trim()).toBe(
        title
          .replace(/[\s\p{Cc}]+/gu, ' ')
          .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
          .trim(),
      )
    }),
  )
})

test('a dot label is one quoted string whatever the title is', () => {
  for (const title of hostile) {
    const text = dot({ phases: [], tasks: [aPlacedTask('a', { title })] })
    expect(text, title).toMatch(/^ {2}t1 \[label="(?:[^"\\\n]|\\["\\])*" class="ready" [^"]*"#cfe2f3"/m)
    expect(text.split('\n').length, title).toBe(6)
  }
})

test('a tree draws each task below what it waits for, and its dependents once', () => {
  expect(dependencyTree({ phases, tasks })).toBe('✓ Draw\n└─ ○ Build\n   └─ · Ship\n● Write\n')
  const diamond = [
    aPlacedTask('A'),
    aPlacedTask('B', { dependsOn: ['A'] }),
    aPlacedTask('C', { dependsOn: ['A'] }),
    aPlacedTask('D', { dependsOn: ['B', 'C'] }),
    aPlacedTask('E', { dependsOn: ['D'] }),
  ]
  expect(dependencyTree({ phases: [], tasks: diamond })).toBe(
    '○ A\n├─ · B\n│  └─ · D\n│     └─ · E\n└─ · C\n   └─ · D (see above)\n',
  )
})
