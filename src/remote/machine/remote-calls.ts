import { setNewest } from '../../kernel/limited-map.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { inputOf, type RemoteCallInput, type RemoteProject } from './remote-project.ts'
import { ServerAnswerLost } from './server-client.ts'

/** What a call came to at the server. */
export interface CallOutcome {
  readonly answer: Answer
  readonly kind: 'answer' | 'result' | 'protocol_error'
}

export interface RemoteCallsParts {
  readonly project: RemoteProject
  /** Sends what hooks captured here, which bears on what some calls are answered. */
  readonly ingest: () => Promise<void>
}

/** What is answered by what hooks captured as well. */
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
  /** The keys of calls whose answers were lost, by what they ask: the same call again is recorded once. */
  readonly #unanswered = new Map<string, string>()

  constructor(parts: RemoteCallsParts) {
    this.#parts = parts
  }

  async perform(calling: RemoteCallInput): Promise<CallOutcome> {
    const { project, ingest } = this.#parts
    if (afterHooks.includes(calling.operation ?? calling.tool ?? '')) await ingest()
    const name = JSON.stringify([calling.operation, calling.tool, calling.channel, inputOf(calling)])
    const prepared = project.prepare(this.#unanswered.get(name))
    try {
      const answer = await project.send(calling, prepared)
      this.#unanswered.delete(name)
      return callResultOf(answer)
    } catch (error) {
      if (!(error instanceof ServerAnswerLost)) this.#unanswered.delete(name)
      else setNewest(this.#unanswered, maxUnanswered, name, prepared.call)
      throw error
    }
  }

  /** Sends what hooks captured. It waits on disk until this succeeds. */
  async send(calling: RemoteCallInput): Promise<void> {
    const { project } = this.#parts
    await project.send(calling, project.prepare())
  }
}

function callResultOf(answer: Awaited<ReturnType<RemoteProject['send']>>): CallOutcome {
  if ('answer' in answer) return { kind: 'answer', answer: answer.answer }
  if ('result' in answer) return { kind: 'result', answer: answer.result }
  return { kind: 'protocol_error', answer: answer.protocol_error }
}
