import type { ObservedApproval } from '../evidence.ts'
import { type GuardKind, satisfiedGuard, unsatisfiedGuard } from './guard.ts'

export interface ApprovalGuard {
  readonly type: 'approval'
  readonly role: string
  /** The type of artifact to approve, `changes` for the measured changes; null for the state of the run. */
  readonly artifact: string | null
  /** The number of different people, by identity, whatever their names. */
  readonly count: number
  /** Only independent approvers count; absent if that is not required. */
  readonly independent?: true
}

/** People of a role approved the current content; the author's own approval and outdated ones do not count. */
export const approval: GuardKind<ApprovalGuard> = {
  needs: ({ role, artifact }) => [{ kind: 'approvals', role, artifact }],
  evaluate: ({ role, artifact, count, independent }, { observed }) => {
    const matching = observed.approvals.filter((event) => event.role === role && event.artifact === artifact)
    const valid = matching.filter(({ withdrawn }) => !withdrawn)
    const counted = valid.filter(
      ({ byAuthor, current, independence }) =>
        current && !byAuthor && (!independent || independence === 'independent'),
    )
    const people = peopleOf(counted)
    const subject = artifact === null ? '' : ` of "${artifact}"`
    if (people >= Math.max(count, 1))
      return satisfiedGuard(`${people} of ${count} approvals by ${role}${subject}`)
    const outdated = valid.some(({ current }) => !current) ? '; it changed after an approval' : ''
    const back = withdrawnSuffix(matching)
    const authorNote = valid.some(({ byAuthor }) => byAuthor) ? '; an author cannot approve' : ''
    const close = independent ? independenceSuffix(valid) : ''
    return unsatisfiedGuard(
      `${people} of ${count} approvals by ${role}${subject}${outdated}${back}${authorNote}${close}`,
      `Ask a ${role}${independent ? ' who was not involved' : ''} to approve${artifact === null ? '' : ` the ${artifact}`}: waymark inbox.`,
    )
  },
}

/** The approvers who sent the work back, and have not approved since. */
function withdrawnSuffix(approvals: readonly ObservedApproval[]): string {
  const again = new Set(approvals.filter(({ withdrawn }) => !withdrawn).map(({ identity }) => identity))
  const names = approvals
    .filter(({ withdrawn, identity }) => withdrawn && !again.has(identity))
    .map(({ author }) => author)
  return names.length === 0 ? '' : `; ${[...new Set(names)].join(', ')} sent it back after approving it`
}

/** Why approvals do not count as independent. */
function independenceSuffix(approvals: readonly ObservedApproval[]): string {
  if (approvals.some(({ independence }) => independence === 'own'))
    return '; the person whose agent did the work cannot approve it'
  const unknown = approvals.some(({ independence }) => independence !== 'independent')
  return unknown ? '; the person behind the work is unknown' : ''
}

/** Approvals from before identities were stored count as one person's. */
function peopleOf(approvals: readonly ObservedApproval[]): number {
  const identities = new Set(approvals.flatMap(({ identity }) => identity ?? [])).size
  return identities > 0 ? identities : Math.min(approvals.length, 1)
}
