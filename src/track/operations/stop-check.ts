import type { Outcome } from '../../events/domain/project-event.ts'
import type { WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import { promisesOf } from '../../plan/operations/done-when.ts'
import { sentBackBefore } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Attempt } from '../domain/task.ts'
import { fixText, reasonText, type VerdictRule } from '../domain/verdict.ts'
import { comparedContents, comparisonBrief } from './compare-contents.ts'
import { judgeCompletion, taskTraces, tracesBrief, workOfOthers } from './judge-completion.ts'
import {
  attemptChanges,
  attemptEnds,
  attemptEndsBrief,
  changesAround,
  changesBrief,
  endedTree,
  measurementOf,
} from './measure-attempt.ts'
import { withMergedWork } from './merged-work.ts'
import { tasksOfSession } from './session-work.ts'

/** What an agent can still put right before it stops. */
const checkedRules: readonly VerdictRule[] = ['nothing_changed', 'keeps_changed', 'tests_weakened']

const nothingClaimed: Outcome = {
  summary: '',
  achievements: [],
  limitations: [],
  nextSteps: [],
  manualReviewNeeded: false,
  manualReviewReason: null,
  packagesAdded: [],
  packagesRemoved: [],
  commandsExecuted: [],
  testsStatus: null,
  tokensInput: null,
  tokensOutput: null,
}

/** Why a success would be contradicted if the attempt ended now, without its words and its checks. */
export async function stopReasons(
  reads: Reads,
  attempt: Attempt,
  workTree: WorkTree,
): Promise<readonly string[]> {
  const [measured] = await attemptEnds.measure(workTree, attemptEndsBrief({}, [attempt]), {})
  const task = await reads.tasks.find(attempt.taskId)
  if (measured === undefined || task === null) return []
  const state = { attempt, end: endedTree({ clock: { now: workTree.now } }, measured) }
  const [activity, related, promises, sentBackAt] = await Promise.all([
    changesAround(reads, state),
    reads.tasks.relatedAttempts(attempt),
    promisesOf(reads, task),
    sentBackBefore(reads, attempt),
  ])
  const brief = changesBrief(state, activity)
  const [changes] = brief === null ? [] : await attemptChanges.measure(workTree, [brief], {})
  const evidence = measurementOf(state, activity, await withMergedWork(reads, attempt, changes))
  const completion = {
    attempt,
    status: 'success' as const,
    outcome: nothingClaimed,
    evidence,
    sessionTasks: await tasksOfSession(reads, attempt, evidence.changes),
    related,
    promises,
    checks: [],
    content: null,
    sentBackAt,
    others: await workOfOthers(reads, attempt, { related, sentBackAt }),
    isAmended: false,
  }
  const [traces, comparison] = [tracesBrief(completion), comparisonBrief(completion)]
  const [found, compared] = await Promise.all([
    traces === null ? undefined : taskTraces.measure(workTree, traces, {}),
    comparison === null ? undefined : comparedContents.measure(workTree, comparison, {}),
  ])
  const { verdict } = judgeCompletion(completion, found, compared)
  const reasons = verdict?.reasons.filter(({ rule }) => checkedRules.includes(rule)) ?? []
  return reasons.map((reason) => `${reasonText(reason)} ${fixText(reason.fix ?? '', attempt.taskId)}`.trim())
}
