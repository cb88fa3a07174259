import { rmSync } from 'node:fs'

/** Removes a folder with all that is in it, also while a process that was just killed writes the last of it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}
