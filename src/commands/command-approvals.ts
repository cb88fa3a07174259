import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Failure } from '../domain/failure.ts'
import type { CommandApprovals } from '../ports/command-runner.ts'
import { pinnedFiles } from './pinned-files.ts'

/** Approvals as one file per hash in a state folder: none is ever written twice with other content. */
export function commandApprovals(stateFolder: string): CommandApprovals {
  const folder = join(stateFolder, 'approved-commands')
  const fileOf = (hash: string) => join(folder, `${hash}.json`)
  return {
    hashOf: async (command) => {
      const place = await realpath(command.folder).catch(() => resolve(command.folder))
      const canonical = JSON.stringify([command.run, place, await pinnedFiles(place, command.pinned)])
      return createHash('sha256').update(canonical).digest('hex')
    },
    isApproved: async (hash) => {
      if (!isHash(hash)) return false
      const text = await readFile(fileOf(hash), 'utf8').catch(() => null)
      return text !== null && approvedHash(text) === hash
    },
    approve: async (approval) => {
      if (!isHash(approval.hash)) {
        throw new Failure('INVALID_INPUT', `"${approval.hash}" is not the hash of a command.`)
      }
      const draft = join(folder, `${approval.hash}.${randomUUID()}.draft`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, `${JSON.stringify(approval, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
        await rename(draft, fileOf(approval.hash))
      } catch (cause) {
        await rm(draft, { force: true }).catch(() => undefined)
        throw new Failure('REFUSED', `The approval cannot be kept in ${folder}: it cannot be written.`, {
          hint: 'Approve it outside the sandbox, or name a folder that can be written with XDG_STATE_HOME.',
          cause,
        })
      }
    },
  }
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

function approvedHash(text: string): unknown {
  try {
    const stored: unknown = JSON.parse(text)
    return typeof stored === 'object' && stored !== null && 'hash' in stored ? stored.hash : null
  } catch {
    return null
  }
}
