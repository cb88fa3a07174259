import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { Outcome } from '../../events/domain/project-event.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId } from '../../kernel/id.ts'
import { touchTask } from '../../plan/tables/claim.ts'
import { insertRow } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { VerdictRecord } from '../ports/verdict-reads.ts'

/** Every verdict of an attempt; the last one counts. */
export interface AttemptVerdictTable {
  project_id: string
  seq: number
  attempt_id: string
  /** Null for a failed attempt. */
  verdict: string | null
  /** The rules of its reasons, each once, with spaces between. */
  rules: string
  content: string | null
  body: string
  cause: string
  /** The claim that was judged. */
  summary: string
  author: string
  created_at: number
}

export async function insertVerdict(
  { db, projectId, seq, at, actor }: ProjectionContext,
  {
    attemptId,
    verdict,
    outcome,
    cause,
  }: {
    readonly attemptId: AttemptId
    readonly verdict: Verdict | null
    readonly outcome: Pick<Outcome, 'summary'>
    readonly cause: VerdictRecord['cause']
  },
): Promise<void> {
  await insertRow(db, 'attempt_verdict', {
    project_id: projectId,
    seq,
    attempt_id: attemptId,
    verdict: verdict?.is ?? null,
    rules: [...new Set(verdict?.reasons.map(({ rule }) => rule))].join(' '),
    content: verdict?.content ?? null,
    body: JSON.stringify(verdict),
    cause,
    summary: outcome.summary,
    author: displayName({ actor }),
    created_at: at,
  })
}

export function tokenColumns({ tokensInput, tokensOutput }: Outcome) {
  return { tokens_input: tokensInput, tokens_output: tokensOutput }
}

/** The words of a completion were changed: they replace those before, and its verdict is added. */
export async function recordAmendedEnd(
  projecting: ProjectionContext,
  { attemptId, outcome, verdict, status, inputHash, answer }: ProjectEventOf<'attempt.amended'>,
): Promise<void> {
  const { db, projectId } = projecting
  await db
    .updateTable('attempt_end')
    .set({
      outcome: JSON.stringify(outcome),
      input_hash: inputHash,
      answer: JSON.stringify(answer),
      ...tokenColumns(outcome),
      summary: outcome.summary,
      verdict: verdict?.is ?? null,
    })
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .execute()
  await db
    .updateTable('attempt')
    .set({ status })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .execute()
  await insertVerdict(projecting, { attemptId, outcome, verdict, cause: 'amendment' })
}

/** A result of a check on the content of a completion, or files that left it, changed its verdict. */
export async function applyVerdictChanged(
  projecting: ProjectionContext,
  { attemptId, taskId, verdict, released }: ProjectEventOf<'verdict.changed'>,
): Promise<void> {
  const { db, projectId } = projecting
  const end = await db
    .updateTable('attempt_end')
    .set({ verdict: verdict.is })
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .returning('summary')
    .executeTakeFirstOrThrow()
  await insertVerdict(projecting, { attemptId, outcome: end, verdict, cause: released ? 'release' : 'check' })
  await touchTask(projecting, taskId)
}
