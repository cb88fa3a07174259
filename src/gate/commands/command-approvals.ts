import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import { processEnd } from '../../kernel/process-end.ts'
import { plainSpelling } from '../../kernel/shell-word.ts'
import type {
  ApprovedCommand,
  CommandApprovals,
  PinnedCommand,
  RefusedCommand,
} from '../ports/command-runner.ts'
import { type PinnedLimits, pinnedFiles } from './pinned-files.ts'
import { runnerScripts } from './runner-scripts.ts'

/** Approvals and refusals as one file per hash in a state folder: none is ever written twice with other content. */
export function commandApprovals(
  stateFolder: string,
  signal: AbortSignal = processEnd,
  limits?: PinnedLimits,
): CommandApprovals {
  const approvals = storedApprovals(join(stateFolder, 'approved-commands'), 'approval')
  const refusals = storedApprovals(join(stateFolder, 'refused-commands'), 'refusal')
  const readPinnedFiles = async ({ run: line, folder, pinned: texts }: PinnedCommand) => {
    const run = process.platform === 'win32' ? line : plainSpelling(line)
    const place = await realpath(folder).catch(() => resolve(folder))
    const { scripts, files } = await runnerScripts(place, run)
    return { run, place, scripts, pinned: await pinnedFiles(place, [...texts, ...files], signal, limits) }
  }
  return {
    hashOf: async (command) => {
      const { run, place, pinned, scripts } = await readPinnedFiles(command)
      const texts = scripts.map(({ path, text }) => [path, text])
      return sha256([run, place, pinned, ...(texts.length > 0 ? [texts] : [])])
    },
    filesOf: async (command) => {
      const { pinned, scripts } = await readPinnedFiles(command)
      return [
        ...scripts.map(({ path, text }) => ({ path, sha256: sha256(text), text })),
        ...pinned.map(([path, hash]) => ({ path, sha256: hash })),
      ]
    },
    isApproved: async (hash) => (await approvals.find(hash)) !== null,
    approve: async (approval) => {
      await approvals.keep(approval)
      await refusals.remove(approval.hash)
    },
    list: approvals.list,
    refuse: async (refusal) => {
      await refusals.keep(refusal)
      await approvals.remove(refusal.hash)
    },
    refusalOf: async (hash) => {
      const stored = await refusals.find(hash)
      return stored && withReason(stored)
    },
    refusedIn: async (folders) => (await refusals.list(folders)).map(withReason),
    revoke: async (hash) => {
      await approvals.remove(hash)
      await refusals.remove(hash)
    },
  }
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

function withReason(stored: ApprovedCommand): RefusedCommand {
  const { reason } = stored as Partial<RefusedCommand> // as `refuse` wrote it
  return { ...stored, reason: typeof reason === 'string' ? reason : '' }
}

function storedApprovals(folder: string, what: 'approval' | 'refusal') {
  const fileOf = (hash: string) => join(folder, `${hash}.json`)
  return {
    find: async (hash: string): Promise<ApprovedCommand | null> => {
      if (!isHash(hash)) return null
      const stored = parseApprovedCommand(await readFile(fileOf(hash), 'utf8').catch(() => ''))
      return stored?.hash === hash ? stored : null
    },
    keep: async (answer: StoredApproval & Partial<ApprovedCommand>): Promise<void> => {
      if (!isHash(answer.hash)) {
        throw new Failure('INVALID_INPUT', `"${answer.hash}" is not the hash of a command.`, {
          reason: 'command_hash_invalid',
        })
      }
      const draft = join(folder, `${answer.hash}.${randomUUID()}.draft`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, `${JSON.stringify(answer, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
        await rename(draft, fileOf(answer.hash))
      } catch (cause) {
        await rm(draft, { force: true }).catch(() => undefined)
        throw new Failure('REFUSED', `Cannot keep the ${what}: ${folder} is not writable.`, {
          reason: 'folder_not_writable',
          hint: 'Answer outside the sandbox, or set XDG_STATE_HOME to a writable folder.',
          cause,
        })
      }
    },
    list: async (folders: readonly string[]): Promise<readonly ApprovedCommand[]> => {
      const places = await Promise.all(
        folders.map((project) => realpath(project).catch(() => resolve(project))),
      )
      const names = (await readdir(folder).catch(() => [])).filter((name) =>
        isHash(name.replace(/\.json$/, '')),
      )
      const approvals: ApprovedCommand[] = []
      for (const name of names.slice(0, maxRead)) {
        const approval = parseApprovedCommand(await readFile(join(folder, name), 'utf8').catch(() => ''))
        if (approval === null || `${approval.hash}.json` !== name) continue
        const place = await realpath(approval.folder).catch(() => approval.folder)
        if (places.includes(place)) approvals.push(approval)
      }
      return approvals.sort((one, other) => other.createdAt - one.createdAt)
    },
    remove: async (hash: string): Promise<void> => {
      if (isHash(hash)) await rm(fileOf(hash), { force: true })
    },
  }
}

const maxRead = 5_000

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

type StoredApproval = Omit<ApprovedCommand, 'pinned' | 'files'>

/** Approvals from before files were written down have none. */
function parseApprovedCommand(text: string): ApprovedCommand | null {
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored !== 'object' || stored === null || !('hash' in stored)) return null
    const { pinned = [], files = [], ...rest } = stored as Partial<ApprovedCommand> & StoredApproval // as this module wrote it
    return { ...rest, pinned, files }
  } catch {
    return null
  }
}
