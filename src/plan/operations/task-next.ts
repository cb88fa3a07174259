import { z } from 'zod'
import { waitForProjectEvent } from '../../events/operations/follow.ts'
import { sentBackRunText } from '../../gate/operations/run/sent-back-runs.ts'
import { displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import { findMission, findPlanned, spanOf } from '../../kernel/operations/find.ts'
import { count, name } from '../../kernel/operations/input/fields.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { printAsText } from '../../kernel/operations/print.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { excerpt, formatCount, plainWord } from '../../kernel/text.ts'
import { sentBackLines } from '../../review/operations/review-lines.ts'
import { sentBackTasks } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { claimTask, expireClaim } from '../domain/claims.ts'
import { type Claim, knownRoles, type PlannedTask, type PlanSpan } from '../domain/plan.ts'
import { maxNamed, reasonsFor } from '../domain/readiness.ts'
import { assertRole, formatField, roleField, spanField } from './fields.ts'
import { PlannedTaskEntry, plannedTaskEntry } from './plan-answer.ts'

const maxWaitSeconds = 50

const inputFields = z.strictObject({
  role: roleField.optional(),
  claim: z.boolean().describe('Claim it for 30 minutes').optional(),
  agent_name: name('Your name, if agents share this connection').optional(),
  mission: spanField.optional(),
  wait_seconds: count('Wait for a ready task', maxWaitSeconds).optional(),
  format: formatField.optional(),
})

export const taskNext = defineOperation({
  name: 'taskman_task_next',
  tool: 'taskman_task_next',
  command: 'task next',
  synonyms: { mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'Get the next ready task',
  description:
    'Get the next ready task, critical path first. Claim it, then start_task { planned_task_id, claim_token }',
  kind: 'command',
  input: inputFields,
  output: z.object({
    task: PlannedTaskEntry.nullable(),
    claim: z.object({ token: z.string(), agent: z.string(), expires_at: z.string() }).nullable(),
    /** The role that the task needs, or why there is none. */
    message: z.string().optional(),
  }),
  listedOutput: ['task', 'claim'],
  print: (answer, input) => [
    input['format'] === 'text'
      ? printAsText(answer['task'] ?? answer['message'] ?? 'nothing is ready')
      : JSON.stringify(answer),
  ],
}).handler(async (handling, input) => {
  await waitForTask(handling, input)
  if (!input.claim) {
    return handling.store.view(async (reads) => {
      const request = requestOf(handling, input, handling.clock.now())
      const next = await nextOf(reads, input, request)
      const message = await messageFor(reads, next, input, request)
      return answerOf(next, null, { now: request.now, message })
    })
  }
  // Reads first, so that an agent polling without success locks no one.
  const noTask = await handling.store.view(async (reads) => {
    const request = requestOf(handling, input, handling.clock.now())
    if ((await reads.plan.expiredClaims(request.now)).length > 0) return null
    if ((await nextOf(reads, input, request)) !== null) return null
    return answerOf(null, null, { now: request.now, message: await messageFor(reads, null, input, request) })
  })
  if (noTask !== null) return noTask
  return handling.record(async (reads, setting) => {
    const request = requestOf(handling, input, setting.at)
    const expired = await reads.plan.expiredClaims(setting.at)
    const ended = expired.flatMap((planned) => expireClaim(planned, setting))
    const next = await nextOf(reads, input, request)
    const message = await messageFor(reads, next, input, request)
    if (next === null) return { events: ended, answer: answerOf(null, null, { now: setting.at, message }) }
    const planned = expired.some(({ task }) => task.id === next.task.id) ? { ...next, claim: null } : next
    const claimant = { actor: handling.actor, agentName: input.agent_name ?? null }
    const { claim, token, events } = claimTask(planned, claimant, setting)
    return {
      events: [...ended, ...events],
      agentName: claimant.agentName,
      answerFrom: async (after) =>
        answerOf(await findPlanned(after, planned.task.id), { claim, token }, { now: setting.at, message }),
    }
  })
})

type TaskNextInput = z.output<typeof inputFields>

// A claim ends by the clock, without an event.
const maxSilenceMs = 5_000

/** Waits until a task is ready, as long as the caller allows. */
async function waitForTask(handling: CommandContext, input: TaskNextInput): Promise<void> {
  const { store, clock } = handling
  const until = clock.now() + (input.wait_seconds ?? 0) * 1000
  for (;;) {
    const left = until - clock.now()
    if (left <= 0) return
    const seen = await store.view(async (reads) => ({
      after: await reads.eventLog.head(),
      isReady: (await nextOf(reads, input, requestOf(handling, input, clock.now()))) !== null,
    }))
    if (seen.isReady) return
    const milliseconds = Math.min(left, maxSilenceMs)
    await waitForProjectEvent(store, { after: seen.after, milliseconds, until: async () => true })
  }
}

interface TaskNextContext {
  readonly now: number
  /** The caller's name. */
  readonly caller: string
  /** People get commands, agents get tools. */
  readonly isPerson: boolean
}

function requestOf({ actor }: CommandContext, { agent_name }: TaskNextInput, now: number): TaskNextContext {
  const caller = displayName({ actor, agentName: agent_name ?? null })
  return { now, caller, isPerson: actor.kind === 'person' }
}

/** Without a role, tasks for anyone come before those that need a role. */
async function nextOf(
  reads: Reads,
  input: TaskNextInput,
  { now, caller }: TaskNextContext,
): Promise<PlannedTask | null> {
  await assertRole(reads, input.role)
  const { role } = input
  const filter = {
    owner: await spanOf(reads, input.mission),
    now,
    assignees: [caller, ...(role === undefined ? [] : [role])],
    ...(role !== undefined && { role }),
  }
  if (role !== undefined) return reads.plan.next(filter)
  return (await reads.plan.next({ ...filter, roleless: true })) ?? reads.plan.next(filter)
}

async function messageFor(
  reads: Reads,
  next: PlannedTask | null,
  input: TaskNextInput,
  request: TaskNextContext,
): Promise<string | null> {
  if (next === null) return noTaskReason(reads, input, request)
  const { id, role, missionId } = next.task
  const run = missionId === null ? '' : await sentBackRunText(reads, missionId, request.isPerson)
  const sentences = [
    ...(role === null || role === input.role ? [] : [`It needs the role ${role}.`]),
    ...(await sentBackLines(reads, [id])),
    ...(run === '' ? [] : [run]),
  ]
  return sentences.length === 0 ? null : sentences.join(' ')
}

const maxExamined = 1000

/** Why nothing is ready, and a filter that would find something. */
async function noTaskReason(
  reads: Reads,
  input: TaskNextInput,
  { now, caller, isPerson }: TaskNextContext,
): Promise<string> {
  const owner = await spanOf(reads, input.mission)
  const page = { limit: maxExamined }
  const toDo = await reads.plan.tasks({ owner, status: 'to_do', now }, page)
  const inProgress = await reads.plan.tasks({ owner, status: 'in_progress', now }, page)
  const reasons = reasonsFor({
    toDo: toDo.tasks,
    inProgress: inProgress.tasks,
    awaited: await openDependencies(reads, toDo.tasks, now),
    caller,
    role: input.role ?? null,
  })
  const total = toDo.total + inProgress.total
  const mission = owner === null || owner === 'open' ? null : await findMission(reads, owner)
  if (mission !== null && mission.completedAt !== null && total > 0)
    return `No task is ready: "${excerpt(mission.name, 80)}" has ended. Of it ${formatCount(total, 'task')} can be started with mission_id "none", or planned in another mission.`
  const done = total > 0 ? 0 : (await reads.plan.tasks({ owner, status: 'done', now }, { limit: 1 })).total
  const planText = input.mission === undefined ? 'in an open mission or in the project’s own plan' : 'there'
  const none = done > 0 ? 'All planned tasks are done.' : `No task is planned ${planText}.`
  const figures = total === 0 ? none : `Of ${formatCount(total, 'task')}, ${reasons.join(', ')}.`
  const other = await readyElsewhere(reads, owner, input, { now, caller, isPerson })
  // An open attempt holds a claim without an end.
  const held = inProgress.tasks.filter(({ claim }) => claim?.agent === caller)
  const claimed = held.find(({ claim }) => claim?.expiresAt !== null)
  const [started] = held
  const isWaiting = toDo.tasks.some(({ blocked }) => blocked) || inProgress.total > 0
  const wait = isPerson
    ? 'What needs you: waymark inbox'
    : `Wait with taskman_task_next { ${input.mission === undefined ? '' : `mission: ${JSON.stringify(input.mission)}, `}claim: true, wait_seconds: 50 }.`
  const rest = isWaiting ? wait : await sentBackText(reads, isPerson)
  const own = started && !isPerson ? goOnText(started) : rest
  const next = claimed ? startText(claimed, isPerson) : (other ?? own)
  const run = owner === null ? '' : await sentBackRunText(reads, mission?.id ?? null, isPerson)
  return ['No task is ready.', figures, run, next].filter((part) => part !== '').join(' ')
}

function startText({ task: { id } }: PlannedTask, isPerson: boolean): string {
  const start = isPerson ? `waymark task start ${id}` : `start_task { planned_task_id: "${id}" }`
  return `Start the task that you hold: ${start}`
}

function goOnText({ task: { id } }: PlannedTask): string {
  return `Go on with the task that you hold, and end it: complete_task { task_id: "${id}" }`
}

async function sentBackText(reads: Reads, isPerson: boolean): Promise<string> {
  const task = (await sentBackTasks(reads)).find((one) => one.mission_ended)
  if (task === undefined) return ''
  const start = isPerson
    ? `waymark task start ${task.task_id} --mission-id none`
    : `start_task { planned_task_id: "${task.task_id}", mission_id: "none" }`
  return `A person sent "${task.name}" back, of a mission that has ended. Start it again: ${start}`
}

/** The open dependencies of blocked tasks and their status, also in other plans. */
async function openDependencies(
  reads: Reads,
  toDo: readonly PlannedTask[],
  now: number,
): Promise<readonly string[]> {
  const blocked = toDo.filter((planned) => planned.blocked)
  const ids = [...new Set(blocked.flatMap(({ dependsOn }) => dependsOn))].slice(0, maxExamined)
  if (ids.length === 0) return []
  const cards = await reads.tasks.cards(ids)
  const histories = await reads.tasks.histories(ids, now)
  const open = cards
    .map(({ task }) => task)
    .filter(({ id, status }) => status !== 'done' || histories.get(id)?.unsettled === true)
  const reasons = await Promise.all(
    open.slice(0, maxNamed).map(async (task) => {
      if (task.status !== 'done') return plainWord(task.status)
      const items = await reads.inboxItems.list({ taskId: task.id, status: 'open' }, { limit: 10 })
      const open = items.items.map(({ item }) => item.item)
      const status = open.some(({ kind }) => kind === 'review') ? 'in review' : 'done, and needs a person'
      return open.length === 0
        ? status
        : `${status}: ${open
            .slice(0, maxNamed)
            .map(({ id }) => id)
            .join(', ')}`
    }),
  )
  return open.map(({ id }, place) => (place < reasons.length ? `${id} (${reasons[place]})` : id))
}

/** The nearest filter that finds a task: of another mission, role or assignee. */
async function readyElsewhere(
  reads: Reads,
  owner: PlanSpan,
  { role, mission }: TaskNextInput,
  { now, caller, isPerson }: TaskNextContext,
): Promise<string | null> {
  const roles: readonly string[] = [...knownRoles, ...(await reads.plan.roles())]
  const everywhere = { owner: 'open', now } as const
  const assignees = [caller, ...(role === undefined ? [] : [role])]
  const others = [
    { owner, now, assignees },
    ...(mission === undefined ? [] : [{ ...everywhere, assignees, ...(role !== undefined && { role }) }]),
    { owner, now },
  ]
  for (const filter of others) {
    const found = await reads.plan.next(filter)
    if (found === null) continue
    const { id, role: neededRole, assignee, missionId } = found.task
    const isForOther = Boolean(assignee) && assignee !== caller
    const asRole = isForOther && roles.some((role) => role === assignee) ? (assignee ?? null) : neededRole
    const fields = [
      ...(asRole === null ? [] : [['role', asRole] as const]),
      ...(isForOther && asRole !== assignee ? [['agent_name', assignee ?? ''] as const] : []),
      ...(mission === undefined || owner === missionId ? [] : [['mission', missionId ?? 'none'] as const]),
    ]
    const flags = fields.map(([field, value]) => `--${field.replace('_', '-')} ${quoteShellWord(value)}`)
    const inputs = fields.map(([field, value]) => `${field}: "${value}"`)
    return isPerson
      ? `waymark task next ${flags.join(' ')} finds ${id}.`
      : `taskman_task_next { ${inputs.join(', ')} } finds ${id}.`
  }
  return null
}

function answerOf(
  planned: PlannedTask | null,
  claimed: { readonly claim: Claim; readonly token: string } | null,
  { now, message }: { readonly now: number; readonly message: string | null },
) {
  return {
    task: planned === null ? null : plannedTaskEntry(planned, now),
    claim:
      claimed === null || claimed.claim.expiresAt === null
        ? null
        : {
            token: claimed.token,
            agent: claimed.claim.agent,
            expires_at: instant(claimed.claim.expiresAt),
          },
    ...(message !== null && { message }),
  }
}
