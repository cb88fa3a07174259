import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact } from '../domain/fact.ts'
import { resolveProject, type Whereabouts } from './project/resolve-project.ts'
import { readsOf } from './reads/reads.ts'
import { DatabaseFile } from './sqlite/database-file.ts'
import type { OpenConnection } from './sqlite/dialect.ts'
import { numberOf } from './sqlite/open-connection.ts'
import { patiently } from './sqlite/patience.ts'

// Milliseconds between two looks at a counter in the file; nothing is read while it stands still.
const interval = 25
const batch = 500

/** Facts after `after` as any process commits them, over a connection of its own that is closed at the end. */
export async function* follow(
  file: string,
  place: Whereabouts,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<Fact> {
  const database = new DatabaseFile(file, false)
  let position = after
  let seen: Seen = { connection: null, version: -1 }
  try {
    while (!signal.aborted) {
      const connection = await database.forReading()
      const version = connection ? await patiently(() => numberOf(connection.raw, 'data_version')) : -1
      if (connection && (connection !== seen.connection || version !== seen.version)) {
        const facts = await factsAfter(connection, place, position)
        for (const fact of facts) {
          if (signal.aborted) return
          yield fact
          position = fact.seq
        }
        if (facts.length === batch) continue
      }
      seen = { connection, version }
      await pause(signal)
    }
  } finally {
    await database.forget()
  }
}

interface Seen {
  readonly connection: OpenConnection | null
  readonly version: number
}

function factsAfter({ db }: OpenConnection, place: Whereabouts, after: number): Promise<readonly Fact[]> {
  return db.transaction().execute(async (transaction) => {
    const project = await resolveProject(transaction, place)
    if (!project) return []
    return readsOf({ db: transaction, projectId: project.id }).journal.since(after, batch)
  })
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(interval, undefined, { signal })
  } catch {
    // aborted: the loop ends by itself
  }
}
