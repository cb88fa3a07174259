import type { PlacedTask } from '../outline.ts'
import { type Standing, standings } from '../standing.ts'

/** What a diagram shows: tasks as boxes, grouped by phase, with an arrow from each task to what waits for it. */
export interface DiagramSource {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly tasks: readonly PlacedTask[]
}

export interface DependencyDiagram {
  readonly groups: readonly DiagramGroup[]
  readonly arrows: readonly Arrow[]
}

export interface DiagramGroup {
  /** Null for tasks outside the phases given. */
  readonly name: string | null
  readonly boxes: readonly Box[]
}

export interface Box extends Pick<Standing, 'mark' | 'critical'> {
  /** Safe in every language of diagrams, unlike ids, which people choose. */
  readonly name: string
  readonly title: string
}

export interface Arrow {
  readonly from: string
  readonly to: string
  /** Both ends are on the critical path, one after the other. */
  readonly critical: boolean
}

export function dependencyDiagram({ phases, tasks }: DiagramSource): DependencyDiagram {
  const found = standings(tasks)
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
  const known = new Set(phases.map(({ id }) => id))
  const inPhase = Map.groupBy(tasks, ({ phaseId }) =>
    phaseId !== null && known.has(phaseId) ? phaseId : null,
  )
  const boxesOf = (phaseId: string | null): readonly Box[] =>
    (inPhase.get(phaseId) ?? []).flatMap(({ id }) => boxes.get(id) ?? [])
  return {
    groups: [...phases, { id: null, name: null }]
      .map(({ id, name }) => ({ name, boxes: boxesOf(id) }))
      .filter((group) => group.boxes.length > 0),
    arrows: tasks.flatMap((task) => [...new Set(task.dependsOn)].flatMap((id) => arrow(boxes, id, task.id))),
  }
}

function arrow(boxes: ReadonlyMap<string, Box>, from: string, to: string): readonly Arrow[] {
  const [before, after] = [boxes.get(from), boxes.get(to)]
  if (!before || !after) return []
  return [{ from: before.name, to: after.name, critical: before.critical && after.critical }]
}
