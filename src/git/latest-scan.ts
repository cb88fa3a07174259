import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The private directory of the last snapshot of a top by one engine, so that unchanged files are not read again. */
export async function latestScan(stateFolder: string, top: string): Promise<string | undefined> {
  return readFile(pointer(stateFolder, top), 'utf8').catch(() => undefined)
}

export async function rememberScan(stateFolder: string, top: string, directory: string): Promise<void> {
  const path = pointer(stateFolder, top)
  const draft = `${path}.${randomUUID()}`
  await mkdir(join(stateFolder, 'scans'), { recursive: true, mode: 0o700 })
  await writeFile(draft, directory, { mode: 0o600 })
  await rename(draft, path)
}

function pointer(stateFolder: string, top: string): string {
  return join(stateFolder, 'scans', createHash('sha256').update(top).digest('hex').slice(0, 32))
}
