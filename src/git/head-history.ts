import type { ReflogEntry } from './reflog.ts'

const none = /^0+$/

/** A commit that the task made, and what it was made on. */
export interface OwnCommit {
  readonly commit: string
  /** What an amended commit replaced: then only the difference to it is the task's. */
  readonly insteadOf: string | null
}

/** How HEAD went from one snapshot to the next. */
export interface HeadHistory {
  /** Where HEAD was, from the first to the last, without the unborn state. */
  readonly positions: readonly string[]
  readonly own: readonly OwnCommit[]
  /** Replays of earlier commits on a new base: no work and no arrival by themselves. */
  readonly replayed: readonly string[]
  /** Branches that HEAD left, and the commit that it left them at. */
  readonly departures: readonly { readonly branch: string; readonly commit: string }[]
}

const ownVerbs = ['commit', 'cherry-pick', 'revert', 'am']

/** Whether an entry of the reflog is the task's own work, or git moving HEAD. */
export function isOwn({ verb, detail }: ReflogEntry): boolean {
  if (detail === 'continue' && (verb === 'rebase' || verb === 'pull')) return true
  return ownVerbs.includes(verb)
}

/** Reads the reflog's entries as a history. */
export function headHistory(start: string | null, entries: readonly ReflogEntry[]): HeadHistory {
  const positions = new Set(start === null ? [] : [start])
  const own: OwnCommit[] = []
  const replayed: string[] = []
  const departures: { branch: string; commit: string }[] = []
  for (const entry of entries) {
    const { from, to, verb, detail, message } = entry
    for (const commit of [from, to]) if (!none.test(commit)) positions.add(commit)
    if (isOwn(entry)) own.push({ commit: to, insteadOf: detail === 'amend' ? from : null })
    else if (isReplay(entry)) replayed.push(to)
    const branch = verb === 'checkout' ? /^checkout: moving from (.*) to /.exec(message)?.[1] : undefined
    if (branch !== undefined && !none.test(from)) departures.push({ branch, commit: from })
  }
  return { positions: [...positions], own, replayed, departures }
}

function isReplay({ verb, detail, from, to }: ReflogEntry): boolean {
  const rebasing = verb === 'rebase' || verb === 'pull'
  return rebasing && from !== to && ['pick', 'squash', 'fixup', 'reword', 'edit'].includes(detail)
}
