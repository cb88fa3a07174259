import type { Answer, ProjectOptions, TestProject } from '../../support/project.ts'
import { process } from './processes.ts'
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

/** A mission that is gated by several guards about its changes, and what each of them lacks: '' where it holds. */
export async function missionGatedByAll(conditions: readonly string[]) {
  const names = conditions.map((_, at) => `right${at}`)
  const guards = conditions.map((condition, at) => `  right${at}: { type: changes, condition: ${condition} }`)
  const guard = `{ all: [${names.join(', ')}] }`
  const mission = await gatedMission(process('p', { guards: guards.join('\n'), guard }), 'p')
  const missing = async (): Promise<readonly string[]> => {
    const { details } = await mission.run.refused('go')
    const reasons = (details as Answer).missing_guards as readonly string[]
    return names.map((name) =>
      reasons
        .filter((reason) => reason.startsWith(`${name}: `))
        .map((reason) => reason.slice(name.length + 2))
        .join('\n'),
    )
  }
  return { ...mission, missing }
}
