import type { Answer, ProjectOptions, TestProject } from '../../support/project.ts'
import { driving, projectWith, type TestRun } from './run.ts'

/** A mission that a run of this process gates, in a project of its own. */
export interface GatedMission {
  readonly project: TestProject
  readonly run: TestRun
  readonly missionId: string
  /** Begins a task of the mission. */
  readonly start: (more?: object) => Promise<string>
  readonly complete: (task_id: string, more?: object) => Promise<Answer>
}

export async function gatedMission(
  text: string,
  processId: string,
  options: ProjectOptions = {},
): Promise<GatedMission> {
  const project = await projectWith([text], options)
  const { mission_id, run } = await project.call('start_mission', {
    name: 'Sign in',
    objective: 'People can sign in',
    process_id: processId,
  })
  return {
    project,
    run: driving(project, run.run_id),
    missionId: mission_id,
    start: async (more = {}) =>
      (await project.call('start_task', { mission_id, name: 'Build', areas: ['src/'], ...more })).task_id,
    complete: (task_id, more = {}) =>
      project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' }, ...more }),
  }
}
