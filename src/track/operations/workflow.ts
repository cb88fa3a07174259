import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { instant } from '../../kernel/instant.ts'
import { choice, count, name, text, unlistedField } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { expectedPhases, profiles } from '../domain/mission.ts'
import { createWorkflow as decide } from '../domain/start-mission.ts'
import { completeMission } from './complete-mission.ts'
import { profileWords } from './mission-answer.ts'

export const startWorkflow = defineOperation({
  name: 'start_workflow',
  tool: 'start_workflow',
  command: 'workflow start',
  toolset: 'track',
  audience: 'both',
  title: 'Start a workflow (older form of a mission)',
  description: 'Initialize a new workflow tracking session. Legacy: use start_mission',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: name('Short name'),
    description: text('Goal in detail').optional(),
    plan: z
      .array(z.strictObject({ step: name('Label'), goal: text('What it achieves') }))
      .max(200)
      .describe('Steps')
      .optional(),
    objective: unlistedField(text('Measurable goal: it makes the workflow a mission')).optional(),
    profile: unlistedField(choice(profiles, 'As in start_mission')).optional(),
    total_phases: unlistedField(count('Expected number of phases', 1000)).optional(),
    scope: unlistedField(text("What's included/excluded")).optional(),
    constraints: unlistedField(text('Technical constraints or limitations')).optional(),
  }),
  output: z.object({
    workflow_id: z.string(),
    created_at: z.string(),
    objective: z.string().optional(),
    profile: z.enum(profileWords).optional(),
    total_phases: z.int().optional(),
    planned_tasks: list(z.object({ task_id: z.string(), step: z.string(), goal: z.string() })),
  }),
  listedOutput: ['workflow_id', 'created_at', 'planned_tasks'],
}).handler(({ record, actor }, input) =>
  record(async (_reads, setting) => {
    const { workflow, tasks } = decide(input, setting, actor.name)
    const { objective, profile } = workflow
    const planned: NewProjectEvent[] = tasks.map((task) => ({ kind: 'task.planned', task }))
    return {
      events: [{ kind: 'mission.started', mission: workflow }, ...planned],
      answer: {
        workflow_id: workflow.id,
        created_at: instant(workflow.createdAt),
        ...(objective !== null && { objective }),
        ...(profile !== null && {
          profile: profileWords[profile],
          total_phases: expectedPhases(workflow, []),
        }),
        planned_tasks: tasks.map((task) => ({ task_id: task.id, step: task.step ?? '', goal: task.name })),
      },
    }
  }),
)

const { input, output } = completeMission

/** Mission Control's name for completing a mission. */
export const completeWorkflow = defineOperation({
  name: 'complete_workflow',
  tool: 'complete_workflow',
  unlisted: true,
  synonyms: { workflow_id: 'mission_id' },
  command: 'workflow complete',
  toolset: 'track',
  audience: 'both',
  title: 'Complete a workflow (older form of a mission)',
  description: 'Finalize a workflow and aggregate metrics, as complete_mission does',
  kind: 'command',
  idempotent: true,
  positional: ['mission_id'],
  input,
  output,
}).handler(async (handling, received) => {
  const answer = await completeMission.handle(handling, received)
  return { workflow_id: answer.mission_id, ...answer }
})
