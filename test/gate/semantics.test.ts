import { expect, test } from 'vitest'
import { transition } from '../../src/gate/domain/engine.ts'
import type { EventRequest } from '../../src/gate/domain/event-request.ts'
import { possibleEvent } from '../../src/gate/domain/possible-events.ts'
import { beginRun, type Run } from '../../src/gate/domain/run.ts'
import { runProgress } from '../../src/gate/domain/transitions.ts'
import { artifactOf, definitionIn, eventRequest, reviewer, smallProcess } from '../support/processes.ts'

const small = definitionIn(smallProcess)
const planned = { payload: { summary: 'Do it' }, artifacts: [artifactOf('plan', 'docs/plan.md')] }
const note = (name: string) => artifactOf('observation', `notes/${name}.md`)

function after(run: Run, ...eventRequests: readonly Parameters<typeof eventRequest>[]): Run {
  return eventRequests.reduce((current, args) => {
    const result = transition(small, current, eventRequest(...args))
    if (!result.accepted) throw new Error(`${args[0]}: ${result.code} ${result.message}`)
    return result.run
  }, run)
}

const begun = beginRun(small)
const building = after(begun, ['submit_plan', planned])
const reviewing = after(building, ['submit_build', { artifacts: [note('a'), note('b')] }])

test('SG-053 SG-051 SG-054 SG-052 semantics 1: checks go from the finished run to the guards, and the first one answers', () => {
  const codeOf = (run: Run, ...args: Parameters<typeof eventRequest>) => {
    const result = transition(small, run, eventRequest(...args))
    return result.accepted ? 'accepted' : result.code
  }
  const finished = after(begun, ['abandon'])
  const wrong = {
    expectedRevision: 9,
    payload: { summary: 3 },
    emitter: { role: 'nobody', kind: 'agent' },
  } as const
  const { expectedRevision: _, ...unrevised } = wrong
  expect(codeOf(finished, 'nothing', wrong)).toBe('RUN_FINISHED')
  expect(codeOf(begun, 'nothing', wrong)).toBe('REVISION_CONFLICT')
  expect(codeOf(begun, 'nothing', unrevised)).toBe('INVALID_EVENT')
  expect(codeOf(begun, 'approve', unrevised)).toBe('INVALID_EVENT')
  expect(codeOf(begun, 'submit_plan', unrevised)).toBe('FORBIDDEN')
  expect(codeOf(begun, 'submit_plan', { payload: { summary: 3 } })).toBe('INVALID_PAYLOAD')
  expect(codeOf(begun, 'submit_plan', { payload: { summary: 'x' } })).toBe('GUARD_FAILED')
  expect(codeOf(begun, 'submit_plan', planned)).toBe('accepted')
})

test('SG-040 SG-050 semantics 1: a conflict of revisions says which one is current', () => {
  expect(
    transition(small, { ...begun, revision: 5 }, eventRequest('submit_plan', { expectedRevision: 3 })),
  ).toMatchObject({
    code: 'REVISION_CONFLICT',
    message: 'Expected revision 3, but current is 5',
    currentRevision: 5,
  })
})

test('SG-041 semantics 2: a blocked event is refused by default, with every missing guard and its reason', () => {
  const result = transition(small, begun, eventRequest('submit_plan', { payload: { summary: 'x' } }))
  expect(result).toMatchObject({
    code: 'GUARD_FAILED',
    message: 'Guard conditions not satisfied',
    missing: [{ name: 'required_artifacts.plan' }],
  })
})

test('SG-039 semantics 2: when_blocked: record keeps the evidence, stays, and counts on', () => {
  const result = transition(small, building, eventRequest('submit_build', { artifacts: [note('a')] }))
  expect(result).toMatchObject({
    accepted: true,
    from: 'build',
    to: 'build',
    stateChanged: false,
    unsatisfied: [
      { name: 'enough', reason: 'not enough "observation" (now: 1, needed: 2)', fix: 'Look again.' },
    ],
    run: { state: 'build', revision: building.revision + 1, context: building.context },
  })
  if (!result.accepted) return
  expect(after(result.run, ['submit_build', { artifacts: [note('b')] }]).state).toBe('review')
  expect(result.run.visits).toEqual(building.visits)
})

test('semantics 3: of several transitions the first one that holds is taken, in the order of the file', () => {
  expect(after(reviewing, ['approve', reviewer]).state).toBe('done')
  expect(after({ ...reviewing, context: { risk: 'high' } }, ['approve', reviewer]).state).toBe('plan')
})

test('semantics 3: the original’s dialect tries guarded transitions first', () => {
  const swapped = smallProcess
    .replace('  - { from: review, event: approve, to: done, guard: low_risk }\n', '')
    .replace('to: plan }\n', 'to: plan }\n  - { from: review, event: approve, to: done, guard: low_risk }\n')
  const original = definitionIn(swapped.replace('  dialect: 1\n', ''))
  expect(transition(original, reviewing, eventRequest('approve', reviewer))).toMatchObject({ to: 'done' })
  expect(transition(definitionIn(swapped), reviewing, eventRequest('approve', reviewer))).toMatchObject({
    to: 'plan',
  })
})

test('SG-036 semantics 5: a run begins at revision 1, and each accepted event adds one', () => {
  expect([begun.revision, building.revision, reviewing.revision]).toEqual([1, 2, 3])
})

test('semantics 6: a guard sees the context before the event, and its payload and artifacts', () => {
  const definition = definitionIn(
    smallProcess.replace('variable: risk, condition: equals', 'variable: $.payload.risk, condition: equals'),
  )
  const approve = (payload: object) => {
    const result = transition(
      definition,
      reviewing,
      eventRequest('approve', { ...reviewer, payload: { ...payload } }),
    )
    return result.accepted ? result.to : result.code
  }
  expect(approve({ risk: 'low' })).toBe('done')
  expect(approve({ risk: 'high' })).toBe('plan')
})

test('semantics 6: a payload reaches the context only by assign, checked against its schema', () => {
  expect(building.context).toEqual({ risk: 'low', summary: 'Do it' })
  const other = { ...planned, payload: { summary: 'Do it', more: 1 } }
  expect(after(begun, ['submit_plan', other]).context).toEqual({ risk: 'low', summary: 'Do it' })
  const wrong = { ...planned, payload: { summary: 'Do it', risk: 'enormous' } }
  expect(transition(small, begun, eventRequest('submit_plan', wrong))).toMatchObject({
    code: 'INVALID_PAYLOAD',
    validationErrors: [{ path: '/risk' }],
  })
  const merging = definitionIn(
    smallProcess.replace('to: build, assign', 'to: build, merge_payload: true, assign'),
  )
  const result = transition(merging, begun, eventRequest('submit_plan', other))
  expect(result.accepted && result.run.context).toEqual({ risk: 'low', summary: 'Do it', more: 1 })
})

test('semantics 8: required artifacts guard every way out of a state but an escape', () => {
  const blocked = transition(small, begun, eventRequest('submit_plan', { payload: { summary: 'x' } }))
  expect(blocked).toMatchObject({ accepted: false, missing: [{ name: 'required_artifacts.plan' }] })
  expect(after(begun, ['abandon']).state).toBe('abandoned')
})

test('semantics 8: evidence that must be of this stay in the state is asked for again on return', () => {
  const back = after({ ...reviewing, context: { risk: 'high' } }, ['approve', reviewer])
  const again = transition(small, back, eventRequest('submit_plan', { payload: { summary: 'x' } }))
  expect(again.accepted).toBe(false)
  expect(after(back, ['submit_plan', planned]).state).toBe('build')
})

test('a state that was entered as often as it may be is not entered again', () => {
  const again = after(reviewing, ['send_back', reviewer])
  const once = after(again, ['submit_build', { artifacts: [note('c')] }])
  expect(transition(small, once, eventRequest('send_back', reviewer))).toMatchObject({
    code: 'GUARD_FAILED',
    missing: [{ name: 'max_visits.build' }],
  })
})

const possibleIn = (run: Run, situation: EventRequest) =>
  small.events.map((event) => possibleEvent(small, run, { event, situation }))

test('SG-024 SG-025 semantics 9: an event may be attempted although its guard is unsatisfied; others say where', () => {
  const events = possibleIn(building, eventRequest(''))
  const of = (name: string) => events.find(({ event }) => event.name === name)
  expect(of('submit_build')).toMatchObject({
    isAllowed: true,
    blockedReason: null,
    wouldTransitionTo: null,
    transitions: [
      { to: 'review', guard: 'enough', guardStatus: 'unsatisfied', missing: [{ name: 'enough' }] },
    ],
  })
  expect(of('abandon')).toMatchObject({
    wouldTransitionTo: 'abandoned',
    transitions: [{ guardStatus: 'no_guard' }],
  })
  expect(of('submit_plan')).toMatchObject({
    isAllowed: false,
    blockedReason: 'Cannot be emitted in "build", only in plan.',
  })
  const asReviewer = possibleIn(building, eventRequest('', reviewer))
  expect(asReviewer.find(({ event }) => event.name === 'submit_build')).toMatchObject({ isAllowed: false })
})

test('semantics 11: a run in a final state takes no event, not even an escape', () => {
  const finished = after(reviewing, ['approve', reviewer])
  expect(transition(small, finished, eventRequest('abandon'))).toMatchObject({ code: 'RUN_FINISHED' })
  expect(possibleIn(finished, eventRequest('')).every(({ isAllowed }) => !isAllowed)).toBe(true)
})

test('semantics 13: an agent cannot act in a role for people', () => {
  const posing = eventRequest('approve', { emitter: { role: 'reviewer', kind: 'agent' } })
  expect(transition(small, reviewing, posing)).toMatchObject({
    code: 'FORBIDDEN',
    message: 'Role "reviewer" is for people; an agent cannot hold it.',
  })
  expect(transition(small, reviewing, eventRequest('abandon', { emitter: posing.emitter }))).toMatchObject({
    accepted: false,
  })
})

test('SG-045 semantics 15: progress tells the states that were left, those ahead, and the fewest steps to an end', () => {
  expect(runProgress(small, reviewing)).toEqual({
    completedStates: ['plan', 'build'],
    currentState: 'review',
    remainingStates: ['done', 'plan', 'build', 'abandoned'],
    fewestStepsToEnd: 1,
  })
})
