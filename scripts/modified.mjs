// When files were changed, for builds that happen only when something did. Plain ESM for Node 20 without packages.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The newest modification in a folder; its folders count, because a removed file changes only its folder. */
export function newestIn(path) {
  const own = modifiedAt(path)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return own
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !name.endsWith('.test.ts'))
    .reduce((newest, { name }) => Math.max(newest, newestIn(join(path, name))), own)
}

/** Milliseconds since the epoch; 0 when there is no such file. */
export function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
