import { z } from 'zod'
import { ownerOf } from '../../kernel/operations/find.ts'
import { identifier, name, text, texts } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { printList } from '../../kernel/operations/print.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded, nextNumber } from '../../track/domain/mission.ts'
import { knownRoles, type PlannedTask } from '../domain/plan.ts'
import { type PlanBatchPhase, planTaskGroup } from '../domain/plan-tasks.ts'
import { doneWhenField } from './done-when.ts'
import { clashesOf } from './phases.ts'

const maxTasks = 200

/** Plans phases, tasks and dependencies together, all or nothing. */
export const planTasks = defineOperation({
  name: 'plan_tasks',
  tool: 'plan_tasks',
  command: 'plan tasks',
  synonyms: { mission: 'mission_id', workflow_id: 'mission_id' },
  toolset: 'plan',
  audience: 'both',
  title: 'Plan phases and tasks in one call',
  description: 'Plan phases, tasks and dependencies in one call, all or nothing',
  kind: 'command',
  input: z.strictObject({
    mission_id: identifier("Default the project's own plan").optional(),
    phases: z
      .array(z.strictObject({ id: z.string().min(1).max(100).optional(), name: name('Name') }))
      .max(50)
      .describe('New phases, in order')
      .optional(),
    tasks: z
      .array(
        z.strictObject({
          key: identifier('Your name for it here'),
          title: name('Title'),
          description: text('How to do it, and when it is done').optional(),
          phase: identifier('Id or name'),
          role: z.string().min(1).max(100).optional(),
          areas: texts().optional(),
          done_when: doneWhenField(
            '{ criteria: sentences, check: commands, changes: paths to change, keeps: paths not to change }',
          ).optional(),
          assignee: name('Agent or role').optional(),
          depends_on: texts('Keys or task ids').optional(),
        }),
      )
      .max(maxTasks)
      .describe('Tasks'),
  }),
  output: z.object({
    tasks: list(z.object({ key: z.string(), id: z.string(), ready: z.boolean() })),
    phases: list(Named.extend({ number: z.int().nullable() })).optional(),
  }),
  listedOutput: ['tasks'],
  print: printList('tasks'),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const missionId = await ownerOf(reads, input.mission_id)
    const mission = missionId === null ? null : await reads.missions.find(missionId)
    const requestedPhases = input.phases ?? []
    const existingPhases = await reads.plan.phases(missionId)
    const named = [...new Set(input.tasks.map(({ phase }) => phase))]
    const namedPhases = await reads.plan.phasesWithIds(named)
    const planned = planTaskGroup(
      { phases: requestedPhases, tasks: input.tasks },
      {
        owner: missionId,
        ended: mission !== null && isEnded(mission) && mission.summary !== null ? mission : null,
        existingPhases,
        namedPhases,
        nextNumber: nextNumber(existingPhases),
        clashes: await clashSentences(reads, requestedPhases),
        roles: new Set<string>([...knownRoles, ...(await reads.plan.roles())]),
        existingTasks: await knownTasks(
          reads,
          input.tasks.flatMap(({ depends_on }) => depends_on ?? []),
        ),
        author: actor,
      },
      setting,
    )
    const { phases, tasks, events } = planned
    return {
      events,
      answerFrom: async (after) => {
        const ids = tasks.map(({ id }) => id)
        const histories = await after.tasks.histories(ids, setting.at)
        return {
          tasks: tasks.map(({ key, id }) => ({ key, id, ready: !histories.get(id)?.blocked })),
          ...(phases.length > 0 && {
            phases: phases.map(({ id, number, name: called }) => ({ id, number, name: called })),
          }),
        }
      },
    }
  }),
)

async function clashSentences(reads: Reads, phases: readonly PlanBatchPhase[]): Promise<readonly string[]> {
  const clashes = await clashesOf(
    reads,
    phases.flatMap(({ id }) => id ?? []),
  )
  return clashes.map(({ sentence, free }) => `${sentence}: take "${free}"`)
}

async function knownTasks(reads: Reads, ids: readonly string[]): Promise<ReadonlyMap<string, PlannedTask>> {
  const found = await reads.plan.tasksWithIds(ids)
  return new Map(found.map((planned) => [planned.task.id as string, planned]))
}
