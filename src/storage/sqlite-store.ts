import { dirname } from 'node:path'
import type { Kysely } from 'kysely'
import type { Fact } from '../domain/fact.ts'
import { Failure } from '../domain/failure.ts'
import type {
  Idempotency,
  Inspection,
  Reads,
  RecordRequest,
  Repair,
  Store,
  StoreHealth,
} from '../ports/store.ts'
import { Followers } from './follow.ts'
import { healthOf } from './health.ts'
import { writeIgnore, writeProjectId } from './project/project-folder.ts'
import { type ResolvedProject, resolveProject } from './project/resolve-project.ts'
import { readsOf } from './reads/reads.ts'
import { storedAnswer } from './record/idempotency.ts'
import { record } from './record/record.ts'
import { restore } from './record/restore.ts'
import { inspectRecord } from './safety/inspection.ts'
import { repairRecord } from './safety/repair.ts'
import type { Tables } from './schema/tables.ts'
import { DatabaseFile } from './sqlite/database-file.ts'
import { ConnectionRetired } from './sqlite/driver.ts'
import { emptyDatabase } from './sqlite/empty-database.ts'
import { isBusy } from './sqlite/error-code.ts'
import { unavailable } from './sqlite/unavailable.ts'
import type { StoreOptions } from './store-options.ts'

const noProject = ''

const nothingRecorded: Inspection = {
  facts: 0,
  brokenAt: null,
  trouble: null,
  damage: [],
  tables: 0,
  rows: 0,
  differing: 0,
  differences: [],
}

export class SqliteStore implements Store {
  readonly #options: StoreOptions
  readonly #database: DatabaseFile
  readonly #followers: Followers
  // By connection: a file that was replaced is opened anew, and then the project is looked for anew.
  readonly #resolved = new WeakMap<Kysely<Tables>, ResolvedProject>()
  #folderWritten = false
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(options: StoreOptions) {
    this.#options = options
    this.#database = new DatabaseFile(options.file, options.sandboxJournal)
    this.#followers = new Followers(options.file, options)
  }

  record<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    return this.#answering(async () => {
      const { db } = await this.#database.forWriting()
      const { answer, project } = await db.transaction().execute(async (transaction) => {
        const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        return record(transaction, request, { ...this.#options, found })
      })
      if (project) {
        this.#resolved.set(db, project)
        this.#writeFolder(project.id)
      }
      return answer
    })
  }

  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer> {
    return this.#reading((db, projectId) => look(readsOf({ db, projectId })))
  }

  replay(idempotency: Idempotency): Promise<{ readonly answer: unknown } | null> {
    return this.#reading((db, projectId) => storedAnswer(db, projectId, idempotency))
  }

  restore(facts: readonly Fact[]): Promise<void> {
    return this.#answering(async () => {
      const { db } = await this.#database.forWriting()
      const project = await db.transaction().execute(async (transaction) => {
        const found = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        return restore(transaction, facts, { root: this.#options.root, found })
      })
      this.#resolved.set(db, project)
      this.#writeFolder(project.id)
    })
  }

  inspect(): Promise<Inspection> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      if (!open) return nothingRecorded
      const id = await this.#reading(async (_, projectId) => projectId)
      return inspectRecord(this.#options.file, id === noProject ? null : id)
    })
  }

  repair(at: number): Promise<Repair> {
    return this.#answering(async () => {
      const projectId = await this.#reading(async (_, id) => id)
      if (projectId === noProject) throw nothingToRepair(this.#options.file)
      return repairRecord({ file: this.#options.file, projectId, at })
    })
  }

  health(): Promise<StoreHealth> {
    return healthOf(this.#options.file, {
      open: () => this.#answering(() => this.#database.forReading()),
      seq: () => this.view((reads) => reads.journal.head()),
    })
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Fact> {
    try {
      const either = AbortSignal.any([signal, this.#closing.signal])
      yield* this.#followers.follow(after, either)
    } catch (error) {
      throw unavailable(error, this.#options.file)
    }
  }

  /** Ends the followers and waits for what is under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#underWay)
    await this.#database.forget()
  }

  #reading<Answer>(read: (db: Kysely<Tables>, projectId: string) => Promise<Answer>): Promise<Answer> {
    return this.#answering(async () => {
      const open = await this.#database.forReading()
      const db = open?.db ?? (await emptyDatabase())
      return db.transaction().execute(async (transaction) => {
        const project = this.#resolved.get(db) ?? (await resolveProject(transaction, this.#options))
        if (project) this.#resolved.set(db, project)
        return read(transaction, project?.id ?? noProject)
      })
    })
  }

  async #answering<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#closing.signal.aborted)
      throw new Failure('UNAVAILABLE', `The store of ${this.#options.file} is closed.`)
    const answer = this.#mended(work)
    this.#underWay.add(answer)
    try {
      return await answer
    } finally {
      this.#underWay.delete(answer)
    }
  }

  /** After an error of the disk the connections are opened anew, so that the store works again once it is mended. */
  async #mended<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ConnectionRetired) return this.#mended(work)
      const failure = unavailable(error, this.#options.file)
      if (failure !== error && !isBusy(error)) await this.#database.forget()
      throw failure
    }
  }

  #writeFolder(projectId: string): void {
    if (this.#folderWritten) return
    this.#folderWritten = true
    if (this.#options.shared) writeProjectId(this.#options.root, projectId)
    else writeIgnore(dirname(this.#options.file))
  }
}

function nothingToRepair(file: string): Failure {
  return new Failure('NOT_FOUND', `There is no record in ${file}: nothing was changed.`, {
    hint: 'Restore a backup with `waymark restore <file>`.',
  })
}
