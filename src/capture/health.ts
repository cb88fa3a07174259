import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CaptureHealth } from '../ports/capture-health.ts'
import { copiesIn, waitingEvents } from './limits.ts'
import { readSettings } from './place.ts'
import { spoolOf } from './spool.ts'

/** Null where nobody ever switched capture on. */
export function captureHealth(root: string): CaptureHealth | null {
  const settings = readSettings(join(root, '.waymark'))
  if (settings === null) return null
  const spool = spoolOf(root)
  const waiting = waitingEvents(spool)
  const files = [...waiting.map((name) => join(spool.folder, name)), ...copiesIn(spool)]
  // What was left out on purpose is no failure.
  const failed = logLines(root).filter((line) => !line.includes('drain: left out'))
  return {
    settings,
    waiting: waiting.length,
    bytes: files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0),
    failures: failed.length,
    lastFailure: failed.at(-1) ?? null,
  }
}

function logLines(root: string): readonly string[] {
  return ['capture.log.1', 'capture.log'].flatMap((name) => {
    try {
      return readFileSync(join(root, '.waymark', name), 'utf8')
        .split('\n')
        .filter(Boolean)
    } catch {
      return []
    }
  })
}
