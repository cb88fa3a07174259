import { z } from 'zod'
import { eventNamed, type ProcessDefinition, stateNamed } from '../../gate/domain/definition.ts'
import { payloadExample } from '../../gate/domain/payload-example.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { forwardEvents } from '../../gate/operations/run/gating.ts'
import { hasOwnWork } from '../../gate/operations/run/own-work.ts'
import { otherSender } from '../../gate/operations/run/senders.ts'
import { sentBackBy } from '../../gate/operations/run/sent-back-runs.ts'
import { recordedObstacles } from '../../gate/operations/run/situation.ts'
import { json } from '../../gate/operations/run-answer.ts'
import {
  type InboxItem,
  type InboxItemKind,
  itemKinds,
  urgentItemKinds,
} from '../../inbox/domain/inbox-item.ts'
import { dueItems } from '../../inbox/operations/due-items.ts'
import { tasksToReview } from '../../inbox/operations/item-answer.ts'
import { mayAnswer } from '../../inbox/operations/permitted-answers.ts'
import { displayName } from '../../kernel/actor.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { count } from '../../kernel/operations/input/fields.ts'
import { list, Named, strings } from '../../kernel/operations/list-answer.ts'
import { workTreePlace } from '../../kernel/operations/local-work-tree.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Person } from '../../people/domain/identity.ts'
import { lostAccess } from '../../people/operations/lost-access.ts'
import type { PlanFilter } from '../../plan/ports/plan-reads.ts'
import { sentBackTasks } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded, phaseProgress, shownStatus } from '../../track/domain/mission.ts'
import { type Attempt, isCompleted, isStale, type SnapshotLocation } from '../../track/domain/task.ts'
import { notLandedTasks } from '../../track/operations/landed.ts'
import { LeftWorkEntry, MissionEntry, missionEntry } from '../../track/operations/mission-answer.ts'
import type { MissionListing } from '../../track/ports/mission-reads.ts'

/** The maximum of agents in an answer: those that called last. */
const maxRunning = 100
const otherItemKinds = itemKinds.filter((kind) => !urgentItemKinds.some((urgent) => urgent === kind))

export const Work = z.object({
  missions_total: z.int(),
  running: list(
    z.object({
      task_id: z.string(),
      name: z.string(),
      agent_name: z.string(),
      /** The person that the agent acts for, at a server with people. */
      person: z.string().nullable(),
      /** The machine of its work tree, if it is not the record's own. */
      machine: Named.nullable(),
      started_at: z.string(),
      last_call_at: z.string(),
      /** No call for two hours, or its person is disabled. */
      stale: z.boolean(),
      work_tree: z.string(),
    }),
  ),
  running_total: z.int(),
  /** The open items that the caller can answer; for an agent, all. */
  waiting: z.int(),
  /** The other open items. */
  waiting_for_others: z.int(),
  /** The time of the oldest item that the caller can answer. */
  waiting_since: z.string().nullable(),
})
export type Work = z.output<typeof Work>

export const status = defineOperation({
  name: 'status',
  command: 'status',
  toolset: 'track',
  audience: 'both',
  title: 'Show what needs you and who works on what',
  description: 'Show what needs you, who works on what, and the open missions.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many active agents; default 100', 1000).optional() }),
  output: z.object({
    project: z.string(),
    database: z.string(),
    recorded: z.boolean(),
    /** A sentence if writing ended, else null. */
    ended: z.string().nullable(),
    events: z.int(),
    /** The engine that measures changes here; null where the work trees are on other machines. */
    witness: z.enum(['git', 'checksum']).nullable(),
    missions: list(
      MissionEntry.omit({
        kind: true,
        objective: true,
        created_at: true,
        completed_at: true,
        left: true,
      }).extend({
        /** The active runs of the mission as a whole. */
        gates: list(
          z.object({
            run_id: z.string(),
            process_id: z.string(),
            process_name: z.string(),
            state: z.string(),
            /** What is to be done in a later state than the first, as the process describes it. */
            step: z.string().nullable(),
            /** The events that lead forward and are not only for people, with an example of a required payload. */
            next: list(
              z.object({
                event: z.string(),
                payload: json.nullable(),
                /** Who may send it, if the caller may not; else null. */
                sender: z.string().nullable(),
              }),
            ),
            /** Once all tasks are done: the guards that block them; null if files must be measured for it. */
            missing: list(z.object({ name: z.string(), reason: z.string(), fix: z.string() })).nullable(),
            /** The caller did part of the work whose changes it asks a person to approve, and so cannot approve them. */
            is_own_work: z.boolean(),
            /** Who sent the run back to where it is now, and why, until a task is done again. */
            sent_back: z.object({ author: z.string(), reason: z.string().nullable() }).nullable(),
          }),
        ),
        /** Once all its tasks are done: those without proof that nobody accepted. */
        not_proven: z.object({ tasks: z.int(), first: z.string() }).nullable(),
        /** Once all its tasks are done: how many of them are lost, as last measured. */
        lost: z.int(),
      }),
    ),
    /** Of the last three completed missions those that left work. */
    completed_with_work_left: list(
      MissionEntry.pick({ mission_id: true, name: true }).extend({ left: LeftWorkEntry }),
    ),
    ...Work.shape,
    /** Tasks of open missions, and tasks without one. */
    plan: z.object({
      ready: z.int(),
      in_progress: z.int(),
      done: z.int(),
      /** Of the done tasks, those whose verdict waits for a person. */
      done_waiting: z.int(),
      dropped: z.int(),
      /** Without dropped ones. */
      tasks: z.int(),
      /** Done tasks whose lines are not on the default branch, as last measured. */
      not_landed: z.int(),
      /** Of these, those whose lines are on no branch and in no work tree. */
      lost: z.int(),
    }),
    /** Tasks to do that a person sent back; no plan lists those of missions that have ended. */
    sent_back: list(
      z.object({
        task_id: z.string(),
        name: z.string(),
        mission_ended: z.boolean(),
        agent_name: z.string().nullable(),
        /** The person whose agent did it last; null if it is the caller's, or on a single-user server. */
        person: z.string().nullable(),
      }),
    ),
    /** Recorded sessions of agents. */
    sessions: z.int(),
    warnings: strings,
  }),
})
  .measure({ place: workTreePlace })
  .handler(
    () => ({ place: {} }),
    async (context, input, { place = null }) => {
      const { store, clock, ingest, refreshLandings } = context
      await ingest?.()
      await refreshLandings?.()
      const health = await store.health()
      return store.view(async (reads) => {
        const { missions, capture, identities, runs } = reads
        const open = await missions.list({ limit: 10, statuses: ['pending', 'in_progress'] })
        const lines = await missions.listings(open.items.map(({ item }) => item))
        const active = await runs.list({ status: 'active' }, { limit: 100 })
        const gates = await gatesOf(
          reads,
          active.items.map(({ item }) => item),
          { context, lines },
        )
        const notProven = await Promise.all(lines.map((line) => notProvenIn(reads, line)))
        const plan = await planCounts(reads, clock.now())
        const lost = plan.lost === 0 ? [] : await Promise.all(lines.map((line) => lostIn(reads, line)))
        const doneWaiting = await doneTasksToReview(reads)
        const sessions = await capture.sessions({}, { limit: 1 })
        return {
          project: place?.mainTop ?? (await nameOf(identities)),
          database: health.location,
          recorded: health.exists,
          ended: health.ended,
          events: health.seq,
          witness: place?.engine ?? null,
          missions: lines.map(({ mission, now, phases }, at) => ({
            mission_id: mission.id,
            name: excerpt(mission.name, 120),
            status: shownStatus(mission, now),
            ...phaseProgress(mission, phases),
            open_tasks: now.openAttempts,
            to_do_tasks: now.toDoTasks,
            done_tasks: now.doneTasks,
            open_blockers: now.openBlockers,
            open_items: now.openItems,
            gates: gates.filter(({ missionId }) => missionId === mission.id).map(({ gate }) => gate),
            not_proven: notProven[at] ?? null,
            lost: lost[at] ?? 0,
          })),
          completed_with_work_left: await completedWithWorkLeft(reads),
          ...(await currentWork(reads, context, input.limit)),
          plan: { ...plan, done_waiting: doneWaiting },
          sent_back: await sentBackTasks(reads, context.permissions?.personId),
          sessions: sessions.total,
          warnings: [...(place?.reason === undefined ? [] : [place?.reason]), ...health.warnings],
        }
      })
    },
  )

/** The maximum of runs whose guards are evaluated, and of tasks in their missions. */
const maxEvaluated = { runs: 3, tasks: 100 }

/** The runs of missions as a whole, each with its next steps. */
async function gatesOf(
  reads: Reads,
  active: readonly RunRecord[],
  { context, lines }: { readonly context: RecordContext; readonly lines: readonly MissionListing[] },
) {
  const { runs } = reads
  const shown = new Map(lines.map((line) => [line.mission.id, line]))
  const ofMissions = active.filter(
    ({ missionId, taskId }) => missionId !== null && taskId === null && shown.has(missionId),
  )
  const hashes = [...new Set(ofMissions.map(({ process }) => process.hash))]
  const definitions = new Map(
    await Promise.all(hashes.map(async (hash) => [hash, await runs.definition(hash)] as const)),
  )
  const evaluated = ofMissions
    .filter(({ missionId }) => missionId !== null && isEvaluated(shown.get(missionId)))
    .slice(0, maxEvaluated.runs)
  const gates = ofMissions.map(async (record) => {
    const { id, missionId, process, state } = record
    const definition = definitions.get(process.hash) ?? null
    const events = definition === null ? [] : forwardEvents(definition, state)
    const next = await Promise.all(
      events
        .filter(({ forPeople }) => !forPeople)
        .map(async ({ event }) => ({
          event,
          payload: payloadExample(payloadOf(definition, event)),
          sender: definition && (await otherSender(reads, context, { definition, event })),
        })),
    )
    const is_own_work =
      definition !== null && (await hasOwnWork(reads, { definition, record }, context.actor))
    const missing =
      definition !== null && evaluated.includes(record)
        ? await recordedObstacles(reads, context, { definition, record })
        : null
    return {
      missionId,
      gate: {
        run_id: id,
        process_id: process.id,
        process_name: process.name,
        state,
        step: laterStep(definition, state),
        next,
        missing: missing?.map(({ name, reason, fix }) => ({ name, reason, fix })) ?? null,
        is_own_work,
        sent_back: definition === null ? null : await sentBackEntry(reads, record, definition),
      },
    }
  })
  return Promise.all(gates)
}

function laterStep(definition: ProcessDefinition | null, state: string): string | null {
  if (definition === null || definition.initialState === state) return null
  return stateNamed(definition, state)?.description ?? null
}

/** Whether all of a mission's tasks are done, few enough to evaluate its guards, and nothing about it waits. */
function isEvaluated(line: MissionListing | undefined): boolean {
  if (line === undefined) return false
  const { doneTasks: done, openAttempts, toDoTasks, openItems } = line.now
  return done > 0 && done <= maxEvaluated.tasks && openAttempts + toDoTasks + openItems === 0
}

async function completedWithWorkLeft({ missions }: Reads) {
  const completed = await missions.list({ limit: 3, statuses: ['completed'] })
  const lines = await missions.listings(completed.items.map(({ item }) => item))
  return lines.flatMap((line) => {
    const { mission_id, name, left } = missionEntry(line)
    return left === undefined ? [] : [{ mission_id, name, left }]
  })
}

async function notProvenIn({ missions }: Reads, { mission, now }: MissionListing) {
  if (!isDone(now)) return null
  const { contradicted, unproven, tasks } = await missions.doubtedTasks(mission.id, 1)
  const [first] = tasks
  return first === undefined ? null : { tasks: contradicted + unproven, first: first.id }
}

async function sentBackEntry(reads: Reads, record: RunRecord, definition: ProcessDefinition) {
  const back = await sentBackBy(reads, record, definition)
  return back && { author: back.author, reason: back.reason }
}

async function lostIn({ landings }: Reads, { mission, now }: MissionListing): Promise<number> {
  return isDone(now) ? ((await landings.ofMission(mission.id, 0)).counts.get('lost') ?? 0) : 0
}

function isDone({ doneTasks, openAttempts, toDoTasks }: MissionListing['now']): boolean {
  return doneTasks > 0 && openAttempts + toDoTasks === 0
}

function payloadOf(definition: ProcessDefinition | null, event: string): JsonObject | null {
  return (definition && eventNamed(definition, event)?.payloadSchema) ?? null
}

async function planCounts(reads: Reads, now: number) {
  const { plan } = reads
  const notLanded = await notLandedTasks(reads)
  const count = async (filter: Partial<Pick<PlanFilter, 'ready' | 'status' | 'dropped'>>) =>
    (await plan.tasks({ owner: 'open', now, ...filter }, { limit: 0 })).total
  return {
    ready: await count({ ready: true }),
    in_progress: await count({ status: 'in_progress' }),
    done: await count({ status: 'done', dropped: false }),
    dropped: await count({ dropped: true }),
    tasks: await count({ dropped: false }),
    not_landed: [...notLanded.values()].reduce((sum, tasks) => sum + tasks, 0),
    lost: notLanded.get('lost') ?? 0,
  }
}

/** How many done tasks wait for a person, as in the plan; none of missions that ended. */
async function doneTasksToReview(reads: Reads): Promise<number> {
  const waiting = await tasksToReview(reads)
  const done = (await reads.tasks.withIds([...waiting])).filter(isCompleted)
  const missions = await reads.missions.withIds([
    ...new Set(done.flatMap(({ missionId }) => missionId ?? [])),
  ])
  const ended = new Set<string>(missions.filter(isEnded).map(({ id }) => id))
  return done.filter(({ missionId }) => missionId === null || !ended.has(missionId)).length
}

/** The name of a project without a folder here. */
async function nameOf(identities: Reads['identities']): Promise<string> {
  const listed = await identities.projects()
  return listed.find(({ id }) => id === identities.project)?.name ?? identities.project
}

/** More items of a team are not asked about one by one. */
const maxAsked = 500

interface OpenItems {
  readonly total: number
  readonly others: number
  /** The first of each kind that the caller can answer, and possibly more. */
  readonly own: readonly InboxItem[]
}

/** The open inbox items, also those that are due, as the inbox shows them. */
async function openItemsFor(reads: Reads, context: RecordContext): Promise<OpenItems> {
  const asksEach = context.permissions !== undefined && context.actor.kind === 'person'
  const read = (kinds: readonly InboxItemKind[]) =>
    reads.inboxItems.list({ status: 'open', kinds }, { limit: asksEach ? maxAsked : 1 })
  const [urgent, others, due] = await Promise.all([
    read(urgentItemKinds),
    read(otherItemKinds),
    dueItems(reads, context.clock.now()),
  ])
  const lines = [
    ...[...urgent.items, ...others.items].map(({ item }) => item),
    ...due.map((item) => ({ item, issue: null, opener: null })),
  ]
  const answerable = await Promise.all(
    lines.map(async (line) => !asksEach || (await mayAnswer(reads, line, context))),
  )
  const own = lines.filter((_, at) => answerable[at])
  return {
    total: urgent.total + others.total + due.length,
    others: lines.length - own.length,
    own: own.map(({ item }) => item),
  }
}

/** The inbox items and the active agents. */
async function currentWork(reads: Reads, context: RecordContext, limit = maxRunning): Promise<Work> {
  const { missions, tasks, identities } = reads
  const now = context.clock.now()
  const [items, open, { attempts, total }] = await Promise.all([
    openItemsFor(reads, context),
    missions.list({ limit: 1, statuses: ['pending', 'in_progress'] }),
    tasks.atWork(limit),
  ])
  const openedAt = items.own.map((item) => item.openedAt)
  const names = await tasks.names(attempts.map(({ taskId }) => taskId))
  const people = await peopleOfAttempts(identities, attempts)
  const lost = await Promise.all(attempts.map(({ actor }) => lostAccess(reads, actor, now)))
  return {
    missions_total: open.total,
    running: attempts.map((attempt, at) => ({
      task_id: attempt.taskId,
      name: excerpt(names.get(attempt.taskId) ?? '', 120),
      agent_name: displayName(attempt),
      person: people.get(attempt.actor.person ?? '')?.name ?? null,
      machine: machineOfSnapshot(attempt.snapshot),
      started_at: instant(attempt.openedAt),
      last_call_at: instant(attempt.lastCallAt),
      stale: isStale(attempt, now) || typeof lost[at] === 'string',
      work_tree: attempt.snapshot.top,
    })),
    running_total: total,
    waiting: items.total - items.others,
    waiting_for_others: items.others,
    waiting_since: instantOrNull(openedAt.length === 0 ? null : Math.min(...openedAt)),
  }
}

async function peopleOfAttempts(
  identities: Reads['identities'],
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, Person | null>> {
  const ids = [...new Set(attempts.flatMap(({ actor }) => actor.person ?? []))]
  const people = ids.map(async (id): Promise<[string, Person | null]> => [id, await identities.person(id)])
  return new Map(await Promise.all(people))
}

function machineOfSnapshot({ machineId, machineName }: SnapshotLocation): z.output<typeof Named> | null {
  return machineId === undefined ? null : { id: machineId, name: machineName ?? machineId }
}
