import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const oneDay = 24 * 60 * 60 * 1000

/** Removes the private directories that nobody names and that are older than 24 hours. Answers how many. */
export async function sweepDirectories(
  folder: string,
  keep: ReadonlySet<string>,
  now: number,
): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  let removed = 0
  for (const name of names) {
    const directory = join(folder, name)
    if (keep.has(directory)) continue
    const found = await stat(directory).catch(() => null)
    if (found === null || now - found.mtimeMs < oneDay) continue
    await rm(directory, { recursive: true, force: true })
    removed += 1
  }
  return removed
}
