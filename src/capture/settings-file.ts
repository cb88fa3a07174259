import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CaptureSettings, settingsName } from './place.ts'

/** Writes what a person chose. Hooks look at it at each event, so that it holds from the next one on. */
export function writeSettings(stateFolder: string, settings: CaptureSettings): void {
  mkdirSync(stateFolder, { recursive: true })
  const file = join(stateFolder, settingsName)
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, file)
}
