/** One at a time, in the order of asking. Waiting is asynchronous, so that an event loop never freezes. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Waits for its turn; call what is answered to hand it on. */
  async take(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }

  async run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const done = await this.take()
    try {
      return await work()
    } finally {
      done()
    }
  }
}
