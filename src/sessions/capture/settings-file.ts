import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CaptureEnvironment,
  type CaptureSettings,
  hooksBase,
  hooksFolder,
  resolvedPath,
  settingsName,
} from './captured-project.ts'
import { writeOwn } from './hook-queue.ts'

/** Writes a person's settings. Hooks read them at each event. */
export function writeSettings(
  root: string,
  environment: CaptureEnvironment,
  settings: CaptureSettings,
): void {
  const text = JSON.stringify({ root: resolvedPath(root), ...settings }, null, 2)
  const base = hooksBase(environment)
  mkdirSync(base, { recursive: true, mode: 0o700 })
  writeOwn(base, settingsFile(root, environment), `${text}\n`)
}

export function settingsFile(root: string, environment: CaptureEnvironment): string {
  return join(hooksFolder(root, environment), settingsName)
}
