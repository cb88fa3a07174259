import { type BigIntStats, lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KnownFile } from '../ports/evidence-files.ts'
import { examine } from './read-evidence.ts'
import { stampOf } from './stamp.ts'
import { missing } from './system-error.ts'

export type Standing = 'current' | 'changed' | 'deleted'

// About a millisecond: a server goes on answering meanwhile.
const perTurn = 200

/** Whether files are still what they were. A file whose stamp is the same is not read. */
export async function standingOf(folder: string, files: readonly KnownFile[]): Promise<Standing[]> {
  const top = realPath(folder)
  if (top === null) return files.map(() => 'deleted')
  const parents = new Map<string, boolean>()
  const answers: Standing[] = []
  for (const [at, file] of files.entries()) {
    if (at > 0 && at % perTurn === 0) await nextTurn()
    const absolute = join(top, file.path)
    const parent = dirname(absolute)
    const direct = parents.get(parent) ?? realPath(parent) === parent
    parents.set(parent, direct)
    const found = direct ? entryAt(absolute) : undefined
    if (found?.isFile() && stampOf(found) === file.stamp) answers.push('current')
    else if (direct && found === undefined) answers.push('deleted')
    else answers.push(await readAgain(top, file))
  }
  return answers
}

async function readAgain(top: string, file: KnownFile): Promise<Standing> {
  const examined = await examine(top, file.path)
  if ('problem' in examined) return examined.problem === missing ? 'deleted' : 'changed'
  return examined.sha256 === file.sha256 ? 'current' : 'changed'
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

function entryAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // A file where a folder was: nothing is at the path.
    return undefined
  }
}
