import type { Mark } from '../standing.ts'
import { type Box, type DiagramSource, dependencyDiagram } from './dependency-diagram.ts'
import { plainLabel } from './plain-label.ts'

const colours = {
  done: '#d9ead3',
  in_progress: '#fff2cc',
  ready: '#cfe2f3',
  blocked: '#eeeeee',
  dropped: '#f7f7f7',
} as const satisfies Record<Mark, string>

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

function boxLine({ name, title, mark, critical }: Box): string {
  const classes = critical ? `${mark} critical` : mark
  const gone = mark === 'dropped' ? ' fontcolor="#999999" style="rounded,filled,dashed"' : ''
  const border = critical ? ' penwidth=3 color="#cc0000"' : ''
  return `${name} [label="${dotLabel(title)}" class="${classes}" fillcolor="${colours[mark]}"${gone}${border}]`
}

/** Graphviz reads escapes and HTML entities in every quoted label. */
function dotLabel(text: string): string {
  return plainLabel(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')
}
