import { readRegularSync } from '../files/regular-file.ts'
import { type ConfigurationEntry, configured } from './configuration.ts'
import { blobId, sha256 } from './disk.ts'
import type { Candidate } from './hashing.ts'
import { nulInput, nulRecords, onDisk, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './run-git.ts'
import type { GitState } from './status.ts'

const pointerLimit = 1024
const pointerStart = 'version https://git-lfs.github.com/spec/v1\n'

/** The filter that attributes name for each path; paths without one are left out. None is ever run. */
export async function filtersOf(
  place: PrivateDirectory,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, string>> {
  const filters = new Map<PathBytes, string>()
  if (paths.length === 0) return filters
  const records = nulRecords(
    await git(['check-attr', '-z', '--stdin', 'filter'], privateCall(place, nulInput(paths))),
  )
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [path = '', , value = ''] = records.slice(at, at + 3)
    if (value !== 'unspecified' && value !== 'unset' && value !== 'set') filters.set(path, value)
  }
  return filters
}

export interface FilteredState {
  readonly state: GitState
  readonly uncertain?: string
}

/** What git would store for a file behind a filter, given the state of the file as it is. */
export async function filteredState(
  raw: GitState,
  candidate: Candidate,
  context: FilterContext,
): Promise<FilteredState> {
  const { filter, configuration } = context
  const runs = ['clean', 'process'].some((hook) => configured(configuration, `filter.${filter}.${hook}`))
  if (filter === 'lfs') {
    const pointer = { mode: raw.mode, oid: await pointerId(raw, candidate, context) }
    return { state: runs || pointer.oid === candidate.index?.oid ? pointer : raw }
  }
  if (!runs) return { state: raw }
  return { state: raw, uncertain: `The filter "${filter}" was not run, so the stored content is not known.` }
}

export interface FilterContext {
  readonly filter: string
  readonly top: string
  readonly objectFormat: string
  readonly configuration: readonly ConfigurationEntry[]
}

/** The id of the pointer that Git LFS would store. A file that is a pointer already is stored as it is. */
async function pointerId(raw: GitState, { path, file }: Candidate, context: FilterContext): Promise<string> {
  if (file.kind === 'link') return raw.oid
  const { top, objectFormat } = context
  const isPointer =
    file.stat.size <= pointerLimit &&
    readRegularSync(onDisk(top, path)).toString('latin1').startsWith(pointerStart)
  if (isPointer || file.stat.size === 0) return raw.oid
  const digest = await sha256(top, path)
  return blobId(objectFormat, Buffer.from(`${pointerStart}oid sha256:${digest}\nsize ${file.stat.size}\n`))
}
