import { defineOperation } from '../operation.ts'
import { completeMission } from './complete-mission.ts'

const { input, output } = completeMission

/** What Mission Control calls the end of a mission. */
export const completeWorkflow = defineOperation({
  name: 'complete_workflow',
  tool: 'complete_workflow',
  unlisted: true,
  synonyms: { workflow_id: 'mission_id' },
  command: 'workflow complete',
  toolset: 'track',
  audience: 'both',
  title: 'Complete a workflow',
  description: 'Finalize a workflow and aggregate metrics, as complete_mission does',
  kind: 'command',
  idempotent: true,
  positional: ['mission_id'],
  input,
  output,
}).handler(async (handling, given) => {
  const answer = await completeMission.handle(handling, given)
  return { workflow_id: answer.mission_id, ...answer }
})
