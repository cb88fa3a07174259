import type { ListResourcesResult, ListResourceTemplatesResult, Resource } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Answer } from '../../../operations/operation.ts'
import type { Ask } from './ask.ts'
import {
  changesTemplate,
  missionTemplate,
  missionUri,
  summaryTemplate,
  summaryUri,
  taskTemplate,
  taskUri,
} from './resource-uri.ts'

const mimeType = 'application/json'
const missionsListed = 20

const missionPage = z.object({
  missions: z.array(z.object({ mission_id: z.string(), name: z.string(), status: z.string() })),
  next_cursor: z.string().nullable(),
})
const runningTasks = z.object({
  running: z.array(z.object({ task_id: z.string(), name: z.string(), agent_name: z.string() })),
})

const activeRuns = z.object({
  runs: z.array(z.object({ run_id: z.string(), process_name: z.string(), current_state: z.string() })),
})

/** The tasks that somebody works on and the active runs, then the missions, newest first, a page at a time. */
export async function listResources(cursor: string | undefined, ask: Ask): Promise<ListResourcesResult> {
  const first =
    cursor === undefined
      ? [
          ...taskResources(await ask('status', {})),
          ...runResources(await ask('state_gate_list_runs', { status: 'active' })),
        ]
      : []
  const answer = await ask('list_missions', {
    status: 'all',
    limit: missionsListed,
    ...(cursor !== undefined && { cursor }),
  })
  const { missions, next_cursor } = missionPage.parse(answer)
  return {
    resources: [
      ...first,
      ...missions.map(({ mission_id, name, status }) => ({
        uri: missionUri(mission_id),
        name,
        description: `Mission ${mission_id}: ${status}`,
        mimeType,
      })),
    ],
    ...(next_cursor !== null && { nextCursor: next_cursor }),
  }
}

function taskResources(status: Answer): readonly Resource[] {
  return runningTasks.parse(status).running.map(({ task_id, name, agent_name }) => ({
    uri: taskUri(task_id),
    name,
    description: `Task ${task_id}: in progress, by ${agent_name}`,
    mimeType,
  }))
}

function runResources(runs: Answer): readonly Resource[] {
  return activeRuns.parse(runs).runs.map(({ run_id, process_name, current_state }) => ({
    uri: summaryUri(run_id),
    name: process_name,
    description: `Run ${run_id}: in "${current_state}"`,
    mimeType,
  }))
}

export const resourceTemplates: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: summaryTemplate,
      name: 'run_summary',
      title: 'Summary of a run',
      description: 'Where a run stands in its process: the states behind it, and those still ahead',
      mimeType,
    },
    {
      uriTemplate: missionTemplate,
      name: 'mission',
      title: 'Mission',
      description: 'A mission or workflow: its phases, tasks, decisions and blockers',
      mimeType,
    },
    {
      uriTemplate: taskTemplate,
      name: 'task',
      title: 'Task',
      description: 'A task: its attempts with what was measured and what was claimed',
      mimeType,
    },
    {
      uriTemplate: changesTemplate,
      name: 'task_changes',
      title: 'Changes of a task',
      description: 'The files that a task changed, as git shows them, out of scope first; `next` leads on',
      mimeType,
    },
  ],
}
