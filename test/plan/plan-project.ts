import type { Actor } from '../../src/kernel/actor.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import {
  type Answer,
  agentActor,
  openProject,
  type ProjectOptions,
  type TestProject,
} from '../support/project.ts'

/** A project with a plan, and the usual questions to it. */
export interface PlanProject {
  readonly context: Context
  readonly call: (...args: Parameters<TestProject['call']>) => Promise<Answer>
  readonly refused: TestProject['refused']
  readonly write: (path: string, content: string) => void
  /** Moves the clock on, in milliseconds. */
  readonly wait: (milliseconds: number) => void
  /** Plans a task, in phase P1 unless another one is named. Answers its id. */
  readonly plan: (title: string, more?: object) => Promise<string>
  readonly get: (id: string) => Promise<Answer>
  readonly edit: (id: string, changes: object, actor?: Actor) => Promise<Answer>
  /** The titles of a list, in its order. */
  readonly titles: (filter?: object) => Promise<readonly string[]>
  /** The text blocks of an answer, as a tool gives them. */
  readonly printed: (name: string, input?: object) => Promise<readonly string[]>
}

/** A project, without git unless asked for, whose plan has the phase P1. */
export async function openPlan(options: ProjectOptions = {}): Promise<PlanProject> {
  const project = await openEmpty(options)
  await project.call('taskman_phase_add', { id: 'P1', name: 'Design' })
  return project
}

/** The same before anything was planned. */
export async function openEmpty({ git = false, ...more }: ProjectOptions = {}): Promise<PlanProject> {
  const project = await openProject({ git, ...more })
  const call: PlanProject['call'] = (...args) => project.call(...args)
  return {
    context: project.context,
    call,
    refused: (...args) => project.refused(...args),
    write: (path, content) => project.write(path, content),
    wait: (milliseconds) => project.wait(milliseconds),
    plan: async (title, more = {}) =>
      (await call('taskman_task_add', { title, phase: 'P1', ...more })).id as string,
    get: (id) => call('taskman_task_get', { id }),
    edit: (id, changes, actor) => call('taskman_task_edit', { id, ...changes }, actor ? { actor } : {}),
    titles: async (filter = {}) =>
      (await call('taskman_task_list', { limit: 1000, ...filter })).tasks.map(({ title }: Answer) => title),
    printed: async (name, input = {}) => {
      const operation = catalog.find((candidate) => candidate.name === name)
      return operation?.print?.(await call(name, input), { ...input }) ?? []
    },
  }
}

/** Another agent, on a connection of its own. */
export function agentNamed(name: string): Actor {
  return { ...agentActor, name }
}
