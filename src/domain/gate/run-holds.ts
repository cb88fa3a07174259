import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import type { Hold, HoldRequest } from '../track/records.ts'
import { isOfChanges } from './approved-content.ts'
import { awaitedDecision } from './awaited-decision.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import type { RunRecord } from './run-record.ts'

/** What a run waits for in its state, as a hold for a person; null when it waits for nobody. */
export function decisionHold(definition: ProcessDefinition, run: RunRecord, setting: Setting): Hold | null {
  const awaited = awaitedDecision(definition, run.state)
  if (awaited === null) return null
  const { state, revision } = run
  const request: HoldRequest = { kind: 'decision', state, revision, ...awaited }
  return runHold(
    run,
    { kind: 'approval', request, reason: decisionReason(definition, run, request) },
    setting,
  )
}

/** Ends what a run waited for, because it moved on. */
export function endDecisions(holds: readonly Hold[], answer: string): readonly Happening[] {
  return ended(holds, ['approval'], answer)
}

/** Ends all that a run waited for, questions about its commands too, because it ended. */
export function endQuestions(holds: readonly Hold[], answer: string): readonly Happening[] {
  return ended(holds, ['approval', 'command'], answer)
}

function ended(holds: readonly Hold[], kinds: readonly Hold['kind'][], answer: string): readonly Happening[] {
  return holds
    .filter(({ kind, status }) => kinds.includes(kind) && status === 'open')
    .map(({ id, missionId, taskId }) => ({
      kind: 'hold.closed',
      holdId: id,
      missionId,
      taskId,
      status: 'resolved',
      answer,
    }))
}

/** A hold about a run, open from now on. */
export function runHold(
  run: Pick<RunRecord, 'id' | 'missionId' | 'taskId'>,
  about: { readonly kind: 'approval' | 'command'; readonly request: HoldRequest; readonly reason: string },
  setting: Setting,
): Hold {
  return {
    id: setting.ids.next('hold'),
    kind: about.kind,
    missionId: run.missionId,
    phaseId: null,
    taskId: run.taskId,
    attemptId: null,
    issueId: null,
    runId: run.id,
    request: about.request,
    reason: about.reason,
    paths: [],
    openedBy: 'waymark',
    openedAt: setting.at,
    status: 'open',
    answer: null,
    closedBy: null,
    closedAt: null,
  }
}

function decisionReason(
  definition: ProcessDefinition,
  run: RunRecord,
  { events, approvals }: Extract<HoldRequest, { kind: 'decision' }>,
): string {
  const what = stateNamed(definition, run.state)?.description
  const asked = [
    ...approvals.map(
      ({ role, of }) => `an approval${of === null ? '' : ` of ${approvedWords(definition, of)}`} by ${role}`,
    ),
    ...(events.length === 0 ? [] : [events.join(' or ')]),
  ]
  const described = what === null || what === undefined ? '' : ` (${what})`
  return `${definition.name}, run ${run.id}, is in "${run.state}"${described} and waits for ${asked.join(', ')}.`
}

function approvedWords(definition: ProcessDefinition, of: string): string {
  return isOfChanges(definition, of) ? 'the measured changes' : of
}
