import { formatCount } from '../../kernel/text.ts'
import type { StepCertainty } from '../../lines/domain/line-hashes.ts'

/**
 * Who accounts for the files that a branch changes, by what is recorded. Not known is no guilt: only a file of which the
 * record should know, and knows nothing, is unaccounted for.
 */

/** A file as the branch changes it. `after` is the id of its content at the head; null where it is gone. */
export interface BranchChange {
  readonly path: string
  readonly from?: string
  readonly after: string | null
}

export interface ChangingCommit {
  readonly id: string
  readonly at: number
  readonly email: string
  readonly author: string
  readonly paths: readonly string[]
}

/** A content that was recorded of a path, and whose it is: nobody's where no attempt claimed the time. */
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
  /** The attempts that were measured to have changed a path. */
  readonly changedBy: ReadonlyMap<string, readonly string[]>
  /** Commits that were seen being made by an attempt. */
  readonly commits: ReadonlyMap<string, string>
  /** E-mail addresses of persons, lower case. */
  readonly people: ReadonlySet<string>
  /** Attempts that are open: what they changed is measured when they end. */
  readonly open: readonly { readonly id: string; readonly openedAt: number }[]
  /** When the record began. */
  readonly since: number
  /** The history of this clone is cut. */
  readonly isCut: boolean
}

export interface PathAuthorship {
  readonly path: string
  readonly by: 'attempt' | 'person' | 'unknown' | 'nobody'
  /** A sentence. */
  readonly why: string
  readonly attempts: readonly string[]
}

export function explainFile(
  file: BranchChange,
  commits: readonly ChangingCommit[],
  known: RecordedWork,
): PathAuthorship {
  const names = file.from === undefined ? [file.path] : [file.path, file.from]
  const own = (by: PathAuthorship['by'], why: string, attempts: readonly string[] = []): PathAuthorship => ({
    path: file.path,
    by,
    why,
    attempts,
  })
  const same = known.contents.filter(({ path, after }) => path === file.path && after === file.after)
  const made = same.find(({ owners, origin }) => owners.length > 0 && origin !== 'imported')
  if (made) {
    const who =
      made.owners.length > 1 ? `one of the attempts ${made.owners.join(', ')}` : `attempt ${made.owners[0]}`
    return own('attempt', `Its content is the one recorded for ${who}.`, made.owners)
  }
  const touching = commits.filter(({ paths }) => names.some((name) => paths.includes(name)))
  const unaccounted = touching.filter((commit) => !isAccounted(commit, known))
  if (touching.length > 0 && unaccounted.length === 0) return accountByCommits(own, touching, known)
  if (same.some(({ origin }) => origin === 'imported')) {
    return own('unknown', 'It came with a pull, a merge or a switch. Its author is not recorded.')
  }
  // Without a commit nobody stands for it. With one, the next task that starts must not clear who committed it.
  if (same.length > 0 && touching.length === 0) {
    return own('unknown', 'It changed while no attempt was open: by a person or an unrecorded tool.')
  }
  const named = [...new Set(names.flatMap((name) => known.changedBy.get(name) ?? []))]
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
      known.isCut
        ? 'The commits that changed it are not in this clone.'
        : 'No commit of the branch changes it.',
    )
  }
  const first = unaccounted.at(-1)
  if (unaccounted.every(({ at }) => at <= known.since - second)) {
    return own('unknown', 'It was committed before anything was recorded.')
  }
  const open = known.open.find(({ openedAt }) => unaccounted.some(({ at }) => at >= openedAt - second))
  if (open) {
    return own('unknown', `Attempt ${open.id} is open: its changes are measured when it ends.`, [open.id])
  }
  const more = unaccounted.length > 1 ? ` and ${formatCount(unaccounted.length - 1, 'other commit')}` : ''
  return own(
    'nobody',
    `Commit ${first?.id.slice(0, 12)} by ${first?.author} <${first?.email}>${more} changed it. No recorded attempt did, and the address belongs to no known person.`,
  )
}

// Times of commits have no parts of a second.
const second = 1_000

function isAccounted({ id, email }: ChangingCommit, { commits, people }: RecordedWork): boolean {
  return commits.has(id) || people.has(email.toLowerCase())
}

function accountByCommits(
  own: (by: PathAuthorship['by'], why: string, attempts?: readonly string[]) => PathAuthorship,
  touching: readonly ChangingCommit[],
  { commits }: RecordedWork,
): PathAuthorship {
  const attempts = [...new Set(touching.flatMap(({ id }) => commits.get(id) ?? []))]
  if (attempts.length > 0) {
    return own('attempt', `Its commits are recorded for ${attempts.slice(0, 3).join(', ')}.`, attempts)
  }
  const authors = [...new Set(touching.map(({ author }) => author))]
  return own('person', `git names ${authors.slice(0, 3).join(', ')} as its author: a claim, not measured.`)
}
