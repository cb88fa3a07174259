import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { invoke } from '../../../kernel/operations/invoke.ts'
import type { Answer, Context, Operation } from '../../../kernel/operations/operation.ts'
import { explainErrors } from '../protocol-error.ts'
import {
  changesTemplate,
  changesUri,
  missionTemplate,
  missionUri,
  type ResourceTarget,
  reviewTemplate,
  summaryTemplate,
  summaryUri,
  targetOf,
  taskTemplate,
  taskUri,
  whyTemplate,
} from './resource-uri.ts'
import type { ListChanges } from './subscriptions.ts'

export interface ResourceOptions {
  readonly catalog: () => Promise<readonly Operation[]>
  readonly contextOf: (request: ServerContext) => Context
  readonly glance: ListChanges
  readonly log: (line: string) => void
}

/** Lists and reads resources. */
export function serveResources(server: Server, { catalog, contextOf, glance, log }: ResourceOptions): void {
  server.setRequestHandler('resources/list', ({ params }, request) =>
    explainErrors({ log }, async () => {
      await glance.begin()
      return listResources(params?.cursor, createAsk(catalog, contextOf(request)))
    }),
  )
  server.setRequestHandler('resources/templates/list', () => resourceTemplates)
  server.setRequestHandler('resources/read', ({ params: { uri } }, request) =>
    explainErrors({ log, data: { uri } }, () => readResource(uri, createAsk(catalog, contextOf(request)))),
  )
}

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

/** The active tasks and runs, then the missions, newest first, in pages. */
export async function listResources(
  cursor: string | undefined,
  ask: InvokeByName,
): Promise<ListResourcesResult> {
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
      title: 'Show the path of a run through its process',
      description: 'The states that a run has passed, and those that it can still reach',
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
      description: 'A task: its attempts with measurements and claims',
      mimeType,
    },
    {
      uriTemplate: reviewTemplate,
      name: 'review',
      title: 'Review of a task',
      description: 'The review comments on a task, the current location of their lines, and the answers',
      mimeType,
    },
    {
      uriTemplate: whyTemplate,
      name: 'why',
      title: 'Show why a line was written',
      description: 'The task, goal and decisions behind a line of a file: read it before you undo the line',
      mimeType,
    },
    {
      uriTemplate: changesTemplate,
      name: 'task_changes',
      title: 'Changes of a task',
      description:
        'The files that a task changed, as git shows them, out of scope first; `next` is the next page',
      mimeType,
    },
  ],
}

/** The content of a URI, as JSON. */
export async function readResource(uri: string, ask: InvokeByName): Promise<ReadResourceResult> {
  const target = targetOf(uri)
  const content = target && (await contentOf(target, ask))
  if (!content) throw new ResourceNotFoundError(uri)
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(content) }] }
}

async function contentOf(target: ResourceTarget, ask: InvokeByName): Promise<Answer | null> {
  if (target.kind === 'changes') return changesFrom(target.id, target.cursor, ask)
  if (target.kind === 'line') return ask('why', { location: target.place, brief: true })
  if (target.kind === 'review') return ask('review_comments', { task: target.id })
  if (target.kind === 'run') return ask('run_summary', { run_id: target.id })
  const entity = await ask('show', { id: target.id, brief: true })
  if (entity['kind'] === 'run') return null
  return (entity['kind'] === 'task') === (target.kind === 'task') ? entity : null
}

/** A page of changes, with the URI of the next page. */
async function changesFrom(id: string, cursor: string | null, ask: InvokeByName): Promise<Answer> {
  const { next_cursor, ...found } = await ask('changes', { id, ...(cursor !== null && { cursor }) })
  return { ...found, next: typeof next_cursor === 'string' ? changesUri(id, next_cursor) : null }
}

/** Calls an operation of the catalog by its name. */
export type InvokeByName = (operation: string, input: Answer) => Promise<Answer>

function createAsk(catalog: () => Promise<readonly Operation[]>, context: Context): InvokeByName {
  return async (name, input) => {
    const operation = (await catalog()).find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`The catalog has no operation "${name}", which resources are made of.`)
    return invoke(operation, context, input)
  }
}
