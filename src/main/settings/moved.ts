import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import { stateFolder } from '../../files/state-folder.ts'
import { type Environment, firstSet } from './environment.ts'
import { enclosingTree, mainTree, type ProjectRequest, projectFolder, projectRoot } from './places.ts'

/**
 * Where projects of this user were moved to. A file in the project says which place it is; how that one is reached, with
 * a password, is kept in the user's own folder. So a file in a repository can name no place that the user never named.
 */
interface MovedPlaces {
  /** By what they are called for people: a path, or a URL. */
  readonly places: Readonly<Record<string, string>>
  /** By root and database, which database's snapshots are used on: open attempts keep theirs. */
  readonly snapshots: Readonly<Record<string, string | null>>
}

/** The variables as if the place that the project was moved to had been named by one of them. */
export interface Placed {
  readonly environment: Environment
  /** Why nothing can be read or written; null where it can. */
  readonly refusal: Failure | null
}

/** A database that a variable names goes before the one that the project was moved to. */
export function placed(environment: Environment, root: string): Placed {
  if (firstSet(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME']) !== undefined)
    return { environment, refusal: null }
  const shown = textOf(pointerOf(root))?.trim()
  if (shown === undefined || shown === '') return { environment, refusal: null }
  const named = readPlaces(environment).places[shown]
  if (named === undefined) return { environment, refusal: unknownPlace(shown, root) }
  return { environment: { ...environment, WAYMARK_DATABASE: named }, refusal: null }
}

/** The same for the project of a request, found without git. */
export function placedFor(request: ProjectRequest): Placed {
  return placed(request.environment, rootWithoutGit(request))
}

/** The project's root, found without git. */
export function rootWithoutGit(request: ProjectRequest): string {
  const { environment } = request
  const home = firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const folder = projectFolder(request, (start) => enclosingTree(start, home))
  return projectRoot(mainTree(enclosingTree(folder, home) ?? folder))
}

/** Keeps how a place is reached, for this user alone. Answers the file. */
export function rememberPlace(environment: Environment, shown: string, named: string): string {
  const known = readPlaces(environment)
  if (known.places[shown] === named) return fileOf(environment)
  return writePlaces(environment, { ...known, places: { ...known.places, [shown]: named } })
}

/** Lets a project's folder lead to a place; null for the file that is used where nothing is named. */
export function leadTo(root: string, shown: string | null): void {
  const file = pointerOf(root)
  if (shown === null) {
    rmSync(file, { force: true })
    return
  }
  mkdirSync(dirname(file), { recursive: true })
  writeWhole(file, `${shown}\n`, 0o644)
}

/** Which database's snapshots are used for a database: itself, or the one that the project was moved from. */
export function snapshotsOf(environment: Environment, root: string, database: string | null): string | null {
  const known = readPlaces(environment).snapshots[keyOf(root, database)]
  return known === undefined ? database : known
}

/** Open attempts keep their snapshots, which lie on this machine. */
export function keepSnapshots(
  environment: Environment,
  root: string,
  moved: { readonly from: string | null; readonly to: string | null },
): void {
  const known = readPlaces(environment)
  const used = snapshotsOf(environment, root, moved.from)
  const key = keyOf(root, moved.to)
  if (known.snapshots[key] === used) return
  writePlaces(environment, { ...known, snapshots: { ...known.snapshots, [key]: used } })
}

function keyOf(root: string, database: string | null): string {
  return `${root}\n${database ?? ''}`
}

function pointerOf(root: string): string {
  return join(root, '.waymark', 'database')
}

function unknownPlace(shown: string, root: string): Failure {
  return new Failure(
    'UNAVAILABLE',
    `${pointerOf(root)} says that this project was moved to ${shown.slice(0, 200)}, and it is not known here how that is reached.`,
    {
      hint: 'Set WAYMARK_DATABASE to its whole address, with user and password; or remove that file if it is wrong.',
    },
  )
}

function fileOf(environment: Environment): string {
  const home = firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  return join(stateFolder({ platform: process.platform, environment, home }), 'places.json')
}

function readPlaces(environment: Environment): MovedPlaces {
  const text = textOf(fileOf(environment))
  if (text === undefined) return { places: {}, snapshots: {} }
  const read = recordIn(jsonOf(text))
  const kept = read['snapshots']
  return { places: textsIn(read['places']), snapshots: { ...textsIn(kept), ...nullsIn(kept) } }
}

function writePlaces(environment: Environment, places: MovedPlaces): string {
  const file = fileOf(environment)
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeWhole(file, `${JSON.stringify({ version: 1, ...places }, null, 2)}\n`, 0o600)
    return file
  } catch (cause) {
    throw new Failure('UNAVAILABLE', `It cannot be kept where the project goes: ${file} cannot be written.`, {
      hint: 'Make it writable, or set XDG_STATE_HOME to a folder that is.',
      cause,
    })
  }
}

function writeWhole(file: string, text: string, mode: number): void {
  const made = `${file}.${process.pid}`
  writeFileSync(made, text, { mode })
  chmodSync(made, mode) // whatever the umask is
  renameSync(made, file)
}

function textOf(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(recordIn(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

function nullsIn(value: unknown): Readonly<Record<string, null>> {
  return Object.fromEntries(
    Object.entries(recordIn(value)).filter((entry): entry is [string, null] => entry[1] === null),
  )
}
