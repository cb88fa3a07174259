import type { Operation } from '../../../kernel/operations/operation.ts'

/**
 * Orders the calls of one connection: each waits for earlier commands, so that pipelined calls see what earlier ones wrote.
 * Queries do not wait for queries.
 */
export class CallOrder {
  #commands: Promise<unknown> = Promise.resolve()
  readonly #running = new Set<Promise<unknown>>()

  run<Answer>(kind: Operation['kind'], work: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#commands.then(work)
    const settled = answer.then(ignoreResult, ignoreResult)
    if (kind === 'command') this.#commands = settled
    this.#running.add(settled)
    void settled.then(() => this.#running.delete(settled))
    return answer
  }

  /** Resolves when no call runs, including canceled ones. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

function ignoreResult(): void {
  // the caller gets the error; the order only waits for the end
}
