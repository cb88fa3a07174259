import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { runOf } from './run.ts'

function rounds(fresh: string): string {
  return `process:
  dialect: 1
  id: rounds-${fresh}
  version: "1.0.0"
  name: Rounds
  initial_state: write
roles:
  - { name: agent, kind: agent }
  - { name: reviewer, kind: human }
states:
  - { name: write }
  - { name: check }
  - { name: review }
  - { name: done, is_final: true }
events:
  - { name: hand_in, allowed_roles: [agent] }
  - { name: checked, allowed_roles: [agent] }
  - { name: accept, allowed_roles: [reviewer] }
  - { name: send_back, allowed_roles: [reviewer] }
transitions:
  - { from: write, event: hand_in, to: check }
  - { from: check, event: checked, to: review, guard: has_note }
  - { from: review, event: accept, to: done }
  - { from: review, event: send_back, to: write }
guards:
  has_note: { type: artifact, artifact_type: note, condition: exists }
artifacts:
  - { type: note, paths: ["note.md"], fresh: ${fresh} }
`
}

/** A run that was sent back once, and stands in check again; its note is from the first round. */
async function sentBack(fresh: string, inFirstCheck: boolean) {
  const run = await runOf(rounds(fresh))
  run.project.write('note.md', 'Note.')
  await run.emit('hand_in', inFirstCheck ? {} : { artifact_paths: ['note.md'] })
  return run
}

test('fresh: state counts what came since the state was entered, and not what came with the event into it', async () => {
  const run = await sentBack('state', false)
  expect((await run.refused('checked')).hint).toContain('note.md was submitted before this state')
  expect(await run.emit('checked', { artifact_paths: ['note.md'] })).toMatchObject({ state_changed: true })
})

test('fresh: loop counts what came since the last round began', async () => {
  const run = await sentBack('loop', false)
  await run.emit('checked')
  await run.emit('send_back', {}, person)
  await run.emit('hand_in')
  expect((await run.refused('checked')).hint).toContain('note.md was submitted in an earlier round')
  expect(await run.emit('checked', { artifact_paths: ['note.md'] })).toMatchObject({ state_changed: true })
})

test('fresh: loop counts what comes with an event on the way forward again', async () => {
  const run = await sentBack('loop', false)
  await run.emit('checked')
  await run.emit('send_back', {}, person)
  await run.emit('hand_in', { artifact_paths: ['note.md'] })
  expect(await run.emit('checked')).toMatchObject({ state_changed: true })
  await run.emit('send_back', {}, person)
  await run.emit('hand_in')
  expect((await run.refused('checked')).hint).toContain('note.md was submitted in an earlier round')
})

test('fresh: run, the default, counts what ever came', async () => {
  const run = await sentBack('run', false)
  await run.emit('checked')
  await run.emit('send_back', {}, person)
  await run.emit('hand_in')
  expect(await run.emit('checked')).toMatchObject({ state_changed: true })
})
