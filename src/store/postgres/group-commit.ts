import { type BatchMember, type BatchOutcome, type RecordResult, recordGroup } from '../record/record.ts'
import type { PostgresDatabase, TransactionSession } from './database.ts'
import { errorReaction } from './errors.ts'

/** A record that waits to be taken into a transaction. */
export interface QueuedRecord extends BatchMember {
  /** Records it in a transaction of its own. */
  readonly alone: () => Promise<unknown>
  readonly done: (recorded: RecordResult<unknown>) => void
  readonly failed: (error: unknown) => void
}

// One has the lock, or commits; one waits for it.
const sideBySide = 2
// So that others in other processes need not wait long.
const maxTogether = 16

export interface WriteQueueOptions {
  readonly database: PostgresDatabase
  readonly lock: (session: TransactionSession) => Promise<boolean>
  readonly isCommitted: (last: NonNullable<RecordResult<unknown>['last']>) => Promise<boolean>
  readonly committed: () => void
}

/**
 * The writers of one project in this process. Who comes while others hold it waits here, and is taken into the next
 * transaction with all who came meanwhile: the lock and the commit, which cost most, are then paid once for all of them.
 */
export class WriteQueue {
  readonly #ways: WriteQueueOptions
  readonly #waiting: QueuedRecord[] = []
  #underWay = 0

  constructor(ways: WriteQueueOptions) {
    this.#ways = ways
  }

  add(one: QueuedRecord): void {
    this.#waiting.push(one)
    this.#next()
  }

  #next(): void {
    while (this.#underWay < sideBySide && this.#waiting.length > 0) {
      this.#underWay += 1
      void this.#take(this.#waiting.splice(0, maxTogether)).finally(() => {
        this.#underWay -= 1
        this.#next()
      })
    }
  }

  async #take(members: readonly QueuedRecord[]): Promise<void> {
    if (members.length > 1) {
      const error = await this.#together(members)
      if (error === null) return
      // What the database or a bug refused is the fault of one of them; what comes of the place concerns all.
      if (errorReaction(error) !== 'refused') {
        for (const { failed } of members) failed(error)
        return
      }
    }
    for (const { alone, failed } of members) await alone().catch(failed)
  }

  /** Answers the error that keeps all of them from being recorded. */
  async #together(members: readonly QueuedRecord[]): Promise<unknown> {
    const { database, lock, isCommitted, committed } = this.#ways
    const sent: { last: BatchOutcome | null } = { last: null }
    try {
      const { results, last } = await database.patiently(
        () => {
          sent.last = null
          return database.transaction('record', async (session) => {
            const locked = lock(session).then((isThere) => {
              if (!isThere) throw new Error('the project is gone')
            })
            sent.last = await recordGroup(session.db, members, locked)
            return sent.last
          })
        },
        async () => (sent.last?.last && (await isCommitted(sent.last.last)) ? sent.last : null),
      )
      if (last) committed()
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') members[index]?.done(result.value)
        else members[index]?.failed(result.reason)
      }
      return null
    } catch (error) {
      return error
    }
  }
}
