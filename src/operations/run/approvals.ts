import type { Happening } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import { approvedContent } from '../../domain/gate/approved-content.ts'
import { isOfType } from '../../domain/gate/artifact-type.ts'
import type { ApprovalFact } from '../../domain/gate/evidence.ts'
import type { Run } from '../../domain/gate/run.ts'
import type { RunApproval } from '../../domain/gate/run-record.ts'
import type { Setting } from '../../domain/id.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { changedMeanwhile } from '../decision/changed-meanwhile.ts'
import type { Outside } from './evidence/outside.ts'

/** An approval as a person gives it. */
export interface GivenApproval {
  readonly role: string
  /** A type of artifacts; null for the run in its state. */
  readonly of: string | null
  readonly reason: string | null
  /** What they were shown of it, as it was just before: a change since then is refused. */
  readonly shown?: string | null
}

export interface Approving {
  readonly loaded: LoadedRun
  readonly run: Run
  readonly outside: Outside
  readonly handling: Handling
  /** Who brought the run to its state, and so cannot approve that. */
  readonly mover: string | null
}

/** Binds approvals to what is there now. Fails when there is nothing of that type to approve, or it is one's own work. */
export function giveApprovals(
  { loaded, run, outside, handling, mover }: Approving,
  given: readonly GivenApproval[],
  setting: Setting,
): { readonly happenings: readonly Happening[]; readonly facts: readonly ApprovalFact[] } {
  const { record, definition, artifacts } = loaded
  const by = handling.actor.name
  const approvals = given.map(({ role, of, reason, shown }): RunApproval => {
    const content = approvedContent(definition, run, { of, tree: outside.tree })
    if (content === null) {
      throw new Failure('REFUSED', `Run ${record.id} has no "${of}" that could be approved.`, {
        hint: `waymark get-state ${record.id} shows what was handed in.`,
      })
    }
    if (
      artifacts.some(
        (artifact) => artifact.by === by && (of === null || isOfType(definition.artifacts, artifact, of)),
      )
    ) {
      throw new Failure(
        'FORBIDDEN',
        `${by} handed in what is to be approved in run ${record.id}: nobody approves their own work.`,
        {
          hint: 'Ask somebody else to approve it.',
        },
      )
    }
    if (of === null && mover === by) {
      throw new Failure(
        'FORBIDDEN',
        `${by} brought run ${record.id} to "${record.state}", which is to be approved: nobody approves their own work.`,
        { hint: 'Ask somebody else to approve it.' },
      )
    }
    const fingerprint = handling.fingerprint(content)
    if (shown !== undefined && shown !== fingerprint) throw changedMeanwhile(record.id)
    return { runId: record.id, role, of, content: fingerprint, reason, by, at: setting.at }
  })
  return {
    happenings: approvals.map((approval) => ({
      kind: 'run.approved',
      runId: record.id,
      missionId: record.missionId,
      taskId: record.taskId,
      approval,
    })),
    facts: approvals.map(({ role, of }) => ({ role, of, by, byAuthor: false, current: true })),
  }
}
