import { z } from 'zod'
import { endItem, endingOf } from '../../inbox/domain/answers.ts'
import type { InboxItem, InboxItemKind } from '../../inbox/domain/inbox-item.ts'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TaskId } from '../../kernel/id.ts'
import { findMilestone, findMission, findPhase, findPlanned } from '../../kernel/operations/find.ts'
import { identifier, name, text, texts, unlistedField } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { printEditedEntity, printEntity } from '../../kernel/operations/print.ts'
import { excerpt } from '../../kernel/text.ts'
import { sentBackOf } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { reopenIfCompleted } from '../../track/domain/phase-placement.ts'
import { newTask, type Task } from '../../track/domain/task.ts'
import { reopenMissions } from '../../track/operations/reopen-missions.ts'
import {
  addToDoneWhen,
  type DoneWhen,
  editDoneWhen,
  newDoneWhen,
  noDoneWhen,
  promiseLists,
} from '../domain/done-when.ts'
import { dropTask, editTask, milestonePhaseFailure } from '../domain/editing.ts'
import { knownRoles, type Milestone, type TaskChanges } from '../domain/plan.ts'
import { doneWhenField, givenDoneWhen, promiseFlags } from './done-when.ts'
import {
  assertRole,
  assigneeField,
  briefField,
  briefTask,
  formatField,
  roleField,
  sortOrderField,
  statusField,
} from './fields.ts'
import { listedOfTask, PlannedTaskEntry, TaskOrBrief, taskAnswer } from './plan-answer.ts'
import { assertStaysInMission } from './stay-in-mission.ts'

export const taskAdd = defineOperation({
  name: 'taskman_task_add',
  tool: 'taskman_task_add',
  command: 'task add',
  synonyms: {
    name: 'title',
    phase_id: 'phase',
    milestone_id: 'milestone',
    goal: 'description',
    mission_id: 'mission',
    workflow_id: 'mission',
  },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a task',
  description: 'Add a task to a phase of the plan',
  kind: 'command',
  positional: ['title'],
  input: z.strictObject({
    title: name('What to do'),
    phase: identifier('Phase, by id or name'),
    mission: unlistedField(identifier('Mission of the phase')).optional(),
    description: text('How to do it, and when it is done').optional(),
    role: roleField.optional(),
    areas: texts('Scope, as in start_task').optional(),
    assignee: assigneeField.optional(),
    done_when: doneWhenField('As in plan_tasks').optional(),
    ...promiseFlags,
    depends_on: texts('Task ids').optional(),
    milestone: identifier('Milestone of the phase').optional(),
    creator: unlistedField(name('Who asks for it; default: you')).optional(),
    'sort-order': sortOrderField.optional(),
    brief: briefField.optional(),
    format: formatField.optional(),
  }),
  output: TaskOrBrief,
  listedOutput: listedOfTask,
  brief: briefTask,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const mission = input.mission === undefined ? undefined : await findMission(reads, input.mission)
    const phase = await findPhase(reads, input.phase, mission?.id)
    const milestone = input.milestone === undefined ? null : await findMilestone(reads, input.milestone)
    if (milestone && milestone.phaseId !== phase.id) throw milestonePhaseFailure(milestone, phase.id)
    await assertRole(reads, input.role)
    const task = newTask(
      {
        id: setting.ids.next('task'),
        missionId: phase.missionId,
        phaseId: phase.id,
        milestoneId: milestone?.id ?? null,
        name: input.title,
        goal: input.description ?? null,
        role: input.role ?? null,
        ...(input.assignee !== undefined && { assignee: input.assignee }),
        areas: input.areas ?? [],
        ...newDoneWhen(givenDoneWhen(input), actor),
        sortOrder: input['sort-order'] ?? null,
        creator: input.creator ?? actor.name,
      },
      setting.at,
    )
    const dependsOn = await dependenciesOf(reads, input.depends_on)
    return {
      events: [
        ...reopenIfCompleted(phase),
        { kind: 'task.planned', task },
        ...dependsOn.map((dependsOnId) => ({
          kind: 'dependency.added' as const,
          taskId: task.id,
          dependsOnId,
        })),
      ],
      answerFrom: taskAnswer(task.id, setting.at),
    }
  }),
)

/** Each id once, checked to exist. */
async function dependenciesOf(reads: Reads, ids: readonly string[] = []): Promise<readonly TaskId[]> {
  const found = await Promise.all([...new Set(ids)].map((id) => findPlanned(reads, id)))
  return found.map(({ task }) => task.id)
}

const clearable = [
  'description',
  'role',
  'assignee',
  'areas',
  'milestone',
  'sort-order',
  'done-when',
  // A list of its promises alone.
  'done_when.criteria',
  'done_when.check',
  'done_when.changes',
  'done_when.keeps',
] as const

const inputFields = z.strictObject({
  id: identifier('Task ID'),
  title: name('Title').optional(),
  description: text('Description').optional(),
  status: statusField(
    'in_progress claims the task; to_do releases your claim, or reopens a done task; done is not measured: prefer complete_task',
  ).optional(),
  role: roleField.optional(),
  assignee: unlistedField(assigneeField).optional(),
  areas: unlistedField(texts('Scope; the open attempt keeps its own')).optional(),
  done_when: doneWhenField('As in plan_tasks').optional(),
  ...promiseFlags,
  creator: unlistedField(name('Who asks for it')).optional(),
  milestone: identifier('Milestone of the phase').optional(),
  phase: identifier('Phase to move to, by id or name').optional(),
  'sort-order': sortOrderField.optional(),
  clear: z.array(z.enum(clearable)).max(20).describe('Fields to empty').optional(),
  agent_name: name('Who claims it').optional(),
  brief: briefField.optional(),
  format: formatField.optional(),
})

export const taskEdit = defineOperation({
  name: 'taskman_task_edit',
  tool: 'taskman_task_edit',
  command: 'task edit',
  synonyms: {
    task_id: 'id',
    name: 'title',
    phase_id: 'phase',
    milestone_id: 'milestone',
    goal: 'description',
  },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a task',
  description: 'Change a task; fields you leave out stay',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: inputFields,
  output: TaskOrBrief,
  listedOutput: listedOfTask,
  brief: briefTask,
  print: printEditedEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input.id)
    const milestone = input.milestone === undefined ? null : await findMilestone(reads, input.milestone)
    await assertRole(reads, input.role)
    if (actor.kind !== 'person') await assertForAgents(reads, planned.task, input)
    const status = input.status ?? null
    const lastAttempt = status === null ? null : await reads.tasks.lastAttempt(planned.task.id)
    const changes = {
      ...(await changesOf(reads, input, milestone)),
      ...(await doneWhenChange(reads, input, planned.task, { actor, at: setting.at })),
    }
    const events = editTask(
      { changes, status },
      {
        planned,
        lastAttempt,
        milestone,
        verdictItem: status === 'done' ? await openVerdictItem(reads, planned.task.id) : null,
      },
      { actor, agentName: input.agent_name ?? null },
      setting,
    )
    const isToDoAgain =
      actor.kind === 'person' &&
      events.some((event) => event.kind === 'task.marked' && event.status === 'to_do')
    const reopened = isToDoAgain ? await reopenMissions(reads, [planned.task], actor.name, setting) : null
    return {
      events: [...events, ...(reopened?.events ?? [])],
      agentName: input.agent_name ?? null,
      answerFrom: taskAnswer(planned.task.id, setting.at),
    }
  }),
)

/** What only people may edit: it would take work out of the sight of a gate, or out of a person's hands. */
async function assertForAgents(
  reads: Reads,
  task: Task,
  { status, phase }: z.output<typeof inputFields>,
): Promise<void> {
  const { id, name: title } = task
  const named = `${id} "${excerpt(title, 80)}"`
  const again = callTo('start_task', { planned_task_id: id })
  if (status === 'done' && (await sentBackOf(reads, id)) !== null) {
    throw new Failure('REFUSED', `A person sent task ${named} back: it is done by doing it again.`, {
      reason: 'task_sent_back',
      hint: hintOf`Start it with ${again}.`,
    })
  }
  if (phase !== undefined) await assertStaysInMission(reads, [task], await findPhase(reads, phase))
}

async function openVerdictItem({ inboxItems }: Reads, id: TaskId): Promise<InboxItem | null> {
  return (await inboxItems.ofTask(id)).find(({ kind }) => kind === 'verdict') ?? null
}

async function changesOf(
  reads: Reads,
  input: z.output<typeof inputFields>,
  milestone: Milestone | null,
): Promise<TaskChanges> {
  const clears = (field: (typeof clearable)[number]) => input.clear?.includes(field) === true
  return {
    ...(input.title !== undefined && { name: input.title }),
    ...(input.description !== undefined && { goal: input.description }),
    ...(input.role !== undefined && { role: input.role }),
    ...(input.assignee !== undefined && { assignee: input.assignee }),
    ...(input.areas !== undefined && { areas: input.areas }),
    ...(input.creator !== undefined && { creator: input.creator }),
    ...(milestone && { milestoneId: milestone.id }),
    ...(input.phase !== undefined && { phaseId: (await findPhase(reads, input.phase)).id }),
    ...(input['sort-order'] !== undefined && { sortOrder: input['sort-order'] }),
    ...(clears('description') && { goal: null }),
    ...(clears('role') && { role: null }),
    ...(clears('assignee') && { assignee: null }),
    ...(clears('areas') && { areas: [] }),
    ...(clears('milestone') && { milestoneId: null }),
    ...(clears('sort-order') && { sortOrder: null }),
  }
}

/** The given lists replace those of the task; flags add to them. */
async function doneWhenChange(
  reads: Reads,
  input: z.output<typeof inputFields>,
  { id, doneWhen = noDoneWhen }: Task,
  { actor, at }: { readonly actor: Actor; readonly at: number },
): Promise<Pick<TaskChanges, 'doneWhen'>> {
  const { done_when: whole, criterion, check, clear = [] } = input
  const given = givenDoneWhen({ done_when: whole })
  const added = givenDoneWhen({ criterion, check })
  const kept = withoutCleared(doneWhen, clear)
  if (kept === doneWhen && given === null && added === null) return {}
  const before = { ...kept, ...given }
  const after = added === null ? before : addToDoneWhen(before, added)
  const started = (await reads.tasks.lastAttempt(id)) !== null
  const edit = { taskId: id, started, author: actor.name, isPerson: actor.kind === 'person', at }
  return { doneWhen: editDoneWhen(doneWhen, after, edit) }
}

function withoutCleared(doneWhen: DoneWhen, clear: readonly (typeof clearable)[number][]): DoneWhen {
  if (clear.includes('done-when')) return noDoneWhen
  const lists = promiseLists.filter((list) => clear.some((field) => field === `done_when.${list}`))
  if (lists.length === 0) return doneWhen
  const kept = Object.entries(doneWhen).filter(([name]) => !lists.some((list) => list === name))
  return { ...noDoneWhen, ...Object.fromEntries(kept) }
}

const askedOfTask: ReadonlySet<InboxItemKind> = new Set(['verdict', 'blocker', 'review', 'scope'])

export const taskDrop = defineOperation({
  name: 'task_drop',
  command: 'task drop',
  toolset: 'plan',
  audience: 'both',
  title: 'Drop a task',
  description: 'Drop a task for good, with a reason. Tasks that depend on it no longer wait',
  kind: 'command',
  destructive: true,
  positional: ['id', 'reason'],
  input: z.strictObject({
    id: identifier('Task ID'),
    reason: text('Reason'),
  }),
  output: PlannedTaskEntry,
  listedOutput: listedOfTask,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input.id)
    const openAttempt = await reads.tasks.openAttempt(planned.task.id)
    const claimant = { actor, agentName: null }
    const items = (await reads.inboxItems.ofTask(planned.task.id)).filter(({ kind }) => askedOfTask.has(kind))
    const verdictItem = items.find(({ kind }) => kind === 'verdict') ?? null
    const events = dropTask(
      { planned, openAttempt, verdictItem },
      { reason: input.reason, author: claimant },
      setting,
    )
    // A person who drops a task has decided about what was asked and said of it.
    const decided = (actor.kind === 'person' ? items : []).flatMap((item) =>
      endItem(
        item,
        { ...endingOf(item, 'dismiss', null), answer: `Dropped: ${input.reason}` },
        { attempt: null, task: null },
      ),
    )
    return { events: [...events, ...decided], answerFrom: taskAnswer(planned.task.id, setting.at) }
  }),
)

export const roleAdd = defineOperation({
  name: 'role_add',
  command: 'role add',
  toolset: 'plan',
  audience: 'person',
  title: 'Add a role to the project',
  description: 'Add a role to this project, besides the known ones',
  kind: 'command',
  idempotent: true,
  positional: ['role'],
  input: z.strictObject({
    role: z
      .string()
      .max(60)
      .regex(/^[a-z][a-z0-9-]*$/, 'use lower case letters, digits and hyphens')
      .describe('The role, such as data-engineer'),
  }),
  output: z.object({ role: z.string(), roles: strings }),
}).handler(({ record }, { role }) =>
  record(async ({ plan }) => {
    const roles = [...knownRoles, ...(await plan.roles())]
    if (roles.includes(role)) return { events: [], answer: { role, roles } }
    return { events: [{ kind: 'role.declared', role }], answer: { role, roles: [...roles, role] } }
  }),
)
