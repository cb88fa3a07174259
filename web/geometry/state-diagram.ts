import { layeredLayout, type PositionedEdge, type PositionedNode } from './layered-layout.ts'
import { flowPath, roundedPath } from './plane.ts'
import { textWidth } from './text-width.ts'

export interface DiagramState {
  readonly id: string
  readonly final: boolean
}

export interface DiagramTransition {
  readonly id: string
  /** What is written on it; its id where it has none. */
  readonly label?: string
  readonly from: string
  readonly to: string
}

export interface StateMachine {
  readonly states: readonly DiagramState[]
  readonly transitions: readonly DiagramTransition[]
}

/** Where a run stands: the transitions that it took, oldest first, and the state it is in. */
export interface DiagramProgress {
  readonly current: string
  readonly taken: readonly string[]
}

export type StatePart = 'current' | 'visited' | 'reachable' | 'out_of_reach'
export type TransitionPart = 'taken' | 'next' | 'reachable' | 'out_of_reach'

export interface DrawnState extends PositionedNode {
  readonly final: boolean
  readonly part: StatePart
}

export interface DrawnTransition extends PositionedEdge {
  /** Of an SVG path. */
  readonly path: string
  readonly part: TransitionPart
  readonly text: string
  /** How often the run took it. */
  readonly times: number
}

export interface StateDiagram {
  readonly width: number
  readonly height: number
  readonly states: readonly DrawnState[]
  readonly transitions: readonly DrawnTransition[]
}

/** States from left to right, with self-loops and ways back. A transition to or from an unknown state is left out. */
export function stateDiagram(machine: StateMachine, run: DiagramProgress): StateDiagram {
  const known = new Map(machine.states.map((state) => [state.id, state]))
  const drawn = machine.transitions.filter(({ from, to }) => known.has(from) && known.has(to))
  const placed = layeredLayout({
    nodes: machine.states.map(({ id }) => ({ id, width: Math.max(textWidth(id) + 28, 72), height: 30 })),
    edges: drawn.map(({ id, from, to, label = id }) => ({
      id,
      from,
      to,
      label: { width: textWidth(label, 11) + 8, height: 16 },
    })),
  })
  const texts = new Map(drawn.map(({ id, label = id }) => [id, label]))
  const ahead = reachableFrom(run.current, drawn)
  const taken = new Map<string, number>()
  for (const id of run.taken) taken.set(id, (taken.get(id) ?? 0) + 1)
  const visited = new Set(drawn.filter(({ id }) => taken.has(id)).flatMap(({ from, to }) => [from, to]))
  return {
    width: placed.width,
    height: placed.height,
    states: placed.nodes.map((node) => ({
      ...node,
      final: known.get(node.id)?.final ?? false,
      part:
        node.id === run.current
          ? 'current'
          : visited.has(node.id)
            ? 'visited'
            : ahead.has(node.id)
              ? 'reachable'
              : 'out_of_reach',
    })),
    transitions: placed.edges.map((edge) => {
      const times = taken.get(edge.id) ?? 0
      return {
        ...edge,
        path: pathOf(edge),
        text: texts.get(edge.id) ?? edge.id,
        times,
        part: partOf(edge, { times, current: run.current, ahead }),
      }
    }),
  }
}

/** A way on flows; a loop and a way back have corners. */
function pathOf({ from, to, points }: PositionedEdge): string {
  const leadsOn = from !== to && (points.at(-1)?.x ?? 0) > (points.at(0)?.x ?? 0)
  return leadsOn ? flowPath(points) : roundedPath(points, 10)
}

interface StateVisits {
  readonly times: number
  readonly current: string
  readonly ahead: ReadonlySet<string>
}

/** What can be done now is shown as such, also when it was done before. */
function partOf(edge: PositionedEdge, { times, current, ahead }: StateVisits): TransitionPart {
  if (edge.from === current) return 'next'
  if (times > 0) return 'taken'
  return ahead.has(edge.from) ? 'reachable' : 'out_of_reach'
}

/** The states that transitions lead to, the one they begin at included. */
function reachableFrom(state: string, transitions: readonly DiagramTransition[]): ReadonlySet<string> {
  const leaving = Map.groupBy(transitions, ({ from }) => from)
  const found = new Set([state])
  for (const at of found) for (const { to } of leaving.get(at) ?? []) found.add(to)
  return found
}
