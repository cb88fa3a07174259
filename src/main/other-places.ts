import { basename, dirname, join, resolve } from 'node:path'
import type { OtherPlace, Places } from '../ports/moving.ts'
import type { Store } from '../ports/store.ts'
import { fingerprint } from '../storage/fingerprint.ts'
import { isPostgresUrl, postgresPlace } from '../storage/postgres/place.ts'
import { randomIds } from '../storage/random-ids.ts'
import { version } from './program.ts'
import type { Environment } from './settings/environment.ts'
import { keepSnapshots, leadTo, rememberPlace } from './settings/moved.ts'
import { anchorOf, databasePlace, folderWanted, namedDatabase } from './settings/places.ts'

interface Around {
  readonly environment: Environment
  readonly workingFolder: string
  /** The project's root. */
  readonly root: () => Promise<string>
  /** The folder outside of the project where it is kept how far records had come. */
  readonly state: () => string
  /** The database that is used now, as snapshots are kept for it. */
  readonly database: () => string | null
  readonly tell: (line: string) => void
}

/** The places that a project can be moved to. */
export function otherPlaces(around: Around): Places {
  const { tell } = around
  return {
    tell,
    open: async (named, name) => {
      const root = await around.root()
      return isPostgresUrl(named)
        ? serverPlace(around, { named, name, root })
        : filePlace(around, { named, root })
    },
  }
}

interface Asked {
  readonly named: string
  readonly root: string
}

async function serverPlace(
  around: Around,
  { named, name, root }: Asked & { readonly name: string | null },
): Promise<OtherPlace> {
  const { environment } = around
  const { shown } = postgresPlace(named)
  const { openPostgresStore } = await import('../storage/postgres/store.ts')
  const wanted = folderWanted(environment, root)
  const project = name === null ? wanted : { ...wanted, name }
  const store = openPostgresStore({ url: named, project, ids: randomIds })
  return place(around, { store, shown, named, root, database: shown, pointer: shown })
}

async function filePlace(around: Around, { named, root }: Asked): Promise<OtherPlace> {
  const { environment, workingFolder, state } = around
  const own = join(root, '.waymark', 'waymark.db')
  const whole = databasePlace({ WAYMARK_DATABASE: named }, { root, working: workingFolder }).file
  const isOwn = whole === own
  const file = isOwn ? own : whole
  const { openStore } = await import('../storage/store.ts')
  const anchorFolder = anchorOf(state(), { root, database: file }, fingerprint)
  const sandboxJournal = environment['CURSOR_AGENT'] !== undefined
  // The file of a project's folder is that project's alone.
  const shared = basename(dirname(file)) !== '.waymark'
  const of = { file, shared, root, sandboxJournal, anchorFolder, program: version, ids: randomIds }
  const database = isOwn ? null : resolve(file)
  return place(around, { store: openStore(of), shown: file, named: file, root, database, pointer: database })
}

interface Opened extends Asked {
  readonly store: Store
  readonly shown: string
  /** As snapshots are kept for it. */
  readonly database: string | null
  /** What the folder says; null where it need say nothing. */
  readonly pointer: string | null
}

async function place(around: Around, opened: Opened): Promise<OtherPlace> {
  const { environment } = around
  const { store, shown, named, root, database, pointer } = opened
  return {
    end: await store.end(),
    isHere: around.database() === database,
    remember: () => {
      if (pointer === null) return null
      const file = rememberPlace(environment, shown, named)
      return hasPassword(named)
        ? `Its address, with the password, is kept in ${file}, which only you can read.`
        : null
    },
    lead: () => {
      keepSnapshots(environment, root, { from: around.database(), to: database })
      if (pointer !== null) rememberPlace(environment, shown, named)
      leadTo(root, pointer)
      const variable = namedDatabase(environment) ? 'WAYMARK_DATABASE' : 'TASKMAN_DB_NAME'
      if (environment[variable]) {
        return `${variable} is set and goes before what the folder says: set it to the new place, or unset it. Then start running Waymark servers again.`
      }
      return `Every \`waymark\` that begins in ${root} now uses ${shown}. Start running ones again.`
    },
    close: () => store.close(),
  }
}

function hasPassword(named: string): boolean {
  return (URL.parse(named)?.password ?? '') !== ''
}
