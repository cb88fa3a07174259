import { setNewest } from '../../kernel/limited-map.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { inputOf, type RemoteCallInput, type RemoteProject } from './remote-project.ts'
import { ServerAnswerLost } from './server-client.ts'

/** The server's answer to a call. */
export interface CallOutcome {
  readonly answer: Answer
  readonly kind: 'answer' | 'result' | 'protocol_error'
}

export interface RemoteCallsParts {
  readonly project: RemoteProject
  /** Sends hook events captured here: some answers depend on them. */
  readonly ingest: () => Promise<void>
}

/** Operations whose answers depend on hook events. */
const afterHooks = [
  'sessions',
  'sessions_show',
  'sessions_diff',
  'status',
  'start_task',
  'complete_task',
  'changes',
  'blame',
  'why',
]

const maxUnanswered = 100

/** The calls of a project whose record a server keeps. Without the server they fail, and nothing is recorded. */
export class RemoteCalls {
  readonly #parts: RemoteCallsParts
  /** The keys of calls with a lost answer, by their input: a retry is recorded once. */
  readonly #unanswered = new Map<string, string>()

  constructor(parts: RemoteCallsParts) {
    this.#parts = parts
  }

  async perform(callInput: RemoteCallInput): Promise<CallOutcome> {
    const { project, ingest } = this.#parts
    if (afterHooks.includes(callInput.operation ?? callInput.tool ?? '')) await ingest()
    const name = JSON.stringify([callInput.operation, callInput.tool, callInput.channel, inputOf(callInput)])
    const prepared = project.prepare(this.#unanswered.get(name))
    try {
      const answer = await project.send(callInput, prepared)
      this.#unanswered.delete(name)
      return callResultOf(answer)
    } catch (error) {
      if (!(error instanceof ServerAnswerLost)) this.#unanswered.delete(name)
      else setNewest(this.#unanswered, maxUnanswered, name, prepared.call)
      throw error
    }
  }

  /** Sends hook events, which stay on disk until this succeeds. */
  async send(callInput: RemoteCallInput): Promise<void> {
    const { project } = this.#parts
    await project.send(callInput, project.prepare())
  }
}

function callResultOf(answer: Awaited<ReturnType<RemoteProject['send']>>): CallOutcome {
  if ('answer' in answer) return { kind: 'answer', answer: answer.answer }
  if ('result' in answer) return { kind: 'result', answer: answer.result }
  return { kind: 'protocol_error', answer: answer.protocol_error }
}
