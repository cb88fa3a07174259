import { formatCount } from '../../kernel/text.ts'
import type { StepCertainty } from '../../lines/domain/line-hashes.ts'

/** Explains the files that a branch changes by the record. Only a file that the record should know is unexplained. */

/** A file as the branch changes it. `after` is the id of its content at the head; null for a deleted file. */
export interface BranchChange {
  readonly path: string
  readonly from?: string
  readonly after: string | null
}

export interface ChangingCommit {
  readonly id: string
  readonly committedAt: number
  readonly email: string
  readonly author: string
  readonly paths: readonly string[]
}

/** A recorded content of a path and its owners; none if no attempt claimed the time. */
export interface RecordedContent {
  readonly path: string
  readonly from?: string | undefined
  readonly after: string | null
  readonly owners: readonly string[]
  readonly certainty: StepCertainty
  readonly origin: 'task' | 'imported' | 'mixed'
}

export interface RecordedWork {
  /** Newest first. */
  readonly contents: readonly RecordedContent[]
  /** The attempts with a measured change of a path. */
  readonly changedBy: ReadonlyMap<string, readonly string[]>
  /** Commits that an attempt was measured to make. */
  readonly commits: ReadonlyMap<string, string>
  /** E-mail addresses of people, in lower case. */
  readonly people: ReadonlySet<string>
  /** Open attempts, whose changes are measured when they end. */
  readonly open: readonly { readonly id: string; readonly openedAt: number }[]
  /** The start of the record. */
  readonly since: number
  /** Whether this is a shallow clone. */
  readonly isCut: boolean
}

export interface PathAuthorship {
  readonly path: string
  readonly category: 'attempt' | 'person' | 'unknown' | 'nobody'
  /** A sentence. */
  readonly why: string
  readonly attempts: readonly string[]
}

export function explainFile(
  file: BranchChange,
  commits: readonly ChangingCommit[],
  recordedWork: RecordedWork,
): PathAuthorship {
  const names = file.from === undefined ? [file.path] : [file.path, file.from]
  const own = (
    category: PathAuthorship['category'],
    why: string,
    attempts: readonly string[] = [],
  ): PathAuthorship => ({
    path: file.path,
    category,
    why,
    attempts,
  })
  const sameContent = recordedWork.contents.filter(
    ({ path, after }) => path === file.path && after === file.after,
  )
  const authored = sameContent.find(({ owners, origin }) => owners.length > 0 && origin !== 'imported')
  if (authored) {
    const authors =
      authored.owners.length > 1
        ? `one of the attempts ${authored.owners.join(', ')}`
        : `attempt ${authored.owners[0]}`
    return own('attempt', `Its content is the one recorded for ${authors}.`, authored.owners)
  }
  const touching = commits.filter(({ paths }) => names.some((name) => paths.includes(name)))
  const unaccounted = touching.filter((commit) => !isAccounted(commit, recordedWork))
  if (touching.length > 0 && unaccounted.length === 0) return accountByCommits(own, touching, recordedWork)
  if (sameContent.some(({ origin }) => origin === 'imported')) {
    return own('unknown', 'It came with a pull, a merge or a switch. Its author is not recorded.')
  }
  // A commit without an attempt stays unexplained, even if a later task records the same content.
  if (sameContent.length > 0 && touching.length === 0) {
    return own('unknown', 'It changed while no attempt was open: by a person or an unrecorded tool.')
  }
  const named = [...new Set(names.flatMap((name) => recordedWork.changedBy.get(name) ?? []))]
  if (named.length > 0) {
    return own(
      'unknown',
      `${named.length === 1 ? 'Attempt' : 'Attempts'} ${named.slice(0, 3).join(', ')} changed it, but its content here was not recorded.`,
      named,
    )
  }
  if (touching.length === 0) {
    return own(
      'unknown',
      recordedWork.isCut
        ? 'The commits that changed it are not in this clone.'
        : 'No commit of the branch changes it.',
    )
  }
  const first = unaccounted.at(-1)
  if (unaccounted.every(({ committedAt }) => committedAt <= recordedWork.since - second)) {
    return own('unknown', 'It was committed before anything was recorded.')
  }
  const open = recordedWork.open.find(({ openedAt }) =>
    unaccounted.some(({ committedAt }) => committedAt >= openedAt - second),
  )
  if (open) {
    return own('unknown', `Attempt ${open.id} is open: its changes are measured when it ends.`, [open.id])
  }
  const more = unaccounted.length > 1 ? ` and ${formatCount(unaccounted.length - 1, 'other commit')}` : ''
  return own(
    'nobody',
    `Commit ${first?.id.slice(0, 12)} by ${first?.author} <${first?.email}>${more} changed it. No recorded attempt did, and the address belongs to no known person. If it is a person’s, name it: --people <address>, or on a server, for good: waymark person add <name> --email <address>`,
  )
}

// Commit times are whole seconds.
const second = 1_000

function isAccounted({ id, email }: ChangingCommit, { commits, people }: RecordedWork): boolean {
  return commits.has(id) || people.has(email.toLowerCase())
}

function accountByCommits(
  own: (category: PathAuthorship['category'], why: string, attempts?: readonly string[]) => PathAuthorship,
  touching: readonly ChangingCommit[],
  { commits }: RecordedWork,
): PathAuthorship {
  const attempts = [...new Set(touching.flatMap(({ id }) => commits.get(id) ?? []))]
  if (attempts.length > 0) {
    return own('attempt', `Its commits are recorded for ${attempts.slice(0, 3).join(', ')}.`, attempts)
  }
  const authors = [...new Set(touching.map(({ author }) => author))]
  return own('person', `git names ${authors.slice(0, 3).join(', ')} as its author, which anyone can set.`)
}
