import { z } from 'zod'
import { tasksToReview } from '../../inbox/operations/item-answer.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { PhaseId, TaskId } from '../../kernel/id.ts'
import { findPlanned, spanOf } from '../../kernel/operations/find.ts'
import { choice, identifier } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isCompleted } from '../../track/domain/task.ts'
import { UndoneEntry, undoneEntry } from '../../track/operations/attempt-answer.ts'
import { undoneTasks } from '../../track/operations/tree-write.ts'
import type { RecordedUndo } from '../../track/ports/tree-write-reads.ts'
import { dependencyTree, dot, mermaid } from '../domain/diagrams.ts'
import { type OutlinePhase, type OutlineTask, outline, placeOf } from '../domain/outline.ts'
import type { PlanSpan } from '../domain/plan.ts'
import { criticalPath, marks, readyTasks } from '../domain/readiness.ts'
import type { OutlineCount } from '../ports/plan-reads.ts'
import { spanField } from './fields.ts'
import {
  boundedSource,
  homeOf,
  isLarge,
  maxOutlineTasks,
  PlanPart,
  partField,
  phaseNamed,
  planSource,
  taskInPlan,
} from './plan-source.ts'

/** A task with its subtasks under the same milestone. */
const OutlineTaskEntry = z
  .object({
    id: z.string(),
    title: z.string(),
    role: z.string().nullable(),
    assignee: z.string().optional(),
    mark: z.enum(marks),
    /** To do again: its last attempt failed. */
    failed: z.literal(true).optional(),
    /** It waits for a person's review, as on the board. */
    needs_review: z.literal(true).optional(),
    /** A person took its changes back, and it was not started again. */
    undone: UndoneEntry.optional(),
    critical: z.boolean(),
    waits_for: strings,
    get subtasks(): z.ZodReadonly<z.ZodArray<typeof OutlineTaskEntry>> {
      return list(OutlineTaskEntry)
    },
  })
  .meta({ id: 'OutlineTask' })

const OutlinePhaseEntry = z.object({
  /** Null for tasks outside any phase. */
  id: z.string().nullable(),
  name: z.string().nullable(),
  mission_id: z.string().nullable(),
  mission_name: z.string().nullable(),
  done: z.int(),
  /** How many of them wait for a person. */
  done_waiting: z.int(),
  total: z.int(),
  milestones: list(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      reached: z.boolean(),
      tasks: list(OutlineTaskEntry),
    }),
  ),
  /** Tasks of the phase without a milestone. */
  tasks: list(OutlineTaskEntry),
  /** Its tasks are left out of a large plan: `phase` shows them. */
  folded: z.literal(true).optional(),
})

export const planShow = defineOperation({
  name: 'plan_show',
  command: 'plan show',
  toolset: 'plan',
  audience: 'both',
  title: 'Show the plan',
  description:
    'Show the plan as an outline: phases, milestones, tasks, what is ready, and the critical path. A large plan has its phases folded.',
  kind: 'query',
  input: z.strictObject({
    mission: spanField.optional(),
    phase: identifier('Only this phase, with its tasks; "none": tasks outside any phase').optional(),
    ...pageFields(maxOutlineTasks, `Tasks of the phase; default ${maxOutlineTasks}`),
  }),
  output: z.object({
    phases: list(OutlinePhaseEntry),
    tasks: z.int(),
    done: z.int(),
    /** How many of them wait for a person. */
    done_waiting: z.int(),
    dropped: z.int(),
    /** Of one phase: those that are shown. */
    ready: z.int(),
    critical_path: strings,
    /** Leads to further tasks of the phase. */
    next_cursor: page.next_cursor,
  }),
}).handler(({ store, clock, actor }, input) =>
  store.view(async (reads) => {
    const span = await spanOf(reads, input.mission)
    const now = clock.now()
    if (input.phase !== undefined) return phaseOutline(reads, span, { input, actor, now })
    if (await isLarge(reads, span, now)) return foldedOutline(reads, span, now)
    const source = await planSource(reads, span, now)
    const counted = source.tasks.filter(({ dropped }) => dropped !== true)
    return {
      ...(await withMissions(reads, outline(source))),
      tasks: counted.length,
      done: counted.filter(({ status }) => status === 'done').length,
      dropped: source.tasks.length - counted.length,
      ready: readyTasks(source.tasks).length,
      critical_path: criticalPath(source.tasks).map(({ id }) => id),
      next_cursor: null,
    }
  }),
)

/** The phases and milestones of a large plan without tasks, from counts. */
async function foldedOutline(reads: Reads, span: PlanSpan, now: number) {
  const { plan } = reads
  const phases = await plan.phases(span)
  const milestones = await plan.milestones({ owner: span })
  const counts = await plan.outlineCounts(span)
  const { total: ready } = await plan.tasks({ owner: span, ready: true, now }, { limit: 0 })
  const critical = await plan.longestChain(span, maxOutlineTasks)
  const byPhase = new Map(counts.map((count) => [count.phaseId, count]))
  const named = outline({ phases, milestones, tasks: [] }).map((phase) => ({
    ...phase,
    ...progressOf(byPhase.get(phase.id as PhaseId)), // the id of a phase
    folded: true as const,
  }))
  const outside = counts
    .filter(({ phaseId, total, dropped }) => phaseId === null && total + dropped > 0)
    .map((count) => ({
      id: null,
      name: null,
      mission_id: count.missionId,
      ...progressOf(count),
      milestones: [],
      tasks: [],
      folded: true as const,
    }))
  return {
    ...(await withMissions(reads, [...named, ...outside])),
    ...totalsOf(counts),
    ready,
    critical_path: [...critical],
    next_cursor: null,
  }
}

interface PhaseOutlineInput {
  readonly mission?: string | undefined
  readonly phase?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** One phase with a page of its tasks. */
async function phaseOutline(
  reads: Reads,
  span: PlanSpan,
  { input, actor, now }: { readonly input: PhaseOutlineInput; readonly actor: Actor; readonly now: number },
) {
  const { plan } = reads
  const paging = new Paging('plan_show', input, actor, maxOutlineTasks)
  const phase = await phaseNamed(reads, input.phase ?? '')
  const home = homeOf(phase, span)
  const missionId = phase?.missionId ?? ('missionId' in home ? home.missionId : null)
  const last = paging.after()
  const after = last === undefined ? null : (await findPlanned(reads, last)).task.id
  const rows = await plan.outlineTasks(home, { after, limit: paging.limit + 1, now })
  const shown = rows.slice(0, paging.limit)
  const critical = new Set<string>(await plan.longestChain(span, maxOutlineTasks))
  const states = shown.map(({ id, mark, waitsFor }) => ({ mark, waitsFor, critical: critical.has(id) }))
  const count = (await plan.outlineCounts(missionId)).find(({ phaseId }) => phaseId === home.phaseId)
  const source = {
    phases: phase === null ? [] : [phase],
    milestones: phase === null ? [] : await plan.milestones({ phaseId: phase.id }),
    tasks: shown.map((task) => taskInPlan(task, new Map())),
  }
  const outlined = outline(source, states).map((one) => ({ ...one, ...progressOf(count) }))
  return {
    ...(await withMissions(reads, outlined)),
    ...totalsOf(count ? [count] : []),
    ready: shown.filter(({ mark }) => mark === 'ready').length,
    critical_path: [...critical],
    next_cursor: paging.next(rows, shown.length, ({ id }) => id),
  }
}

function progressOf(count: OutlineCount | undefined) {
  return { done: count?.done ?? 0, total: count?.total ?? 0 }
}

function totalsOf(counts: readonly OutlineCount[]) {
  const sum = (field: 'total' | 'done' | 'dropped') =>
    counts.reduce((total, count) => total + count[field], 0)
  return { tasks: sum('total'), done: sum('done'), dropped: sum('dropped') }
}

/** Each phase with the name of its mission, if it has one, and the tasks that wait for a review. */
async function withMissions<Phase extends OutlinePhase>(reads: Reads, phases: readonly Phase[]) {
  const { missions, tasks } = reads
  const waiting = await tasksToReview(reads)
  const undone = await undoneIn(reads, phases)
  const completed = (await tasks.withIds([...waiting])).filter(isCompleted)
  const byPhase = Map.groupBy(completed, placeOf)
  const ids = [...new Set(phases.flatMap(({ mission_id }) => mission_id ?? []))]
  const found = await Promise.all(ids.map((id) => missions.find(id)))
  const names = new Map(found.flatMap((mission) => (mission ? [[mission.id as string, mission.name]] : [])))
  const shown = phases.map((phase) => ({
    ...phase,
    mission_name: names.get(phase.mission_id ?? '') ?? null,
    done_waiting: byPhase.get(placeOf({ phaseId: phase.id, missionId: phase.mission_id }))?.length ?? 0,
    milestones: phase.milestones.map((one) => ({
      ...one,
      tasks: withStatus(one.tasks, { waiting, undone }),
    })),
    tasks: withStatus(phase.tasks, { waiting, undone }),
  }))
  return { phases: shown, done_waiting: shown.reduce((sum, phase) => sum + phase.done_waiting, 0) }
}

/** The undo of each outlined task that a person took back. */
async function undoneIn(
  reads: Reads,
  phases: readonly OutlinePhase[],
): Promise<ReadonlyMap<string, RecordedUndo>> {
  const idsOf = (tasks: readonly OutlineTask[]): readonly string[] =>
    tasks.flatMap(({ id, subtasks }) => [id, ...idsOf(subtasks)])
  const ids = phases.flatMap(({ milestones, tasks }) =>
    [...milestones.flatMap((milestone) => milestone.tasks), ...tasks].flatMap((task) => idsOf([task])),
  )
  // Almost no plan has one: the attempts are read only then.
  if (ids.length === 0 || (await reads.treeWrites.undone(ids)).size === 0) return new Map()
  const cards = await reads.tasks.cards(ids as TaskId[]) // as the outline was read
  return undoneTasks(reads, new Map(cards.map(({ task, attempt }) => [task.id, attempt])))
}

function withStatus(
  tasks: readonly OutlineTask[],
  about: { readonly waiting: ReadonlySet<string>; readonly undone: ReadonlyMap<string, RecordedUndo> },
): readonly z.output<typeof OutlineTaskEntry>[] {
  return tasks.map((task) => {
    const undo = about.undone.get(task.id)
    return {
      ...task,
      ...(about.waiting.has(task.id) && { needs_review: true as const }),
      ...(undo && { undone: undoneEntry(undo) }),
      subtasks: withStatus(task.subtasks, about),
    }
  })
}

const drawings = { mermaid, dot, text: dependencyTree } as const

export const planGraph = defineOperation({
  name: 'plan_graph',
  command: 'plan graph',
  toolset: 'plan',
  audience: 'both',
  title: 'Print the dependency graph as text, Mermaid or DOT',
  description:
    'Print the dependency graph of the plan as Mermaid, as DOT for Graphviz, or as a tree in text.',
  kind: 'query',
  input: z.strictObject({
    language: choice(['mermaid', 'dot', 'text'], 'Default mermaid; text at a terminal', {
      graphviz: 'dot',
    }).optional(),
    mission: spanField.optional(),
    phase: partField,
  }),
  output: z.object({ language: z.string(), text: z.string(), part: PlanPart.nullable() }),
  print: (answer) => [String(answer['text'])],
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const language = input.language ?? 'mermaid'
    const request = { phase: input.phase, now: clock.now() }
    const { source, part } = await boundedSource(reads, await spanOf(reads, input.mission), request)
    return { language, text: `${drawings[language](source)}${partNote(language, part)}`, part }
  }),
)

const comments = { mermaid: '%% ', dot: '// ', text: '' } as const

/** The last line of a diagram that has only a part of the plan. */
function partNote(language: keyof typeof drawings, part: z.output<typeof PlanPart> | null): string {
  if (part === null) return ''
  const { phase, shown, total } = part
  return `\n${comments[language]}${shown} of ${total} tasks of phase ${phase}. Another phase: waymark plan graph --phase <id>\n`
}
