import { migrations } from '../migrations/list.ts'
import { newestOf } from '../migrations/migration.ts'
import { migratePostgres, schemaOf } from '../migrations/postgres.ts'
import { Turns } from '../sqlite/waiting.ts'
import { PostgresDatabase } from './database.ts'
import { Live } from './live.ts'
import { postgresPlace } from './place.ts'

/** What all stores of this process have in common that lead to one database. */
export class PostgresServer {
  readonly database: PostgresDatabase
  readonly live: Live
  readonly #leave: () => boolean
  readonly #isBackedUp: boolean
  readonly #turns = new Map<string, Turns>()
  #isMade = false
  #making: Promise<void> | null = null

  constructor(database: PostgresDatabase, isBackedUp: boolean, leave: () => boolean) {
    this.database = database
    this.live = new Live(database)
    this.#leave = leave
    this.#isBackedUp = isBackedUp
  }

  /** Writers of one project take turns: they would wait in the database, each with a connection of the pool. */
  turnsOf(projectId: string): Turns {
    const known = this.#turns.get(projectId) ?? new Turns()
    this.#turns.set(projectId, known)
    return known
  }

  /** For writing: the first server that comes makes the schema. */
  async made(): Promise<void> {
    if (!(await this.isMade())) await this.#make()
  }

  /** Whether there is a record; one with an older schema is brought to the newest. Nothing is made where there is none. */
  async isMade(): Promise<boolean> {
    if (this.#isMade) return true
    const version = await this.database.read(schemaOf)
    if (version > 0 && version < newestOf(migrations)) await this.#make()
    this.#isMade = version > 0
    return this.#isMade
  }

  /** Brings the database to the newest schema, once for all who ask at the same time. */
  #make(): Promise<void> {
    this.#making ??= migratePostgres(this.database, migrations, this.#isBackedUp)
      .then(() => {
        this.#isMade = true
      })
      .finally(() => {
        this.#making = null
      })
    return this.#making
  }

  /** The last store that leaves closes the connections. */
  async leave(): Promise<void> {
    if (!this.#leave()) return
    await this.live.close()
    await this.database.close()
  }
}

const servers = new Map<string, { readonly server: PostgresServer; stores: number }>()

export interface ServerWanted {
  /** `postgres://…`, with the password. */
  readonly url: string
  /** Another URL for LISTEN, where the first one leads to a pooler. */
  readonly listen?: string | null
  /** A person says that there is a backup, so that a step of the schema may remove something. */
  readonly isBackedUp?: boolean
}

/** One pool for all projects of a database. Call `leave` at the end. */
export function serverAt({ url, listen = null, isBackedUp = false }: ServerWanted): PostgresServer {
  const key = JSON.stringify([url, listen, isBackedUp])
  const known = servers.get(key)
  if (known) {
    known.stores += 1
    return known.server
  }
  const server = new PostgresServer(new PostgresDatabase(postgresPlace(url, listen)), isBackedUp, () => {
    const entry = servers.get(key)
    if (!entry) return false
    entry.stores -= 1
    if (entry.stores === 0) servers.delete(key)
    return entry.stores === 0
  })
  servers.set(key, { server, stores: 1 })
  return server
}
