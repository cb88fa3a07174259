import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { readOwn } from '../../kernel/files/regular-file.ts'
import type { CaptureHealth } from '../ports/capture-health.ts'
import { type CaptureEnvironment, hooksFolder, readSettings } from './captured-project.ts'
import { isNote, logFile, queuesOf } from './hook-queue.ts'
import { copiesIn, skipUndeletable, waitingEvents } from './limits.ts'

const maxLogBytes = 1024 * 1024

/** Null if capture was never switched on. */
export function captureHealth(root: string, environment: CaptureEnvironment): CaptureHealth | null {
  const settings = readSettings(root, environment)
  if (settings === null) return null
  const queues = queuesOf(root, environment)
  for (const queue of queues) skipUndeletable(queue)
  const waiting = queues.flatMap((queue) => waitingEvents(queue).map((name) => join(queue.events, name)))
  const files = [...waiting, ...queues.flatMap(copiesIn)]
  const folders = new Set([hooksFolder(root, environment), ...queues.map(({ folder }) => folder)])
  const failed = [...folders].flatMap((folder) =>
    // Events that were left out on purpose are no failure.
    logLines(folder).flatMap((line) => (isNote(line) ? [] : [{ line, file: logFile({ folder }) }])),
  )
  const last = failed.at(-1)
  return {
    settings,
    waiting: waiting.length,
    bytes: files.reduce((sum, file) => sum + (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0), 0),
    failures: failed.length,
    lastFailure: last?.line ?? null,
    log: last?.file ?? null,
  }
}

function logLines(folder: string): readonly string[] {
  const file = logFile({ folder })
  return (readOwn(file, maxLogBytes)?.toString('utf8') ?? '').split('\n').filter(Boolean)
}
