import type { Answer } from '../../examples/demo/agent.ts'
import { type Agent, connectAgent, personIn } from './client.ts'
import type { Ground, Tree } from './ground.ts'
import type { Think } from './pace.ts'

/** Everybody of the day, and what they share. */
export interface Cast {
  readonly ground: Ground
  readonly think: Think
  readonly person: (...words: readonly string[]) => Answer
  /** Ids of planned tasks by their short names. */
  readonly tasks: Map<string, string>
  join(name: string, tree: Tree): Promise<Agent>
  leave(): Promise<void>
}

export function castOn(ground: Ground, think: Think): Cast {
  const joined: Agent[] = []
  return {
    ground,
    think,
    person: personIn(ground.main.folder, ground.environment),
    tasks: new Map(),
    join: async (name, { folder }) => {
      const agent = await connectAgent(name, { folder, environment: ground.environment })
      joined.push(agent)
      return agent
    },
    leave: async () => {
      await Promise.all(joined.map((agent) => agent.leave()))
    },
  }
}

export function planned(cast: Cast, name: string): string {
  const id = cast.tasks.get(name)
  if (id === undefined) throw new Error(`The plan has no task ${name}.`)
  return id
}

/** What an agent says when it completes a task. */
export function done(task: Answer, summary: string, more: object = {}): object {
  return { task_id: task.task_id, status: 'success', outcome: { summary, ...more } }
}
