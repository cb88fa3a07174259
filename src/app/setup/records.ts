import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SetupFiles } from '../../clients/ports/setup-files.ts'
import type { FileRecord } from '../../clients/setup/disk.ts'
import { fileHash } from '../../clients/setup/edit/edit-file.ts'
import { errorCode } from '../../kernel/failure.ts'
import { readIfThere, runLocked, writePrivate } from '../../kernel/files/private-file.ts'

/** The undo records of setup: one file for each changed file, readable only by its user. */
export class SetupRecords {
  readonly folder: string

  constructor(stateFolder: string) {
    this.folder = join(stateFolder, 'setup')
  }

  of = (file: string): FileRecord | null => {
    const text = readIfThere(this.#path(file))
    return text === null ? null : JSON.parse(text)
  }

  all(): readonly FileRecord[] {
    return fileNamesIn(this.folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const text = readIfThere(join(this.folder, name))
        return text === null ? [] : [JSON.parse(text)]
      })
  }

  keep = (records: readonly FileRecord[], forgotten: readonly string[]): void => {
    for (const record of records)
      writePrivate(this.#path(record.file), `${JSON.stringify(record, null, 1)}\n`)
    for (const file of forgotten) rmSync(this.#path(file), { force: true })
  }

  /** Runs while holding the lock of this user's setups. */
  exclusively<Result>(run: () => Result): Result {
    return runLocked(join(this.folder, 'records'), run)
  }

  #path(file: string): string {
    return join(this.folder, `${fileHash(file).slice(0, 24)}.json`)
  }
}

function fileNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return []
    throw error
  }
}

/** Tells changes by setup from other changes of a file. */
export function setupFiles(stateFolder: string): SetupFiles {
  const records = new SetupRecords(stateFolder)
  return {
    wrote: async (file, before, after) => {
      const record = records.all().find((one) => one.file === file || one.target === file)
      if (record === undefined || record.afterHash !== fileHash(after)) return false
      return record.before === (before && Buffer.from(before).toString('base64'))
    },
  }
}
