import { type BatchMember, type BatchOutcome, type RecordResult, recordGroup } from '../record/record.ts'
import type { PostgresDatabase, TransactionSession } from './database.ts'
import { errorReaction } from './errors.ts'

/** A record that waits for a transaction. */
export interface QueuedRecord extends BatchMember {
  /** Records it in its own transaction. */
  readonly alone: () => Promise<unknown>
  readonly onDone: (recorded: RecordResult<unknown>) => void
  readonly onFailure: (error: unknown) => void
}

// One holds the lock or commits, the other waits for it.
const maxConcurrent = 2
// Limited, so that other processes need not wait long.
const maxGroupSize = 16

export interface WriteQueueOptions {
  readonly database: PostgresDatabase
  readonly lock: (session: TransactionSession) => Promise<boolean>
  readonly isCommitted: (last: NonNullable<RecordResult<unknown>['last']>) => Promise<boolean>
  readonly onCommit: () => void
}

/** The writers of one project in this process. Waiting records share the next transaction, and so the costs of lock and commit. */
export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #waiting: QueuedRecord[] = []
  #running = 0

  constructor(options: WriteQueueOptions) {
    this.#options = options
  }

  add(one: QueuedRecord): void {
    this.#waiting.push(one)
    this.#next()
  }

  #next(): void {
    while (this.#running < maxConcurrent && this.#waiting.length > 0) {
      this.#running += 1
      void this.#recordMembers(this.#waiting.splice(0, maxGroupSize)).finally(() => {
        this.#running -= 1
        this.#next()
      })
    }
  }

  async #recordMembers(members: readonly QueuedRecord[]): Promise<void> {
    if (members.length > 1) {
      const error = await this.#recordTogether(members)
      if (error === null) return
      // A refusal is one member's fault and each is retried alone; other errors concern all members.
      if (errorReaction(error) !== 'refused') {
        for (const { onFailure: failed } of members) failed(error)
        return
      }
    }
    for (const { alone, onFailure: failed } of members) await alone().catch(failed)
  }

  /** Returns the error that keeps all of them from being recorded. */
  async #recordTogether(members: readonly QueuedRecord[]): Promise<unknown> {
    const { database, lock, isCommitted, onCommit: committed } = this.#options
    const attempt: { last: BatchOutcome | null } = { last: null }
    try {
      const { results, last } = await database.patiently(
        () => {
          attempt.last = null
          return database.transaction('record', async (session) => {
            const locked = lock(session).then((exists) => {
              if (!exists) throw new Error('the project is gone')
            })
            attempt.last = await recordGroup(session.db, members, locked)
            return attempt.last
          })
        },
        async () => (attempt.last?.last && (await isCommitted(attempt.last.last)) ? attempt.last : null),
      )
      if (last) committed()
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') members[index]?.onDone(result.value)
        else members[index]?.onFailure(result.reason)
      }
      return null
    } catch (error) {
      return error
    }
  }
}
