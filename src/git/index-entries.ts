import { readRegular } from '../files/regular-file.ts'
import { type RecordedTimes, readIndexFile } from './index-file.ts'
import { isAsciiPath, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './run-git.ts'
import type { GitState } from './status.ts'

/** What the index says beside `status`: every tracked path, and the entries that `status` does not look into. */
export interface IndexEntries {
  readonly paths: readonly PathBytes[]
  /** Whether the paths need no decoding to be shown. */
  readonly ascii: boolean
  /** Those that are files of attributes. */
  readonly attributes: readonly PathBytes[]
  /** Submodules and other repositories recorded by their commit. */
  readonly submodules: readonly PathBytes[]
  /** Hidden from `status` by a flag. */
  readonly hidden: readonly HiddenEntry[]
  /** Whose times were set: git compares them by the second, so an edit within one could pass unseen. */
  readonly setTimes: readonly SetTimesEntry[]
}

export interface SetTimesEntry {
  readonly path: PathBytes
  readonly index: GitState
  /** Null where git's index does not tell them in a form that is read here. */
  readonly times: RecordedTimes | null
}

export interface HiddenEntry {
  readonly path: PathBytes
  readonly index: GitState
  readonly flag: 'skip-worktree' | 'assume-unchanged' | 'times set'
}

interface Entry {
  readonly path: PathBytes
  readonly isSubmodule: boolean
  readonly hidden: HiddenEntry | null
  readonly setTimes: SetTimesEntry | null
}

const submodule = 0o160000

/** Reads the user's index, by git where it is of a kind that only git should read. */
export async function readIndexEntries(
  place: PrivateDirectory,
  objectFormat: string,
  includes: (path: PathBytes) => boolean,
): Promise<IndexEntries> {
  const collection = new Collection(includes)
  const file = await readRegular(place.index).catch(() => null)
  if (file === null) return collection.entries()
  const complete = readIndexFile(file, objectFormat, (record) => {
    const { path, mode, assumeUnchanged, skipWorktree } = record
    const flag = skipWorktree ? 'skip-worktree' : assumeUnchanged ? 'assume-unchanged' : null
    const hidden = flag === null ? null : ({ path, index: record.state(), flag } as const)
    const times = record.times()
    const isSet = seconds(times.changed) !== seconds(times.modified)
    const setTimes = isSet && hidden === null ? { path, index: record.state(), times } : null
    collection.add({ path, isSubmodule: mode === submodule, hidden, setTimes })
  })
  if (!complete) {
    const listing = await git(['ls-files', '-z', '-v', '-s'], privateCall(place))
    for (const entry of parseListing(listing)) collection.add(entry)
  }
  return collection.entries()
}

/** Parses `git ls-files -z -v -s`: `H 100644 <oid> 0<tab>path`. */
function* parseListing(output: Buffer): Generator<Entry> {
  const text = output.toString('latin1')
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\0', start)
    const stop = end < 0 ? text.length : end
    const tab = text.indexOf('\t', start)
    const path = text.slice(tab + 1, stop)
    const [tag = 'H', mode = '', oid = ''] = text.slice(start, tab).split(' ')
    const flag = tag === 'S' || tag === 's' ? 'skip-worktree' : 'assume-unchanged'
    const hidden = tag === 'H' || tag === 'M' ? null : ({ path, index: { mode, oid }, flag } as const)
    const setTimes = hidden === null ? { path, index: { mode, oid }, times: null } : null
    yield { path, isSubmodule: mode === submodule.toString(8), hidden, setTimes }
    start = stop + 1
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

class Collection {
  readonly #includes: (path: PathBytes) => boolean
  readonly #paths: PathBytes[] = []
  readonly #submodules: PathBytes[] = []
  readonly #hidden: HiddenEntry[] = []
  #ascii = true
  readonly #attributes: PathBytes[] = []
  readonly #setTimes: SetTimesEntry[] = []

  constructor(includes: (path: PathBytes) => boolean) {
    this.#includes = includes
  }

  add({ path, isSubmodule, hidden, setTimes }: Entry): void {
    // A conflicted path has one record per stage, next to each other.
    if (path === this.#paths.at(-1) || !this.#includes(path)) return
    this.#paths.push(path)
    if (this.#ascii && !isAsciiPath(path)) this.#ascii = false
    if (path.endsWith('.gitattributes')) this.#attributes.push(path)
    if (isSubmodule) this.#submodules.push(path)
    if (hidden !== null) this.#hidden.push(hidden)
    if (setTimes !== null && !isSubmodule) this.#setTimes.push(setTimes)
  }

  entries(): IndexEntries {
    return {
      paths: this.#paths,
      ascii: this.#ascii,
      attributes: this.#attributes,
      submodules: this.#submodules,
      hidden: this.#hidden,
      setTimes: this.#setTimes,
    }
  }
}
