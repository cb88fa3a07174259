import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readIfThere, writePrivate } from '../kernel/files/private-file.ts'
import { removeFromState } from '../kernel/files/state-folder.ts'
import type { BlamedCommit, BlamedLines } from '../lines/ports/line-history.ts'
import { nulRecords, type PathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { runGit } from './process.ts'

/** What git's blame answered for a file of a commit. */
interface KeptBlame {
  readonly oid: string
  readonly commit: string
  /** Of everything else that git's answer depends on. */
  readonly stamp: string
  readonly lines: readonly BlamedLines[]
  readonly commits: readonly BlamedCommit[]
}

type BlamedFile = Pick<KeptBlame, 'oid' | 'commit' | 'stamp'> & { readonly path: PathBytes }

const keptForMs = 30 * 24 * 60 * 60 * 1000

/** Removes answers that were not kept anew for thirty days. */
export async function sweepBlames(stateFolder: string, now: number): Promise<void> {
  const folder = join(stateFolder, 'blames')
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name)
    const written = await stat(file).catch(() => null)
    if (written !== null && written.mtimeMs < now - keptForMs) removeFromState(stateFolder, file)
  }
}

/** The last answer for each path. It holds until a commit changes the path. */
export class KeptBlames {
  readonly #folder: string
  readonly #place: PrivateDirectory
  readonly #changed = new Map<string, Promise<ReadonlySet<PathBytes> | null>>()

  constructor(stateFolder: string, place: PrivateDirectory) {
    this.#folder = join(stateFolder, 'blames')
    this.#place = place
  }

  async find(file: BlamedFile): Promise<Pick<KeptBlame, 'lines' | 'commits'> | null> {
    const kept = this.#read(file.path)
    if (kept === null || kept.oid !== file.oid || kept.stamp !== file.stamp) return null
    if (kept.commit === file.commit) return kept
    const changed = await this.#changedBetween(kept.commit, file.commit)
    if (changed === null || changed.has(file.path)) return null
    this.keep(file, kept)
    return kept
  }

  /** Reading never creates the state folder, and works where it cannot be written to. */
  keep(
    { path, oid, commit, stamp }: BlamedFile,
    { lines, commits }: Pick<KeptBlame, 'lines' | 'commits'>,
  ): void {
    if (!existsSync(dirname(this.#folder))) return
    const kept: KeptBlame = { oid, commit, stamp, lines, commits }
    try {
      writePrivate(this.#fileOf(path), JSON.stringify(kept))
    } catch {
      // It is asked again.
    }
  }

  #read(path: PathBytes): KeptBlame | null {
    try {
      const text = readIfThere(this.#fileOf(path))
      return text === null ? null : (JSON.parse(text) as KeptBlame) // as it was written
    } catch {
      return null
    }
  }

  #fileOf(path: PathBytes): string {
    const name = createHash('sha256').update(`${this.#place.top}\0${path}`).digest('hex')
    return join(this.#folder, name)
  }

  /** The paths that commits of only one side change; null if a commit is gone. */
  #changedBetween(one: string, other: string): Promise<ReadonlySet<PathBytes> | null> {
    const range = `${one}...${other}`
    const asked = this.#changed.get(range) ?? this.#ask(range)
    this.#changed.set(range, asked)
    return asked
  }

  async #ask(range: string): Promise<ReadonlySet<PathBytes> | null> {
    const question = ['log', '--format=', '--name-only', '-z', '-m', '--root', '--no-renames', range, '--']
    const { code, output } = await runGit(question, privateCall(this.#place))
    return code === 0 ? new Set(nulRecords(output)) : null
  }
}
