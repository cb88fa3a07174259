import { describe, expect, test } from 'vitest'
import { aMission, anAttempt, anItem, aPhase, aTask } from '../../../test/support/entities.ts'
import { settingAt } from '../../../test/support/setting.ts'
import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import type { PhaseId, TaskId } from '../../kernel/id.ts'
import { type CompletionRequest, type CompletionSituation, endAttempt } from './completion.ts'

const outcome: Outcome = {
  summary: 'Done.',
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

const evidence: AttemptMeasurement = {
  measurement: 'exact',
  changes: [],
  ignored: { added: [], modified: [], deleted: [] },
  scope: { matches: true, unexpected: [] },
  warnings: [],
  endSnapshot: null,
}

function request(changes: Partial<CompletionRequest> = {}): CompletionRequest {
  const { actor } = anAttempt()
  return {
    actor,
    status: 'success',
    outcome,
    phaseComplete: false,
    evidence,
    restored: [],
    verdict: null,
    ...changes,
  }
}

function situation(changes: Partial<CompletionSituation> = {}): CompletionSituation {
  return {
    task: aTask(),
    attempt: anAttempt(),
    mission: aMission(),
    phase: null,
    openSubtasks: [],
    undoneInPhase: 1,
    openInPhase: [],
    openItemsOfPhase: [],
    wasPlanned: false,
    isPhaseFree: true,
    isOtherOpen: false,
    stepsToDo: 0,
    isGated: false,
    items: [],
    verdictItems: [],
    reviewItems: [],
    scopeItems: [],
    sentBack: null,
    waiting: { gate: 'blockers', completion: 'review', openItemsOfMission: 0 },
    ...changes,
  }
}

const consequenceKinds = (completed: ReturnType<typeof endAttempt>) =>
  completed.consequences.map(({ kind }) => kind)

test('open subtasks refuse a completion and are named, unless the task failed', () => {
  const openSubtasks = [aTask({ id: 't-2' as TaskId, name: 'Cookies' })]
  expect(() => endAttempt(request(), situation({ openSubtasks }), settingAt(9))).toThrow(/t-2 "Cookies"/)
  const failed = endAttempt(request({ status: 'failed' }), situation({ openSubtasks }), settingAt(9))
  expect(failed.notes.join()).toContain('t-2')
})

describe('items', () => {
  test('a review asked for is an inbox item with its reason', () => {
    const withReview = { ...outcome, manualReviewNeeded: true, manualReviewReason: 'Check the cookie flags.' }
    const [opened] = endAttempt(request({ outcome: withReview }), situation(), settingAt(9)).consequences
    expect(opened).toMatchObject({
      kind: 'inbox.opened',
      item: { kind: 'review', reason: 'Check the cookie flags.', openedBy: 'builder' },
    })
  })

  test('work that was sent back is an inbox item that no agent asked for', () => {
    const returned = situation({ sentBack: { author: 'Robin', text: 'Correct the claim.' } })
    const [opened] = endAttempt(request(), returned, settingAt(9)).consequences
    expect(opened).toMatchObject({ kind: 'inbox.opened', item: { kind: 'review', openedBy: 'waymark' } })
    expect(opened).toMatchObject({ item: { reason: expect.stringContaining('Correct the claim.') } })
  })

  test('files outside the scope are an inbox item that names them', () => {
    const out = { ...evidence, scope: { matches: false, unexpected: ['utils.ts'] } }
    const [opened] = endAttempt(request({ evidence: out }), situation(), settingAt(9)).consequences
    expect(opened).toMatchObject({ kind: 'inbox.opened', item: { kind: 'scope', paths: ['utils.ts'] } })
  })

  test('an unknown scope verdict opens nothing', () => {
    const unknown = { ...evidence, scope: { matches: null, unexpected: [] } }
    expect(consequenceKinds(endAttempt(request({ evidence: unknown }), situation(), settingAt(9)))).toEqual(
      [],
    )
  })

  test('an inbox item about the silence of the attempt ends with it', () => {
    const items = [anItem({ kind: 'stale_attempt' }), anItem({ kind: 'blocker' })]
    expect(consequenceKinds(endAttempt(request(), situation({ items }), settingAt(9)))).toEqual([
      'inbox.closed',
    ])
  })
})

describe('phases', () => {
  test('phase_complete completes the phase of the attempt', () => {
    const phase = aPhase(1)
    const completed = endAttempt(request({ phaseComplete: true }), situation({ phase }), settingAt(9))
    expect(consequenceKinds(completed)).toEqual(['phase.completed'])
    expect(completed.phase).toMatchObject({ status: 'completed', completedAt: 9 })
  })

  test('phase_complete is refused while the phase has open tasks, and names them', () => {
    const openInPhase = [{ id: 't-8' as TaskId, name: 'Write the tests', hasFailed: false }]
    const held = situation({ phase: aPhase(1), openInPhase })
    expect(() => endAttempt(request({ phaseComplete: true }), held, settingAt(9))).toThrow(
      /phase 1 "Phase 1": it has open tasks: t-8 "Write the tests"/,
    )
    const failed = situation({
      phase: aPhase(1),
      openInPhase: openInPhase.map((task) => ({ ...task, hasFailed: true })),
      openItemsOfPhase: [anItem({ kind: 'blocker' })],
    })
    const completed = endAttempt(request({ phaseComplete: true }), failed, settingAt(9))
    expect(consequenceKinds(completed)).toEqual(['phase.completed'])
    expect(completed.notes).toEqual([
      'The phase was completed with failed tasks: t-8 "Write the tests".',
      expect.stringMatching(/^The phase was completed with open inbox items: h-\S+ \(blocker\)\.$/),
    ])
  })

  test('the last planned task of a phase completes it; an unplanned one does not', () => {
    const last = situation({
      phase: aPhase(1),
      task: aTask({ phaseId: 'ph-1' as PhaseId }),
      wasPlanned: true,
    })
    expect(consequenceKinds(endAttempt(request(), last, settingAt(9)))).toEqual(['phase.completed'])
    expect(consequenceKinds(endAttempt(request({ status: 'failed' }), last, settingAt(9)))).toEqual([])
    expect(consequenceKinds(endAttempt(request(), { ...last, wasPlanned: false }, settingAt(9)))).toEqual([])
    expect(consequenceKinds(endAttempt(request(), { ...last, isPhaseFree: false }, settingAt(9)))).toEqual([])
    expect(consequenceKinds(endAttempt(request(), { ...last, undoneInPhase: 2 }, settingAt(9)))).toEqual([])
  })

  test('phase_complete without a phase changes nothing and says so', () => {
    const completed = endAttempt(request({ phaseComplete: true }), situation(), settingAt(9))
    expect(consequenceKinds(completed)).toEqual([])
    expect(completed.notes.join()).toContain('no phase')
  })
})

describe('a workflow', () => {
  const mission = aMission({ kind: 'workflow' })

  test('ends by itself with its last task', () => {
    expect(consequenceKinds(endAttempt(request(), situation({ mission }), settingAt(9)))).toEqual([
      'mission.ended',
    ])
  })

  test('goes on while something is open, to do, or has failed', () => {
    const goesOn = (changes: Partial<CompletionSituation>, completion = request()) =>
      expect(
        consequenceKinds(endAttempt(completion, situation({ mission, ...changes }), settingAt(9))),
      ).toEqual([])
    goesOn({ isOtherOpen: true })
    goesOn({ stepsToDo: 1 })
    goesOn({}, request({ status: 'failed' }))
  })
})
