import { type Kysely, sql } from 'kysely'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { Followers } from '../../events/log/follow.ts'
import { Failure } from '../../kernel/failure.ts'
import type { IdSource } from '../../kernel/id.ts'
import { serverProject } from '../../people/domain/identity.ts'
import { isProjectEnded, projectState, readOnlyNotice } from '../../project/tables/project-end.ts'
import {
  isProjectNamed,
  type NamedProject,
  namedProjects,
  nameProject,
} from '../../project/tables/project-name.ts'
import type { LogSource, SideRow } from '../ports/record-rows.ts'
import type {
  BackupRestoreResult,
  BackupResult,
  ChainInspection,
  Idempotency,
  Inspection,
  LogRestoreOptions,
  LogRestoreResult,
  Reads,
  RecordRequest,
  RepairResult,
  Store,
  StoreHealth,
} from '../ports/store.ts'
import { storedAnswer } from '../record/idempotency.ts'
import { keptRowsIn } from '../record/kept-rows.ts'
import { type ResolvedProject, writeProjectId } from '../record/project.ts'
import { type RecordResult, record } from '../record/record.ts'
import { projectOf, restoreProject } from '../record/restore.ts'
import { inspectChainIn, inspectIn, repairIn } from '../record/server-rows.ts'
import { emptyDatabase } from '../sqlite/database-file.ts'
import { readsOf } from '../tables/reads.ts'
import type { ReadScope, Tables } from '../tables/tables.ts'
import { schemaOf } from './create.ts'
import type { TransactionSession } from './database.ts'
import { serverUnavailable } from './errors.ts'
import { healthOf, unreadyReason } from './health.ts'
import type { LiveProjectState } from './listener.ts'
import { findProject, folderKeyOf, nameOf, type ProjectQuery } from './project.ts'
import { type PostgresServer, type PostgresServerOptions, serverAt } from './server.ts'

export interface PostgresOptions extends PostgresServerOptions {
  readonly project: ProjectQuery
  readonly ids: IdSource
}

/** A store that connects at the first query, and creates its project at the first record. */
export function openPostgresStore(options: PostgresOptions): Store {
  return new PostgresStore(options)
}

/** Every project of a database, by name. */
export function projectsOf(at: PostgresServerOptions): Promise<readonly NamedProject[]> {
  return queryServer(at, namedProjects, [])
}

async function queryServer<Answer>(
  at: PostgresServerOptions,
  question: (db: Kysely<Tables>) => Promise<Answer>,
  empty: Answer,
): Promise<Answer> {
  const server = serverAt(at)
  const { database } = server
  try {
    return (await server.hasTables()) ? await database.read(question) : empty
  } catch (error) {
    throw serverUnavailable(error, database.place.label)
  } finally {
    await server.leave()
  }
}

class PostgresStore implements Store {
  readonly #options: PostgresOptions
  readonly #server: PostgresServer
  readonly #followers: Followers<LiveProjectState>
  readonly #pending = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #project: ResolvedProject | null = null
  #folderWritten = false
  #notice: string | null = null

  constructor(options: PostgresOptions) {
    this.#options = options
    this.#server = serverAt(options)
    const { database, live } = this.#server
    this.#followers = new Followers<LiveProjectState>({
      changes: () => live.changes(async (db) => ((await schemaOf(db)) === 0 ? null : this.#idIn(db))),
      since: async ({ projectId }, position, limit) =>
        projectId === null
          ? []
          : database.read((db) => readsOf({ db, projectId }).eventLog.since(position, limit)),
      end: async () => Number.POSITIVE_INFINITY,
    })
  }

  record<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    return this.#withFailures(async () => {
      try {
        return await this.#recordFound(request)
      } catch (error) {
        if (!isProjectEnded(error) || !(await this.#isReplaced())) throw error
        return this.#recordFound(request)
      }
    })
  }

  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer> {
    return this.#query((scope) => look(readsOf(scope)))
  }

  replay(idempotency: Idempotency): Promise<{ readonly answer: unknown } | null> {
    return this.#query(({ db, projectId }) => storedAnswer(db, projectId, idempotency))
  }

  restore(log: LogSource, restoring?: LogRestoreOptions): Promise<LogRestoreResult> {
    const { project } = this.#options
    const { database, live } = this.#server
    return this.#withFailures(async () => {
      if ('id' in project) throw recordExistsFailure(project.id)
      await this.#server.ensureTables()
      const { project: restored, ...answer } = await database.patiently(() =>
        database.transaction('write', async (session) => {
          await this.#server.lockAll(session)
          await sql.raw(`set local statement_timeout = '10min'`).execute(session.db)
          const found = await findProject(session.db, project)
          for (const id of new Set([found?.id, await projectOf(log)]))
            if (id !== undefined) await this.#server.lock(session, id)
          const place = { root: folderKeyOf(project), label: database.place.label, found, copies: true }
          const result = await restoreProject(session.db, log, { ...restoring, ...place })
          if (!(await isProjectNamed(session.db, result.project.id)))
            await nameProject(session.db, result.project.id, nameOf(project))
          return result
        }),
      )
      this.#project = restored
      live.wakeForCommit()
      writeProjectId(project.root, restored.id)
      this.#folderWritten = true
      return answer
    })
  }

  sideRows(after: SideRow | null, limit: number): Promise<readonly SideRow[]> {
    return this.#query(({ db, projectId }) => keptRowsIn(db, { projectId, after, limit }))
  }

  inspect(): Promise<Inspection> {
    return this.#withFailures(async () => {
      const projectId = await this.#projectId()
      const found = projectId === null ? null : await inspectIn(this.#server.database, projectId)
      return { ...(found ?? nothingRecorded), damage: null, anchor: null }
    })
  }

  inspectChain(): Promise<ChainInspection> {
    return this.#withFailures(async () => {
      const projectId = await this.#projectId()
      const found =
        projectId === null ? nothingRecorded : await inspectChainIn(this.#server.database, projectId)
      return { events: found.events, brokenAt: found.brokenAt, anchor: null }
    })
  }

  repair(): Promise<RepairResult> {
    return this.#withFailures(async () => {
      const projectId = await this.#projectId()
      const { database } = this.#server
      if (projectId === null) {
        throw new Failure(
          'NOT_FOUND',
          `There is no record in ${database.place.label}: nothing was changed.`,
          { reason: 'record_not_found', hint: 'The first write creates the record.' },
        )
      }
      return database.patiently(() =>
        database.transaction('write', async (session) => {
          await this.#server.lock(session, projectId)
          return repairIn(session, projectId)
        }),
      )
    })
  }

  async notice(): Promise<string | null> {
    return this.#notice
  }

  async accept(): Promise<number> {
    throw this.#filesOnly(
      'keeps no copy of the last hash outside the database',
      'Restore a backup of the database with pg_restore where log entries are missing.',
    )
  }

  async backup(): Promise<BackupResult> {
    throw this.#filesOnly(
      'is not copied to a file',
      'Back it up with pg_dump, or take this project alone with `waymark export > <file>`.',
    )
  }

  async putBack(): Promise<BackupRestoreResult> {
    throw this.#filesOnly(
      'is not replaced by a file',
      'Restore a backup with pg_restore, or an export of this project with `waymark import <file>` where there is no record yet.',
    )
  }

  health(): Promise<StoreHealth> {
    return healthOf(this.#server.database, async (db) => {
      const projectId = await this.#idIn(db)
      return projectId === null ? null : projectState(db, projectId)
    })
  }

  unreadiness(): Promise<string | null> {
    return unreadyReason(this.#server.database)
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<readonly ProjectEvent[]> {
    try {
      yield* this.#followers.follow(after, AbortSignal.any([signal, this.#closing.signal]))
    } catch (error) {
      throw serverUnavailable(error, this.#server.database.place.label)
    }
  }

  /** Ends the followers and waits for pending calls. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#pending)
    await this.#server.leave()
  }

  #recordFound<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    const found = this.#project
    return found ? this.#enqueue(request, found) : this.#server.making.run(() => this.#alone(request))
  }

  /** Whether the open project was replaced by another one. */
  async #isReplaced(): Promise<boolean> {
    const before = this.#project
    this.#project = null
    return (await this.#projectId()) !== before?.id
  }

  /** Queues the request, to be recorded in one transaction with others that wait. */
  #enqueue<Answer>(request: RecordRequest<Answer>, found: ResolvedProject): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#server.queueOf(found.id).add({
      request,
      place: this.#targetOf(found),
      alone: () => this.#alone(request).then(resolve),
      onDone: (recorded) => {
        this.#keep(recorded)
        resolve(recorded.answer as Answer) // the result of this request
      },
      onFailure: reject,
    })
    return promise
  }

  /** `decide` may run again after a refusal or a lost connection: it must have no side effects. */
  async #alone<Answer>(request: RecordRequest<Answer>): Promise<Answer> {
    const { database, live } = this.#server
    const sent: { last: RecordResult<Answer> | null } = { last: null }
    const recorded = await database.patiently(
      async () => {
        sent.last = null
        await this.#server.ensureTables()
        return database.transaction('record', async (session) => {
          const recorded = await this.#write(session, request)
          sent.last = recorded
          return recorded
        })
      },
      async () => {
        const { project, last } = sent.last ?? {}
        return project && last && (await this.#server.isCommitted(project.id, last)) ? sent.last : null
      },
    )
    if (recorded.last) live.wakeForCommit()
    this.#keep(recorded)
    return recorded.answer
  }

  #keep({ project }: RecordResult<unknown>): void {
    if (!project) return
    this.#project = project
    this.#writeFolder(project.id)
  }

  #targetOf<Found extends ResolvedProject | null>(found: Found) {
    const { project, ids } = this.#options
    return { root: 'root' in project ? folderKeyOf(project) : '', ids, found }
  }

  async #write<Answer>(
    session: TransactionSession,
    request: RecordRequest<Answer>,
  ): Promise<RecordResult<Answer>> {
    const { project: query } = this.#options
    const { db } = session
    if (this.#project) {
      const found = this.#project
      const locked = this.#server.lock(session, found.id).then((isThere) => {
        if (!isThere) throw this.#projectGone()
      })
      return record(db, request, { ...this.#targetOf(found), locked })
    }
    await this.#server.lockAll(session)
    this.#project = await findProject(db, query)
    // A transaction takes one lock: this one ends, and the retry locks the project.
    if (this.#project) throw retryError('the project was made meanwhile')
    if ('id' in query && query.id !== serverProject) throw this.#noProject(query.id)
    const fixed = 'id' in query ? { project: query.id } : {}
    const recorded = await record(db, request, { ...this.#targetOf(null), ...fixed })
    if (recorded.project && 'root' in query) await nameProject(db, recorded.project.id, nameOf(query))
    return recorded
  }

  /** The database was replaced by one without the project: it is searched again. */
  #projectGone(): unknown {
    const { project } = this.#options
    this.#project = null
    return 'id' in project && project.id !== serverProject
      ? this.#noProject(project.id)
      : retryError('the project is gone')
  }

  #noProject(id: string): Failure {
    const { label } = this.#server.database.place
    return new Failure('NOT_FOUND', `There is no project ${id} in ${label}.`, {
      reason: 'project_not_found',
      hint: 'The first write from its folder creates a project.',
    })
  }

  #query<Answer>(question: (scope: ReadScope) => Promise<Answer>): Promise<Answer> {
    return this.#withFailures(async () => {
      const { database } = this.#server
      if (!(await this.#server.hasTables())) return question({ db: await emptyDatabase(), projectId: '' })
      return database.read(async (db) => {
        const projectId = (await this.#idIn(db)) ?? ''
        const [state, answer] = await Promise.allSettled([
          projectState(db, projectId),
          question({ db, projectId }),
        ])
        if (state.status === 'rejected') throw state.reason
        this.#notice = readOnlyNotice(state.value)
        if (answer.status === 'rejected') throw answer.reason
        return answer.value
      })
    })
  }

  async #projectId(): Promise<string | null> {
    if (!(await this.#server.hasTables())) return null
    return this.#server.database.read((db) => this.#idIn(db))
  }

  async #idIn(db: Kysely<Tables>): Promise<string | null> {
    this.#project ??= await findProject(db, this.#options.project)
    return this.#project?.id ?? null
  }

  #filesOnly(limitation: string, hint: string): Failure {
    return new Failure(
      'REFUSED',
      `The database ${this.#server.database.place.label} ${limitation}: it is kept by a server.`,
      { reason: 'database_at_server', hint },
    )
  }

  async #withFailures<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const { label } = this.#server.database.place
    if (this.#closing.signal.aborted)
      throw new Failure('UNAVAILABLE', `The store of ${label} is closed.`, { reason: 'store_closed' })
    const answer = work().catch((error: unknown) => {
      throw serverUnavailable(error, label)
    })
    this.#pending.add(answer)
    try {
      return await answer
    } finally {
      this.#pending.delete(answer)
    }
  }

  #writeFolder(projectId: string): void {
    const { project } = this.#options
    if (this.#folderWritten || !('root' in project)) return
    this.#folderWritten = true
    writeProjectId(project.root, projectId)
  }
}

const nothingRecorded: Omit<Inspection, 'anchor' | 'damage'> = {
  events: 0,
  brokenAt: null,
  error: null,
  tables: 0,
  rows: 0,
  differing: 0,
  differences: [],
}

/** An error that is retried. */
function retryError(message: string): Error {
  return Object.assign(new Error(message), { code: '40001' })
}

function recordExistsFailure(id: string): Failure {
  return new Failure('CONFLICT', `Cannot restore a log into project ${id}: it already has a record.`, {
    reason: 'record_exists',
    hint: 'Restore it in another folder, or choose another database with WAYMARK_DATABASE.',
  })
}
