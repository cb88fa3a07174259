import { z } from 'zod'
import { assertPhaseFree } from '../../gate/operations/run/gating.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { PhaseId } from '../../kernel/id.ts'
import { findPhase, ownerOf, spanOf } from '../../kernel/operations/find.ts'
import { identifier, name } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, unlistedPageFields } from '../../kernel/operations/paging.ts'
import { printEditedEntity, printEntity, printList } from '../../kernel/operations/print.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded, nextNumber, type Phase } from '../../track/domain/mission.ts'
import { type PhaseChanges, phaseStatus } from '../domain/plan.ts'
import { briefEntity, briefIdField, missionField, sortOrderField, spanField, statusField } from './fields.ts'
import { PhaseEntry, PhaseOrBrief, phaseEntry } from './plan-answer.ts'

export const phaseAdd = defineOperation({
  name: 'taskman_phase_add',
  tool: 'taskman_phase_add',
  command: 'phase add',
  synonyms: { phase_id: 'id', mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a phase',
  description: 'Add a phase to the plan',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    id: identifier('Unique ID'),
    name: name('Name'),
    status: statusField('Status').optional(),
    'sort-order': sortOrderField.optional(),
    mission: missionField.optional(),
    brief: briefIdField.optional(),
  }),
  output: PhaseOrBrief,
  brief: briefEntity,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const missionId = await ownerOf(reads, input.mission)
    await assertFreeId(reads, input)
    const status = phaseStatus(input.status ?? 'to_do')
    const phase: Phase = {
      id: input.id as PhaseId, // people name the phases of a plan
      missionId,
      number: missionId === null ? null : nextNumber(await reads.missions.phases(missionId)),
      name: input.name,
      status,
      sortOrder: input['sort-order'] ?? null,
      createdAt: setting.at,
      completedAt: status === 'completed' ? setting.at : null,
    }
    return { events: [{ kind: 'phase.created', phase }], answer: phaseEntry(phase) }
  }),
)

/** Phase ids are unique in a project, across plans. */
async function assertFreeId(
  reads: Reads,
  {
    id,
    name,
    mission,
  }: { readonly id: string; readonly name: string; readonly mission?: string | undefined },
): Promise<void> {
  const [clash] = await clashesOf(reads, [id])
  if (clash === undefined) return
  throw new Failure('CONFLICT', clash.sentence, {
    reason: 'phase_exists',
    hint: hintOf`Change that one with ${callTo('taskman_phase_edit', { id })}, or take the free id "${clash.free}": ${callTo('taskman_phase_add', { id: clash.free, name, ...(mission !== undefined && { mission }) })}`,
  })
}

interface PhaseClash {
  readonly id: string
  readonly sentence: string
  readonly free: string
}

/** The ids in use, each with a free alternative. */
export async function clashesOf(reads: Reads, ids: readonly string[]): Promise<readonly PhaseClash[]> {
  const phases = await reads.plan.phasesWithIds(ids)
  if (phases.length === 0) return []
  const missions = await reads.missions.withIds(phases.flatMap(({ missionId }) => missionId ?? []))
  // The ids of an ended mission's phases are free again; a workflow that ended by itself may reopen.
  const ended = new Set(
    missions.flatMap((mission) =>
      isEnded(mission) && !(mission.kind === 'workflow' && mission.summary === null) ? mission.id : [],
    ),
  )
  const clashing = phases.filter(({ missionId }) => missionId === null || !ended.has(missionId))
  const usedIds = new Set([...ids, ...(await reads.plan.phaseIdsLike(clashing.map(({ id }) => `${id}-`)))])
  return clashing.map(({ id, missionId, name: called }) => {
    let number = 2
    while (usedIds.has(`${id}-${number}`)) number += 1
    const missionText = missionId === null ? '' : ` in mission ${missionId}`
    return { id, sentence: `phase already exists: ${id} "${called}"${missionText}`, free: `${id}-${number}` }
  })
}

export const phaseEdit = defineOperation({
  name: 'taskman_phase_edit',
  tool: 'taskman_phase_edit',
  command: 'phase edit',
  synonyms: { phase_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a phase',
  description: 'Change a phase; fields you leave out stay',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Phase ID'),
    name: name('Name').optional(),
    status: statusField('Status').optional(),
    'sort-order': sortOrderField.optional(),
    clear: z
      .array(z.enum(['sort-order']))
      .max(20)
      .describe('Fields to empty')
      .optional(),
    brief: briefIdField.optional(),
  }),
  output: PhaseOrBrief,
  brief: briefEntity,
  print: printEditedEntity,
}).handler((handling, input) =>
  handling.record(async (reads) => {
    const status = input.status === undefined ? undefined : phaseStatus(input.status)
    const phase = await findPhase(reads, input.id)
    // A gate of a phase applies to every call that ends it.
    const isGated = status === 'completed' && phase.status !== 'completed' && handling.actor.kind === 'agent'
    if (isGated) await assertPhaseFree(reads, { missionId: phase.missionId, phaseId: phase.id }, 'agent')
    const changes: PhaseChanges = {
      ...(input.name !== undefined && { name: input.name }),
      ...(status !== undefined && { status }),
      ...(input['sort-order'] !== undefined && { sortOrder: input['sort-order'] }),
      ...(input.clear?.includes('sort-order') && { sortOrder: null }),
    }
    if (Object.keys(changes).length === 0) return { events: [], answer: phaseEntry(phase) }
    return {
      events: [{ kind: 'phase.edited', phaseId: phase.id, missionId: phase.missionId, changes }],
      answerFrom: async (after) => phaseEntry(await findPhase(after, phase.id)),
    }
  }),
)

export const phaseList = defineOperation({
  name: 'taskman_phase_list',
  tool: 'taskman_phase_list',
  command: 'phase list',
  synonyms: { mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'List phases',
  description: 'List the phases in order',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional(), ...unlistedPageFields }),
  output: z.object({ phases: list(PhaseEntry), ...page }),
  print: printList('phases'),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const phases = await reads.plan.phases(await spanOf(reads, input.mission))
    const { entries, ...rest } = new Paging('taskman_phase_list', input, actor, 1000).slice(phases, idOf)
    return { phases: entries.map(phaseEntry), ...rest }
  }),
)
