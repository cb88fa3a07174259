import type { TaskInPlan } from './outline.ts'
import { type TaskMark, type TaskState, taskStates } from './readiness.ts'

/** A diagram: tasks as boxes, grouped by phase, with an arrow from each task to its dependents. */
export interface DiagramSource {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly tasks: readonly TaskInPlan[]
}

export interface DependencyDiagram {
  readonly groups: readonly DiagramGroup[]
  readonly arrows: readonly Arrow[]
}

export interface DiagramGroup {
  /** Null for tasks outside the given phases. */
  readonly name: string | null
  readonly boxes: readonly DiagramBox[]
}

export interface DiagramBox extends Pick<TaskState, 'mark' | 'critical'> {
  /** Safe in every diagram language, unlike user-chosen ids. */
  readonly name: string
  readonly title: string
}

export interface Arrow {
  readonly from: string
  readonly to: string
  /** Consecutive tasks on the critical path. */
  readonly critical: boolean
}

function dependencyDiagram({ phases, tasks }: DiagramSource): DependencyDiagram {
  const found = taskStates(tasks)
  const boxes = new Map(
    tasks.map((task, place) => [
      task.id,
      {
        name: `t${place + 1}`,
        title: task.title,
        mark: found[place]?.mark ?? 'blocked',
        critical: found[place]?.critical ?? false,
      },
    ]),
  )
  const phaseIds = new Set(phases.map(({ id }) => id))
  const inPhase = Map.groupBy(tasks, ({ phaseId }) =>
    phaseId !== null && phaseIds.has(phaseId) ? phaseId : null,
  )
  const boxesOf = (phaseId: string | null): readonly DiagramBox[] =>
    (inPhase.get(phaseId) ?? []).flatMap(({ id }) => boxes.get(id) ?? [])
  return {
    groups: [...phases, { id: null, name: null }]
      .map(({ id, name }) => ({ name, boxes: boxesOf(id) }))
      .filter((group) => group.boxes.length > 0),
    arrows: tasks.flatMap((task) => [...new Set(task.dependsOn)].flatMap((id) => arrow(boxes, id, task.id))),
  }
}

function arrow(boxes: ReadonlyMap<string, DiagramBox>, from: string, to: string): readonly Arrow[] {
  const [before, after] = [boxes.get(from), boxes.get(to)]
  if (!before || !after) return []
  return [{ from: before.name, to: after.name, critical: before.critical && after.critical }]
}

/** A Mermaid flowchart of the dependencies. */
export function mermaid(source: DiagramSource): string {
  const { groups, arrows } = dependencyDiagram(source)
  const boxes = groups.flatMap((group) => group.boxes)
  const lines = [
    'flowchart LR',
    ...groups.flatMap((group, place) => {
      const inside = group.boxes.map(({ name, title }) => `${name}["${mermaidLabel(title)}"]`)
      if (group.name === null) return inside.map((line) => `  ${line}`)
      const head = `  subgraph p${place + 1}["${mermaidLabel(group.name)}"]`
      return [head, ...inside.map((line) => `    ${line}`), '  end']
    }),
    ...arrows.map((arrow) => `  ${arrow.from} ${line(arrow)} ${arrow.to}`),
    '  classDef done fill:#d9ead3,stroke:#6aa84f,color:#333',
    '  classDef in_progress fill:#fff2cc,stroke:#bf9000,color:#333',
    '  classDef ready fill:#cfe2f3,stroke:#3d85c6,color:#333',
    '  classDef blocked fill:#eeeeee,stroke:#999999,color:#333',
    '  classDef dropped fill:#f7f7f7,stroke:#bbbbbb,color:#999,stroke-dasharray:4',
    '  classDef critical stroke:#cc0000,stroke-width:3px',
    ...['done', 'in_progress', 'ready', 'blocked', 'dropped'].flatMap((mark) =>
      classLine(
        boxes.filter((box) => box.mark === mark),
        mark,
      ),
    ),
    ...classLine(
      boxes.filter(({ critical }) => critical),
      'critical',
    ),
  ]
  return `${lines.join('\n')}\n`
}

function line({ critical }: Arrow): string {
  return critical ? '==>' : '-->'
}

function classLine(boxes: readonly DiagramBox[], name: string): readonly string[] {
  return boxes.length === 0 ? [] : [`  class ${boxes.map((box) => box.name).join(',')} ${name}`]
}

/** Punctuation is encoded as numeric entities: a label may be read as Markdown, HTML or Mermaid. */
function mermaidLabel(text: string): string {
  return plainLabel(text).replace(/[!-/:-@[-`{-~]/g, (sign) => `#${sign.charCodeAt(0)};`)
}

const colors = {
  done: '#d9ead3',
  in_progress: '#fff2cc',
  ready: '#cfe2f3',
  blocked: '#eeeeee',
  dropped: '#f7f7f7',
} as const satisfies Record<TaskMark, string>

/** A Graphviz digraph of the dependencies. */
export function dot(source: DiagramSource): string {
  const { groups, arrows } = dependencyDiagram(source)
  const lines = [
    'digraph plan {',
    '  rankdir=LR',
    '  node [shape=box style="rounded,filled" fontname="sans-serif"]',
    ...groups.flatMap((group, place) => {
      const inside = group.boxes.map(boxLine)
      if (group.name === null) return inside.map((line) => `  ${line}`)
      const head = [`  subgraph cluster_p${place + 1} {`, `    label="${dotLabel(group.name)}"`]
      return [...head, ...inside.map((line) => `    ${line}`), '  }']
    }),
    ...arrows.map(
      ({ from, to, critical }) => `  ${from} -> ${to}${critical ? ' [penwidth=3 color="#cc0000"]' : ''}`,
    ),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

function boxLine({ name, title, mark, critical }: DiagramBox): string {
  const classes = critical ? `${mark} critical` : mark
  const droppedStyle = mark === 'dropped' ? ' fontcolor="#999999" style="rounded,filled,dashed"' : ''
  const border = critical ? ' penwidth=3 color="#cc0000"' : ''
  return `${name} [label="${dotLabel(title)}" class="${classes}" fillcolor="${colors[mark]}"${droppedStyle}${border}]`
}

/** Graphviz interprets escapes and HTML entities in quoted labels. */
function dotLabel(text: string): string {
  return plainLabel(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')
}

/** One line without control characters, lone surrogates and direction marks. */
export function plainLabel(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .trim()
  return line === '' ? ' ' : line
}

const marks = { done: '✓', in_progress: '●', ready: '○', blocked: '·', dropped: '✗' } as const

/** A tree in text: below each task those that wait for it. A task that waits for several stands in full below the first. */
export function dependencyTree(source: DiagramSource): string {
  const { groups, arrows } = dependencyDiagram(source)
  const boxes = new Map(groups.flatMap((group) => group.boxes).map((box) => [box.name, box]))
  const after = Map.groupBy(arrows, ({ from }) => from)
  const waiting = new Set(arrows.map(({ to }) => to))
  const lines: string[] = []
  const drawn = new Set<string>()
  const roots = [...boxes.values()].filter(({ name }) => !waiting.has(name)).toReversed()
  const open = roots.map((box) => ({ box, lead: '', below: '' }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { box, lead, below } = next
    const isAgain = drawn.has(box.name)
    const dependents = (after.get(box.name) ?? []).flatMap(({ to }) => boxes.get(to) ?? [])
    const isCut = isAgain && dependents.length > 0
    lines.push(`${lead}${marks[box.mark]} ${box.title}${isCut ? ' (see above)' : ''}`)
    if (isAgain) continue
    drawn.add(box.name)
    const last = dependents.length - 1
    const branches = dependents.map((dependent, at) => ({
      box: dependent,
      lead: `${below}${at === last ? '└─ ' : '├─ '}`,
      below: `${below}${at === last ? '   ' : '│  '}`,
    }))
    open.push(...branches.toReversed())
  }
  return `${lines.join('\n')}\n`
}
