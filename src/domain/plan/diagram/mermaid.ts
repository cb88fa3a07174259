import { type Arrow, type Box, type DiagramSource, dependencyDiagram } from './dependency-diagram.ts'
import { plainLabel } from './plain-label.ts'

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

function classLine(boxes: readonly Box[], name: string): readonly string[] {
  return boxes.length === 0 ? [] : [`  class ${boxes.map((box) => box.name).join(',')} ${name}`]
}

/** Punctuation goes as a numeric entity, because a label may be read as Markdown, HTML or Mermaid. */
function mermaidLabel(text: string): string {
  return plainLabel(text).replace(/[!-/:-@[-`{-~]/g, (sign) => `#${sign.charCodeAt(0)};`)
}
