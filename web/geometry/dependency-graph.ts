import type { TaskMark } from '../../src/plan/domain/readiness.ts'

export interface DependencyNode {
  readonly id: string
  readonly title: string
  readonly phase_id: string | null
  readonly mark: TaskMark
  readonly failed?: true | undefined
  readonly critical: boolean
  /** It is of another plan. */
  readonly outside: boolean
}

export interface DependencyEdge {
  readonly from: string
  readonly to: string
  readonly critical: boolean
}

export interface DependencyPlan {
  readonly phases: readonly { readonly id: string; readonly name: string }[]
  readonly nodes: readonly DependencyNode[]
  readonly edges: readonly DependencyEdge[]
}

/** Plans with more tasks than this are never laid out task by task at first. */
const maxNodes = 150

const outsideId = 'outside'

/** The plan with the tasks of other plans gathered as a phase of their own. */
export function withOutside(plan: DependencyPlan): DependencyPlan {
  if (!plan.nodes.some(({ outside }) => outside)) return plan
  return {
    ...plan,
    phases: [...plan.phases, { id: outsideId, name: 'Outside this mission' }],
    nodes: plan.nodes.map((node) => (node.outside ? { ...node, phase_id: outsideId } : node)),
  }
}

/** A task, or a folded phase with the totals of its tasks. */
export type GraphNode =
  | { readonly kind: 'task'; readonly id: string; readonly task: DependencyNode }
  | {
      readonly kind: 'phase'
      readonly id: string
      readonly phase: string | null
      readonly name: string | null
      readonly critical: boolean
      readonly marks: Readonly<Record<TaskMark, number>>
    }

export interface GraphEdge extends DependencyEdge {
  readonly id: string
  /** How many dependencies it stands for. */
  readonly count: number
}

export interface GraphPicture {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

/** The plan with some phases folded to one node each. Null names the tasks outside any phase. */
export function graphPicture(plan: DependencyPlan, folded: ReadonlySet<string | null>): GraphPicture {
  const names = new Map(plan.phases.map(({ id, name }) => [id, name]))
  const phaseOf = (task: DependencyNode): string | null =>
    task.phase_id !== null && names.has(task.phase_id) ? task.phase_id : null
  const nodeOf = new Map<string, string>()
  const inside = new Map<string | null, DependencyNode[]>()
  const nodes: GraphNode[] = []
  for (const task of plan.nodes) {
    const phase = phaseOf(task)
    if (!folded.has(phase)) {
      nodeOf.set(task.id, task.id)
      nodes.push({ kind: 'task', id: task.id, task })
      continue
    }
    nodeOf.set(task.id, phaseNode(phase))
    const together = inside.get(phase)
    if (together) together.push(task)
    else inside.set(phase, [task])
  }
  const phases = [...inside].map(
    ([phase, tasks]): GraphNode => ({
      kind: 'phase',
      id: phaseNode(phase),
      phase,
      name: phase === null ? null : (names.get(phase) ?? null),
      critical: tasks.some(({ critical }) => critical),
      marks: countMarks(tasks),
    }),
  )
  return { nodes: [...phases, ...nodes], edges: joinEdges(plan.edges, nodeOf) }
}

type Folding = ReadonlySet<string | null>

/**
 * Which phases to fold at first, the most detailed choice first: none, the finished ones, those without open work, all.
 * The phase of a selected task stays unfolded.
 */
export function foldings(plan: DependencyPlan, selected: string | null): readonly Folding[] {
  const known = new Set(plan.phases.map(({ id }) => id))
  const tasks = Map.groupBy(plan.nodes, ({ phase_id }) =>
    phase_id !== null && known.has(phase_id) ? phase_id : null,
  )
  const kept = plan.nodes.find(({ id }) => id === selected)
  const foldIf = (isFolded: (marks: readonly TaskMark[]) => boolean): Folding =>
    new Set(
      [...tasks]
        .filter(([, nodes]) => isFolded(nodes.map(({ mark }) => mark)) && !(kept && nodes.includes(kept)))
        .map(([phase]) => phase),
    )
  const isFinished = (mark: TaskMark) => mark === 'done' || mark === 'dropped'
  const isOpen = (mark: TaskMark) => mark === 'ready' || mark === 'in_progress'
  return [
    ...(plan.nodes.length <= maxNodes ? [foldIf(() => false)] : []),
    foldIf((marks) => marks.every(isFinished)),
    foldIf((marks) => !marks.some(isOpen)),
    foldIf(() => true),
  ]
}

function phaseNode(phase: string | null): string {
  return `phase:${phase ?? ''}`
}

function countMarks(tasks: readonly DependencyNode[]): Record<TaskMark, number> {
  const marks = { done: 0, in_progress: 0, ready: 0, blocked: 0, dropped: 0 }
  for (const { mark } of tasks) marks[mark] += 1
  return marks
}

/** Edges between the same two nodes become one; those inside a folded phase are not drawn. */
function joinEdges(
  edges: readonly DependencyEdge[],
  nodeOf: ReadonlyMap<string, string>,
): readonly GraphEdge[] {
  const found = new Map<string, GraphEdge>()
  for (const edge of edges) {
    const [from, to] = [nodeOf.get(edge.from), nodeOf.get(edge.to)]
    if (from === undefined || to === undefined || from === to) continue
    const id = `${from} ${to}`
    const same = found.get(id)
    found.set(id, {
      id,
      from,
      to,
      critical: edge.critical || same?.critical === true,
      count: (same?.count ?? 0) + 1,
    })
  }
  return [...found.values()]
}

export interface IndentedRow {
  readonly node: DependencyNode
  /** How many tasks have to be done one after the other before it; 0 for none. */
  readonly depth: number
  readonly waitsFor: readonly string[]
}

export interface IndentedPhase {
  readonly phase: { readonly id: string; readonly name: string } | null
  readonly rows: readonly IndentedRow[]
}

/** The plan as a list by phase. A circle, which a plan never has, ends the counting. */
export function indentTasks(plan: DependencyPlan): readonly IndentedPhase[] {
  const before = Map.groupBy(plan.edges, ({ to }) => to)
  const depths = new Map<string, number>()
  const depthOf = (id: string): number => {
    const known = depths.get(id)
    if (known !== undefined) return known
    depths.set(id, 0)
    const depth = (before.get(id) ?? []).reduce((most, { from }) => Math.max(most, depthOf(from) + 1), 0)
    depths.set(id, depth)
    return depth
  }
  const known = new Set(plan.phases.map(({ id }) => id))
  const inPhase = Map.groupBy(plan.nodes, ({ phase_id }) =>
    phase_id !== null && known.has(phase_id) ? phase_id : null,
  )
  return [...plan.phases, null].flatMap((phase) => {
    const nodes = inPhase.get(phase?.id ?? null) ?? []
    if (nodes.length === 0) return []
    const rows = nodes.map((node) => ({
      node,
      depth: depthOf(node.id),
      waitsFor: (before.get(node.id) ?? []).map(({ from }) => from),
    }))
    return [{ phase, rows }]
  })
}
