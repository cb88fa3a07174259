import type { Operation } from '../../../kernel/operations/operation.ts'

/**
 * The calls of one connection in the order they came: each waits for the commands before it, so that calls sent
 * without waiting for answers find what the earlier ones wrote. Queries wait for no query.
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

  /** Resolves when nothing runs any more, also of the calls whose answer nobody wants. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

function ignoreResult(): void {
  // whoever asked is told; the order only needs to know that it is over
}
