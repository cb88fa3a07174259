import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'

const atOnce = 500

/**
 * Of each file, what no program can set back once it was written, renamed or replaced: its inode and the time of its last
 * change, as the system keeps it. A folder has none.
 */
export async function stampsOf(top: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>()
  for (const [at, path] of paths.entries()) {
    stamps.set(path, stampOf(join(top, path)))
    if (at % atOnce === atOnce - 1) await nextTurn()
  }
  return stamps
}

function stampOf(path: string): string {
  try {
    const { ino, ctimeNs, size, mode } = lstatSync(path, { bigint: true })
    return (mode & 0o170000n) === 0o040000n ? 'folder' : `${ino} ${ctimeNs} ${size} ${mode}`
  } catch {
    return 'absent'
  }
}
