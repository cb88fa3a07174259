import { Failure } from '../domain/failure.ts'

interface Fault {
  /** What git says, or the code of the system's error. */
  readonly sign: RegExp
  readonly says: string
  readonly hint: string
}

const again = 'then call again.'

const faults: readonly Fault[] = [
  {
    sign: /ENOSPC|EDQUOT|No space left|quota exceeded/i,
    says: 'the disk is full',
    hint: `Free some space, with waymark tidy for one; ${again}`,
  },
  {
    sign: /EROFS|Read-only file system/i,
    says: 'the file system is read-only',
    hint: `Make it writable, or set XDG_STATE_HOME to a folder that is; ${again}`,
  },
  {
    sign: /EACCES|EPERM|Permission denied|Operation not permitted/i,
    says: 'permission is denied',
    hint: `Give this user access to it; ${again}`,
  },
  {
    sign: /EMFILE|ENFILE|Too many open files/i,
    says: 'too many files are open',
    hint: `Close other programs or raise the limit (ulimit -n); ${again}`,
  },
  {
    sign: /ENOMEM|EAGAIN|Cannot allocate memory|out of memory|Resource temporarily unavailable/i,
    says: 'memory or processes ran out',
    hint: `Close other programs; ${again}`,
  },
  {
    sign: /EIO\b|Input\/output error/i,
    says: 'the disk does not answer',
    hint: `Check the disk; ${again}`,
  },
  {
    sign: /index file (corrupt|smaller)|bad index|bad signature|unordered stage entries|unknown index entry/i,
    says: "the repository's index is damaged",
    hint: `Make a new one with: rm .git/index && git reset (files stay as they are); ${again}`,
  },
  {
    sign: /is corrupt|object file .* is empty|bad object|unable to read (tree|[0-9a-f]{40})|not a valid object/i,
    says: 'the repository is damaged',
    hint: `See what is missing with: git fsck; ${again}`,
  },
]

/** What is wrong with the machine or the repository, as a refusal; null where the text names nothing of the kind. */
export function environmentFault(text: string, where: string): Failure | null {
  const fault = faults.find(({ sign }) => sign.test(text))
  if (fault === undefined) return null
  const first = text.trim().split('\n')[0] ?? ''
  return new Failure('UNAVAILABLE', `${where} could not be measured: ${fault.says} (${first}).`, {
    hint: fault.hint,
  })
}

/** Runs work on a place, and tells a fault of the machine as one. */
export async function tellingFaults<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error
    throw environmentFault(error.message, where) ?? error
  }
}
