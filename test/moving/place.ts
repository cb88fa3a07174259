import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RecordStanding } from '../../src/ports/moving.ts'
import type { Store } from '../../src/ports/store.ts'
import { openPostgresStore } from '../../src/storage/postgres/store.ts'
import { randomIds } from '../../src/storage/random-ids.ts'
import { openStore } from '../../src/storage/store.ts'
import { type CommandLineProject, openCommandLine } from '../cli/command-line.ts'
import { emptyPostgres } from '../support/postgres/database.ts'
import { bin } from '../support/program.ts'
import { type StartedProgram, startAlone } from '../support/started-program.ts'

export interface Movable extends CommandLineProject {
  readonly url: string
  readonly file: string
  readonly projectId: string
}

/** A project with some work in its own file, and an empty database on a server. */
export async function movable(): Promise<Movable> {
  const project = openCommandLine()
  const database = await emptyPostgres()
  onTestFinished(() => database[Symbol.asyncDispose]())
  project.json('mission', 'start', 'Begin', '--objective', 'Any')
  const [created] = project.json('log', '--since', '0').facts
  const file = join(project.folder, '.waymark', 'waymark.db')
  return { ...project, url: database.url, file, projectId: created.body.id }
}

/** The record of a project at one place, as whoever looks from outside sees it. */
export async function standingAt(
  place: string,
  { folder, projectId }: { readonly folder: string; readonly projectId: string },
): Promise<RecordStanding | null> {
  const store = storeAt(place, folder)
  try {
    return await (await store.end()).standing(projectId)
  } finally {
    await store.close()
  }
}

export function storeAt(place: string, folder: string): Store {
  return place.startsWith('postgres')
    ? openPostgresStore({
        url: place,
        project: { root: folder, name: null, machine: 'test' },
        ids: randomIds,
      })
    : openStore({ file: place, shared: false, root: folder, sandboxJournal: false, ids: randomIds })
}

export function isWritten(standing: RecordStanding | null): boolean {
  return standing !== null && standing.movedTo === null && !standing.isArriving
}

/** Runs `waymark` with these words, in a process of its own, and kills it at a line that it says. Answers the lines. */
export async function killedAt(
  words: readonly string[],
  project: CommandLineProject,
  line: number,
): Promise<{ readonly said: readonly string[]; readonly code: number | null }> {
  const program: StartedProgram = startAlone([bin, ...words], {
    folder: project.folder,
    environment: project.environment,
  })
  let said = ''
  program.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
    if (said.split('\n').length > line) program.kill()
  })
  program.stdout.resume()
  // What it said last may be read after it has ended.
  const [code] = await Promise.all([program.gone, once(program.stderr, 'close')])
  return { said: said.split('\n').filter(Boolean), code }
}
