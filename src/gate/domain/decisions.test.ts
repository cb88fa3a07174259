import { expect, test } from 'vitest'
import { definitionIn, smallProcess } from '../../../test/support/processes.ts'
import { decisionChoices } from './decisions.ts'

const release =
  definitionIn(`process: { dialect: 1, id: release, version: "1.0.0", name: Release, initial_state: build }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states:
  - { name: build }
  - { name: review }
  - { name: live, is_final: true }
  - { name: dropped, is_final: true, outcome: failed }
events:
  - { name: submit, allowed_roles: [agent] }
  - { name: release, description: Ship it, allowed_roles: [owner] }
  - { name: request_changes, allowed_roles: [owner] }
  - { name: drop, allowed_roles: [owner] }
  - name: schedule
    allowed_roles: [owner]
    payload_schema: { type: object, required: [day, reason], properties: { day: { type: string }, reason: { type: string } } }
transitions:
  - { from: build, event: submit, to: review }
  - { from: review, event: release, to: live, guard: approved }
  - { from: review, event: request_changes, to: build }
  - { from: review, event: drop, to: dropped }
  - { from: review, event: schedule, to: live }
guards: { approved: { type: approval, role: owner } }
`)

test('an event states whether it approves or sends back, and its required fields', () => {
  const events = ['release', 'request_changes', 'drop', 'schedule']
  const choices = decisionChoices(release, 'review', events).map(
    ({ event, answer, sendsBack, approves, asksFor }) => [event, answer, sendsBack, approves, asksFor],
  )
  expect(choices).toEqual([
    ['release', 'other', false, true, []],
    ['request_changes', 'no', true, false, []],
    ['drop', 'other', true, false, []],
    ['schedule', 'other', true, false, ['day']],
  ])
  expect(decisionChoices(release, 'review', events)[0]?.description).toBe('Ship it')
})

test('the event of approve never sends back, even if one of its transitions does', () => {
  const [approve, back] = decisionChoices(definitionIn(smallProcess), 'review', ['approve', 'send_back'])
  expect([approve?.answer, approve?.sendsBack]).toEqual(['yes', false])
  expect([back?.answer, back?.sendsBack]).toEqual(['no', true])
})
