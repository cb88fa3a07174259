import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegular } from '../files/regular-file.ts'
import { personalRules } from './conversion.ts'
import type { IndexEntries } from './index-entries.ts'
import { nulInput, nulRecords, onDisk, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import type { Repository } from './repository.ts'
import { git } from './run-git.ts'
import type { Status } from './status.ts'

// With these git stores one text for many: what stands in `$Id: … $`, another encoding.
const lossy = ['ident', 'working-tree-encoding']

/**
 * The tracked files of which git stores something else than what stands on disk, by an attribute that lets an edit
 * disappear. They are to be compared as they are; from here on our own directory sees them so.
 */
export async function pathsToReadRaw(
  place: PrivateDirectory,
  repository: Repository,
  seen: { readonly status: Status; readonly index: IndexEntries },
): Promise<readonly PathBytes[]> {
  const { index, status } = seen
  const untracked = [...status.untracked, ...status.ignored].filter((path) => path.endsWith('.gitattributes'))
  const named = await Promise.all([
    // Where one is missing, git takes what the index has of it.
    ...index.attributes.map((path) => mayName(onDisk(place.top, path), { whereMissing: true })),
    ...untracked.map((path) => mayName(onDisk(place.top, path), { whereMissing: false })),
    ...[
      join(place.directory, 'info/attributes'),
      personalRules(repository.configuration, place.environment, 'attributes'),
    ].map((path) => mayName(path, { whereMissing: false })),
  ])
  if (!named.includes(true)) return []
  const question = ['check-attr', '-z', '--stdin', ...lossy]
  const records = nulRecords(await git(question, privateCall(place, nulInput(index.paths))))
  const paths = new Set<PathBytes>()
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [path = '', , value = ''] = records.slice(at, at + 3)
    if (value !== 'unspecified' && value !== 'unset') paths.add(path)
  }
  appendFileSync(
    join(place.directory, 'info/attributes'),
    `\n* ${lossy.map((name) => `-${name}`).join(' ')}\n`,
  )
  return [...paths]
}

function mayName(
  file: string | Buffer,
  { whereMissing }: { readonly whereMissing: boolean },
): Promise<boolean> {
  return readRegular(file).then(
    (content) => lossy.some((name) => content.includes(name)),
    () => whereMissing,
  )
}
