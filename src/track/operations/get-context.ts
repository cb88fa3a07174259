import { z } from 'zod'
import { eventSubject, type NewProjectEvent } from '../../events/domain/project-event.ts'
import { waitForProjectEvent } from '../../events/operations/follow.ts'
import { answeredEntries, BlockerEntry, blockerEntry } from '../../inbox/operations/item-answer.ts'
import { answerBudget, fitSections } from '../../kernel/budget.ts'
import type { MissionId } from '../../kernel/id.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { choice, count, identifier, name, unlistedField } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { excerpt } from '../../kernel/text.ts'
import { doneWhenEntry, promisesOf } from '../../plan/operations/done-when.ts'
import type { TaskLine } from '../../plan/ports/task-reads.ts'
import { reviewFields, reviewInMission } from '../../review/operations/agent-reviews.ts'
import type { Reads, StoreReader } from '../../store/ports/store.ts'
import { isFollowed } from '../domain/landed.ts'
import { currentPhase, expectedPhases, type Mission, shownStatus } from '../domain/mission.ts'
import type { RecordFilter } from '../ports/record-reads.ts'
import { undoneEntry } from './attempt-answer.ts'
import { missionLanded, missionLandedField } from './landed.ts'
import { openLosses, openLossFields } from './losses.ts'
import {
  leftWork,
  leftWorkFields,
  missionRunsFields,
  missionStatus,
  PhaseSummary,
  TaskEntry,
  taskEntry,
} from './mission-answer.ts'
import {
  DecisionEntry,
  decisionEntry,
  IssueEntry,
  issueEntry,
  ProgressEntry,
  progressEntry,
} from './record-answer.ts'
import { missionRuns, phaseSummary, phasesAround } from './summary.ts'
import { undoneTasks } from './tree-write.ts'

const contextSections = ['decisions', 'milestones', 'blockers', 'issues', 'phase_summary', 'tasks'] as const
export type ContextSection = (typeof contextSections)[number]
type ListSection = Exclude<ContextSection, 'phase_summary'>

export interface LoadedSection {
  readonly name: ListSection
  readonly entries: readonly unknown[]
  /** The log position of each entry, for the cursor. */
  readonly positions: readonly number[]
  readonly more: boolean
  readonly total: number
}

type SectionLoader = (
  reads: Reads,
  filter: RecordFilter,
  page: PageRequest & { readonly now: number },
) => Promise<Page<unknown>>

const loaders: Readonly<Record<ListSection, SectionLoader>> = {
  decisions: async ({ records }, filter, page) =>
    mapPage(await records.decisions(filter, page), decisionEntry),
  milestones: async ({ records }, filter, page) =>
    mapPage(await records.progress(filter, page), progressEntry),
  tasks: loadTasks,
  issues: async ({ records }, filter, page) =>
    mapPage(await records.issues({ ...filter, unblocking: true }, page), issueEntry),
  blockers: loadBlockers,
}

/** One list of the context: newest first, blockers oldest first. */
async function loadSection(
  reads: Reads,
  name: ListSection,
  filter: RecordFilter,
  request: PageRequest & { readonly now: number },
): Promise<LoadedSection> {
  const { items, total } = await loaders[name](reads, filter, request)
  const listed = items.slice(0, request.limit - 1)
  return {
    name,
    entries: listed.map(({ item }) => item),
    positions: listed.map(({ seq }) => seq),
    more: items.length > listed.length,
    total,
  }
}

async function loadTasks(
  reads: Reads,
  filter: RecordFilter,
  page: PageRequest & { readonly now: number },
): Promise<Page<unknown>> {
  const { tasks } = reads
  const { items, total } = await tasks.list(filter, page)
  const ids = items.map(({ item }) => item.task.id)
  const [histories, landings, undone, entries] = await Promise.all([
    tasks.histories(ids, page.now),
    reads.landings.of(ids),
    undoneTasks(reads, new Map(items.map(({ item }) => [item.task.id, item.attempt]))),
    Promise.all(
      items.map(async ({ seq, item }) => ({ seq, item, doneWhen: await openPromises(reads, item) })),
    ),
  ])
  return {
    total,
    items: entries.map(({ seq, item, doneWhen }) => {
      const undo = undone.get(item.task.id)
      const landed = landings.get(item.task.id)?.is
      const entry = taskEntry(item, histories.get(item.task.id))
      return {
        seq,
        item: {
          ...entry,
          ...(undo && { undone: undoneEntry(undo) }),
          ...(landed && isFollowed(landed) && item.task.status === 'done' && { landed }),
          ...(doneWhen && { done_when: doneWhen }),
        },
      }
    }),
  }
}

/** What a task in progress promises; null for others. */
async function openPromises(reads: Reads, { task }: TaskLine) {
  return task.status === 'in_progress' ? doneWhenEntry(await promisesOf(reads, task)) : null
}

async function loadBlockers(
  { inboxItems }: Reads,
  filter: RecordFilter,
  page: PageRequest,
): Promise<Page<unknown>> {
  const { since: _, ...anyTime } = filter // an old blocker that is still open must not be hidden by a recent `since`
  return mapPage(await inboxItems.list({ ...anyTime, kinds: blocking, status: 'open' }, page), blockerEntry)
}

/** Blockers that a person answered, newest first, since a time or the last few. A waiting agent reads its answer here. */
async function answeredBlockers(
  { inboxItems }: Reads,
  filter: RecordFilter,
): Promise<readonly BlockerEntry[]> {
  const { items } = await inboxItems.list(
    { ...filter, kinds: answerable, status: 'closed', closedByPerson: true },
    { limit: 5 },
  )
  return answeredEntries(items.map(({ item }) => item))
}

const blocking = ['blocker', 'review'] as const
const answerable = [...blocking, 'scope', 'verdict'] as const

function mapPage<From, To>(page: Page<From>, entry: (item: From) => To): Page<To> {
  return { total: page.total, items: page.items.map(({ seq, item }) => ({ seq, item: entry(item) })) }
}

/** Clients of MCP give up after 60 seconds. */
const maxWaitSeconds = 50

const sinceField = z
  .string()
  .max(40)
  .refine(
    isCursorOrDate,
    'it is not an ISO 8601 time such as 2026-01-15T10:00:00Z, and not the as_of of an earlier answer',
  )
  .describe('as_of of an answer, or ISO time')

export const getContext = defineOperation({
  name: 'get_context',
  tool: 'get_context',
  command: 'context',
  synonyms: { workflow_id: 'mission_id', mission: 'mission_id', id: 'mission_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Get the context of a mission',
  description: 'Retrieve mission context (decisions, milestones, blockers, phases, tasks)',
  kind: 'query',
  positional: ['mission_id'],
  input: z.strictObject({
    mission_id: identifier('Mission ID'),
    include: z
      .array(
        choice(contextSections, undefined, {
          phases: 'phase_summary',
          progress: 'milestones',
        }),
      )
      .min(1)
      .max(20)
      .describe('Sections to return'),
    filter: z
      .strictObject({
        phase: count('Phase number', 100_000).optional(),
        agent: name('Agent name').optional(),
        since: sinceField.optional(),
      })
      .optional(),
    ...pageFields(200, 'Entries of each list; default: as many as fit'),
    wait_seconds: count('Wait up to this long for a change after filter.since', maxWaitSeconds).optional(),
    since: unlistedField(sinceField).optional(),
  }),
  output: z.object({
    mission_id: z.string(),
    mission_name: z.string(),
    mission_status: missionStatus,
    ...leftWorkFields,
    /** Left out with `since`. */
    objective: z.string().nullable().optional(),
    description: z.string().optional(),
    scope: z.string().optional(),
    constraints: z.string().optional(),
    current_phase: z.int(),
    total_phases: z.int(),
    runs: missionRunsFields.runs.optional(),
    completed_despite: strings.optional(),
    phase_summary: list(PhaseSummary).optional(),
    phase_summary_total: z.int().optional(),
    decisions: list(DecisionEntry).optional(),
    decisions_total: z.int().optional(),
    milestones: list(ProgressEntry).optional(),
    milestones_total: z.int().optional(),
    blockers: list(BlockerEntry).optional(),
    blockers_total: z.int().optional(),
    issues: list(IssueEntry).optional(),
    issues_total: z.int().optional(),
    tasks: list(TaskEntry).optional(),
    tasks_total: z.int().optional(),
    answered_blockers: list(BlockerEntry).optional(),
    ...openLossFields,
    /** Where the lines of its done tasks are. */
    landed: missionLandedField,
    ...reviewFields,
    as_of: z.string(),
    next_cursor: page.next_cursor,
  }),
  listedOutput: [
    'mission_id',
    'mission_name',
    'mission_status',
    'current_phase',
    'total_phases',
    'as_of',
    'next_cursor',
  ],
}).handler(async ({ store, clock, actor }, input) => {
  const since = input.filter?.since ?? input.since
  if (input.wait_seconds !== undefined) {
    const { id } = await store.view((reads) => findMission(reads, input.mission_id))
    const milliseconds = input.wait_seconds * 1000
    await waitForMission(store, id, { since, milliseconds, sections: input.include })
  }
  return store.view(async (reads) => {
    const mission = await findMission(reads, input.mission_id)
    const phases = await reads.missions.phases(mission.id)
    const now = await reads.missions.now(mission.id)
    const phase = input.filter?.phase
    const filter = {
      missionId: mission.id,
      ...(input.filter?.agent !== undefined && { agent: input.filter.agent }),
      ...(since !== undefined && { since: await timeSince(reads, since) }),
      ...(phase !== undefined && { phaseId: phases.find(({ number }) => number === phase)?.id ?? noPhase }),
    }
    const requestedSections = [...new Set(input.include)]
    const lists = requestedSections.filter((section) => section !== 'phase_summary')
    const paging = new Paging('get_context', input, actor, 20)
    const sections = await Promise.all(
      lists
        .filter((section) => paging.covers(section))
        .map((section) =>
          loadSection(reads, section, filter, { ...paging.request(section), now: clock.now() }),
        ),
    )
    const current = currentPhase(mission, phases)
    const summary =
      requestedSections.includes('phase_summary') && paging.isFirst
        ? await phaseSummary(reads, mission, phasesAround(current, phases))
        : null
    const gates = paging.isFirst ? await missionRuns(reads, mission) : null
    const answered =
      requestedSections.includes('blockers') && paging.isFirst ? await answeredBlockers(reads, filter) : []
    const review = paging.isFirst ? await reviewInMission(reads, mission.id, filter.since) : {}
    const losses = paging.isFirst
      ? await openLosses(reads, { missionId: mission.id, since: filter.since ?? 0 })
      : {}
    const landed = paging.isFirst ? await missionLanded(reads, mission.id, filter.since) : null
    // Who asks for what is new knows it.
    const isNew = since === undefined
    const objective = mission.objective === null ? null : excerpt(mission.objective, 600)
    const brief = isNew && paging.isFirst ? missionBrief(mission) : {}
    const used = JSON.stringify([objective, brief, summary, answered, gates, review, losses, landed]).length
    const fitted = input.limit === undefined ? fitBudget(sections, answerBudget - used) : sections
    return {
      mission_id: mission.id,
      mission_name: mission.name,
      mission_status: shownStatus(mission, now),
      ...leftWork(mission, now),
      ...(isNew && { objective }),
      ...brief,
      current_phase: current,
      total_phases: expectedPhases(mission, phases),
      ...(gates !== null && gates.runs.length > 0 && { runs: gates.runs }),
      ...(gates !== null &&
        gates.completed_despite.length > 0 && { completed_despite: gates.completed_despite }),
      ...(summary && { phase_summary: summary }),
      ...(summary && { phase_summary_total: phases.length }),
      ...Object.fromEntries(fitted.flatMap(namedList)),
      ...(answered.length > 0 && { answered_blockers: answered }),
      ...review,
      ...losses,
      ...(landed && { landed }),
      as_of: `#${await reads.eventLog.head()}`,
      next_cursor: paging.nextOf(fitted),
    }
  })
})

/** What the mission's author wrote besides the objective. */
function missionBrief({ description, scope, constraints }: Mission) {
  return {
    ...(description && { description: excerpt(description, 600) }),
    ...(scope && { scope: excerpt(scope, 600) }),
    ...(constraints && { constraints: excerpt(constraints, 600) }),
  }
}

/** A phase number that the mission does not have: its lists are empty. */
const noPhase = 'ph-none' as NonNullable<Parameters<typeof loadSection>[2]['phaseId']> // no phase has this id

function namedList({ name: list, entries, total }: LoadedSection): readonly (readonly [string, unknown])[] {
  return [
    [list, entries],
    [`${list}_total`, total],
  ]
}

/** Without a limit, cuts each list to keep the answer small. */
function fitBudget(sections: readonly LoadedSection[], budget: number): readonly LoadedSection[] {
  const counts = fitSections(sections, Math.max(budget, 600))
  return sections.map((section) => {
    const fitting = counts.get(section.name) ?? section.entries.length
    const more = section.more || fitting < section.entries.length
    return {
      ...section,
      entries: section.entries.slice(0, fitting),
      positions: section.positions.slice(0, fitting),
      more,
    }
  })
}

/** `#` and a log position, as in `as_of`: exact where a time is not. */
const logPosition = /^#(\d{1,15})$/

function isCursorOrDate(text: string): boolean {
  return logPosition.test(text) || !Number.isNaN(Date.parse(text))
}

/** When the lists of an answer begin, in milliseconds; after the last change they are empty. */
async function timeSince({ eventLog: log }: Reads, since: string): Promise<number> {
  const seq = logPosition.exec(since)?.[1]
  if (seq === undefined) return Date.parse(since)
  return (await log.timeAfter(Number(seq))) ?? Number.MAX_SAFE_INTEGER
}

/** The events that change each section; those that end a mission or send work back concern every caller. */
const sectionEvents: Readonly<Record<ContextSection | 'all', RegExp>> = {
  all: /^(?:mission\.|review\.sent$|run\.)/,
  decisions: /^decision\./,
  milestones: /^progress\./,
  blockers: /^(?:issue|inbox)\./,
  issues: /^(?:issue|inbox)\./,
  phase_summary: /^(?:phase|task|attempt)\./,
  tasks: /^(?:task|attempt|claim|dependency|verdict|files|note)\./,
}

/** Waits up to the given milliseconds for an event of a mission that changes one of the sections. */
async function waitForMission(
  store: StoreReader,
  missionId: MissionId,
  {
    since,
    milliseconds,
    sections,
  }: {
    readonly since: string | undefined
    readonly milliseconds: number
    readonly sections: readonly ContextSection[]
  },
): Promise<void> {
  const after = await store.view(({ eventLog: log }) => {
    if (since === undefined) return log.head()
    const seq = logPosition.exec(since)?.[1]
    return seq === undefined ? log.seqBefore(Date.parse(since)) : Promise.resolve(Number(seq))
  })
  await waitForProjectEvent(store, {
    after,
    milliseconds,
    until: async (event) =>
      (['all', ...sections] as const).some((section) => sectionEvents[section].test(event.kind)) &&
      (await isAboutMission(store, event, missionId)),
  })
}

/** An event names its mission, or its task does. */
async function isAboutMission(
  store: StoreReader,
  event: NewProjectEvent,
  mission: MissionId,
): Promise<boolean> {
  const { missionId, taskId } = eventSubject(event)
  if (missionId === mission) return true
  if (missionId !== null || taskId === null) return false
  const task = await store.view(({ tasks }) => tasks.find(taskId))
  return task?.missionId === mission
}
