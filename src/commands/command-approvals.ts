import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Failure } from '../domain/failure.ts'
import type { ApprovedCommand, CommandApprovals } from '../ports/command-runner.ts'
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
    filesOf: async ({ folder: named, pinned }) => {
      const place = await realpath(named).catch(() => resolve(named))
      return (await pinnedFiles(place, pinned)).map(([path, sha256]) => ({ path, sha256 }))
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
    list: async (folders) => {
      const places = await Promise.all(folders.map((named) => realpath(named).catch(() => resolve(named))))
      const names = (await readdir(folder).catch(() => [])).filter((name) =>
        isHash(name.replace(/\.json$/, '')),
      )
      const kept: ApprovedCommand[] = []
      for (const name of names.slice(0, mostRead)) {
        const approved = parsed(await readFile(join(folder, name), 'utf8').catch(() => ''))
        if (approved === null || `${approved.hash}.json` !== name) continue
        const place = await realpath(approved.folder).catch(() => approved.folder)
        if (places.includes(place)) kept.push(approved)
      }
      return kept.sort((one, other) => other.at - one.at)
    },
    revoke: async (hash) => {
      if (isHash(hash)) await rm(fileOf(hash), { force: true })
    },
  }
}

const mostRead = 5_000

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

function approvedHash(text: string): unknown {
  return parsed(text)?.hash ?? null
}

type Stored = Omit<ApprovedCommand, 'pinned' | 'files'>

/** Approvals from before files were written down have none. */
function parsed(text: string): ApprovedCommand | null {
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored !== 'object' || stored === null || !('hash' in stored)) return null
    const { pinned = [], files = [], ...rest } = stored as Partial<ApprovedCommand> & Stored // as this module wrote it
    return { ...rest, pinned, files }
  } catch {
    return null
  }
}
