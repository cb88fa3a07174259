import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MilestoneId } from '../../kernel/id.ts'
import { findMilestone, findPhase, spanOf } from '../../kernel/operations/find.ts'
import { identifier, name, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, unlistedPageFields } from '../../kernel/operations/paging.ts'
import { printEditedEntity, printEntity, printList } from '../../kernel/operations/print.ts'
import type { Milestone, MilestoneChanges } from '../domain/plan.ts'
import { briefEntity, briefIdField, reachedField, spanField } from './fields.ts'
import { MilestoneEntry, MilestoneOrBrief, milestoneEntry } from './plan-answer.ts'
import { assertStaysInMission } from './stay-in-mission.ts'

export const milestoneAdd = defineOperation({
  name: 'taskman_milestone_add',
  tool: 'taskman_milestone_add',
  command: 'milestone add',
  synonyms: { milestone_id: 'id', phase_id: 'phase' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a milestone',
  description: 'Add a milestone, a goal with a criterion, to a phase',
  kind: 'command',
  input: z.strictObject({
    id: identifier('Unique ID'),
    phase: identifier('Phase, by id or name'),
    name: name('Name').optional(),
    criterion: text('When it is reached').optional(),
    reached: reachedField.optional(),
    brief: briefIdField.optional(),
  }),
  output: MilestoneOrBrief,
  brief: briefEntity,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const phase = await findPhase(reads, input.phase)
    if (await reads.plan.milestone(input.id)) {
      throw new Failure('CONFLICT', `milestone already exists: ${input.id}`, {
        reason: 'milestone_exists',
        hint: hintOf`Choose another id, or change it with ${callTo('taskman_milestone_edit', { id: input.id })}.`,
      })
    }
    const milestone: Milestone = {
      id: input.id as MilestoneId, // people name their milestones
      phaseId: phase.id,
      name: input.name ?? null,
      criterion: input.criterion ?? null,
      reached: input.reached === '1',
      createdAt: setting.at,
    }
    return {
      events: [{ kind: 'milestone.created', milestone }],
      answer: milestoneEntry(milestone, phase.missionId),
    }
  }),
)

/** More tasks of a milestone than anyone plans. */
const maxMoved = 1_000

export const milestoneEdit = defineOperation({
  name: 'taskman_milestone_edit',
  tool: 'taskman_milestone_edit',
  command: 'milestone edit',
  synonyms: { milestone_id: 'id', phase_id: 'phase' },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a milestone',
  description: 'Change a milestone; moving it moves its open tasks',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Milestone ID'),
    name: name('Name').optional(),
    criterion: text('Criterion').optional(),
    reached: reachedField.optional(),
    phase: identifier('Phase to move to').optional(),
    clear: z
      .array(z.enum(['name', 'criterion']))
      .max(20)
      .describe('Fields to empty')
      .optional(),
    brief: briefIdField.optional(),
  }),
  output: MilestoneOrBrief,
  brief: briefEntity,
  print: printEditedEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, { at: now }) => {
    const milestone = await findMilestone(reads, input.id)
    const phase = input.phase === undefined ? null : await findPhase(reads, input.phase)
    if (phase && actor.kind !== 'person') {
      const moved = await reads.plan.tasks({ milestoneId: milestone.id, now }, { limit: maxMoved })
      await assertStaysInMission(
        reads,
        // What is done stays where it was done.
        moved.tasks.flatMap(({ task }) => (task.status === 'done' ? [] : [task])),
        phase,
      )
    }
    const home = phase ?? (await findPhase(reads, milestone.phaseId))
    const changes: MilestoneChanges = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.criterion !== undefined && { criterion: input.criterion }),
      ...(input.reached !== undefined && { reached: input.reached === '1' }),
      ...(phase && { phaseId: phase.id }),
      ...(input.clear?.includes('name') && { name: null }),
      ...(input.clear?.includes('criterion') && { criterion: null }),
    }
    if (Object.keys(changes).length === 0)
      return { events: [], answer: milestoneEntry(milestone, home.missionId) }
    return {
      events: [{ kind: 'milestone.edited', milestoneId: milestone.id, changes }],
      answerFrom: async (after) => milestoneEntry(await findMilestone(after, milestone.id), home.missionId),
    }
  }),
)

export const milestoneList = defineOperation({
  name: 'taskman_milestone_list',
  tool: 'taskman_milestone_list',
  command: 'milestone list',
  synonyms: { phase_id: 'phase', mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'List milestones',
  description: 'List the milestones',
  kind: 'query',
  input: z.strictObject({
    phase: identifier('Phase, by id or name').optional(),
    mission: spanField.optional(),
    ...unlistedPageFields,
  }),
  output: z.object({ milestones: list(MilestoneEntry), ...page }),
  print: printList('milestones'),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const span = await spanOf(reads, input.mission)
    const phase = input.phase === undefined ? null : await findPhase(reads, input.phase)
    const milestones = await reads.plan.milestones({
      ...((phase === null || input.mission !== undefined) && { owner: span }),
      ...(phase && { phaseId: phase.id }),
    })
    const homes = new Map((phase ? [phase] : await reads.plan.phases(span)).map((home) => [home.id, home]))
    const { entries, ...rest } = new Paging('taskman_milestone_list', input, actor, 1000).slice(
      milestones,
      idOf,
    )
    return {
      milestones: entries.map((milestone) =>
        milestoneEntry(milestone, homes.get(milestone.phaseId)?.missionId ?? null),
      ),
      ...rest,
    }
  }),
)
