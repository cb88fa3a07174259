import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Store } from '../../../src/store/ports/store.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { openStore } from '../../../src/store/store.ts'
import { emptyPostgres } from '../../support/postgres/database.ts'
import { type CommandLineProject, type Entry, openCommandLine } from '../../surfaces/cli/command-line.ts'

export interface Begun extends CommandLineProject {
  readonly file: string
}

export interface Movable extends Begun {
  readonly url: string
}

/** A project with some work in its own file. */
export function begun(): Begun {
  const project = openCommandLine()
  project.json('mission', 'start', 'Begin', '--objective', 'Any')
  return { ...project, file: join(project.folder, '.waymark', 'waymark.db') }
}

/** The same, and an empty database on a server. */
export async function movable(): Promise<Movable> {
  return { ...begun(), url: await emptyServer() }
}

/** The URL of an empty database on a server, for as long as the test lasts. */
export async function emptyServer(): Promise<string> {
  const database = await emptyPostgres()
  onTestFinished(() => database[Symbol.asyncDispose]())
  return database.url
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

/** Ends writing, imports the file at another database, and answers the commands of the project there. */
export function takeTo(project: Begun, url: string) {
  const file = join(project.home, `taken-${Date.now()}.jsonl`)
  const ended = project.run('export', '--end', '--to', url)
  writeFileSync(file, ended.out)
  const run = (...words: readonly string[]) =>
    project.runWith({ environment: { WAYMARK_DATABASE: url } }, ...words)
  const json = (...words: readonly string[]): Entry => {
    const { code, out, error } = run(...words, '--json')
    if (code !== 0) throw new Error(`${words.join(' ')}: ${error}`)
    return JSON.parse(out)
  }
  json('import', '--replace', file)
  return { run, json, file }
}
