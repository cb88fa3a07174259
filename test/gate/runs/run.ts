import { Failure } from '../../../src/kernel/failure.ts'
import type { Answer, ProjectOptions, TestProject } from '../../support/project.ts'
import { agentActor, openProject } from '../../support/project.ts'

type Actor = typeof agentActor

export interface Emitting {
  readonly payload?: object
  readonly artifact_paths?: readonly unknown[]
  readonly expected_revision?: number
  readonly idempotency_key?: string
  readonly dry_run?: boolean
}

/** A run in a real project, driven through its operations. */
export interface TestRun {
  readonly project: TestProject
  readonly id: string
  /** Emits an event at the run's present revision, with a key of its own. */
  readonly emit: (event: string, more?: Emitting, actor?: Actor) => Promise<Answer>
  /** What an event is refused with. */
  readonly refused: (event: string, more?: Emitting, actor?: Actor) => Promise<Failure>
  readonly state: (actor?: Actor) => Promise<Answer>
  /** Lists the events, each under its name. */
  readonly events: (include_blocked?: boolean, actor?: Actor) => Promise<Record<string, Answer>>
  readonly history: () => Promise<Answer>
}

/** A project with these processes, each in its file, without git unless the test asks for it. */
export async function projectWith(
  processes: readonly string[],
  options: ProjectOptions = { git: false },
): Promise<TestProject> {
  const project = await openProject(options)
  for (const text of processes) writeProcess(project, text)
  return project
}

export function writeProcess(project: TestProject, text: string): void {
  const id = idOf(text)
  project.write(`.waymark/processes/${id}.yaml`, text)
}

/** Begins a run of a process in a project of its own, or in this one. */
export async function runOf(
  text: string,
  more: { readonly project?: TestProject; readonly git?: boolean; readonly input?: object } = {},
): Promise<TestRun> {
  const project = more.project ?? (await projectWith([], { git: more.git ?? false }))
  writeProcess(project, text)
  const { run_id } = await project.call('state_gate_create_run', { process_id: idOf(text), ...more.input })
  return driving(project, run_id)
}

/** Drives a run that was begun some other way. */
export function driving(project: TestProject, id: string): TestRun {
  let keys = 0
  const emit: TestRun['emit'] = async (event_name, more = {}, actor = agentActor) => {
    keys += 1
    const { revision } = await project.call('run_summary', { run_id: id })
    const input = {
      run_id: id,
      event_name,
      expected_revision: revision,
      idempotency_key: `key-${keys}`,
      ...more,
    }
    const answer = await project.call('state_gate_emit_event', input, { actor })
    return more.dry_run ? answer : answer.result
  }
  return {
    project,
    id,
    emit,
    refused: (event, more, actor) => failureOf(emit(event, more, actor)),
    state: (actor = agentActor) => project.call('state_gate_get_state', { run_id: id }, { actor }),
    events: async (include_blocked = false, actor = agentActor) => {
      const input = { run_id: id, include_blocked }
      const { events } = await project.call('state_gate_list_events', input, { actor })
      return Object.fromEntries(events.map((event: Answer) => [event.event_name, event]))
    },
    history: () => project.call('run_history', { run_id: id, limit: 200 }),
  }
}

/** What something fails with. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('It was not refused.')
}

function idOf(text: string): string {
  const id = /^ {2}id: (\S+)$/m.exec(text)?.[1]
  if (id === undefined) throw new Error('The process has no id.')
  return id
}
