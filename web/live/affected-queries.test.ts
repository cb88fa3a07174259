import { expect, test } from 'vitest'
import type { Frame } from '../../src/surfaces/http/client/client.ts'
import { isAffectedBy } from './affected-queries.ts'

const frame = (event: Frame['event'], data: Frame['data'] = null): Frame => ({
  seq: 1,
  n: 0,
  event,
  happened_at: '2026-03-01T10:00:00.000Z',
  actor: { name: 'mira', kind: 'agent', role: null, channel: 'stdio' },
  data,
})

test('a query is read again after log entries about the kinds of entities that it shows', () => {
  expect(isAffectedBy('board', {}, frame('task:claimed'))).toBe(true)
  expect(isAffectedBy('board', {}, frame('decision:created'))).toBe(false)
  expect(isAffectedBy('doctor', {}, frame('task:updated'))).toBe(false)
})

test('what names another mission, task or run does not concern a query about one; what names none may', () => {
  const about = (mission_id: string | null) => frame('inbox:opened', { mission_id })
  expect(isAffectedBy('mission_timeline', { id: 'm-1234' }, about('m-1234'))).toBe(true)
  expect(isAffectedBy('mission_timeline', { id: 'm-1234' }, about('m-5678'))).toBe(false)
  expect(isAffectedBy('mission_timeline', { id: 'm-1234' }, about(null))).toBe(true)
  expect(isAffectedBy('mission_timeline', { id: 'm-12' }, about('m-1234'))).toBe(true)
})

test('a run that is shown is read again for its own run, whichever task it is about', () => {
  const about = (run_id: string) => frame('run:moved', { run_id, task_id: 't-1234' })
  expect(isAffectedBy('show', { id: 'run-01a1fd75' }, about('run-01a1fd75'))).toBe(true)
  expect(isAffectedBy('show', { id: 'run-01a1fd75' }, about('run-02b2fe86'))).toBe(false)
  expect(isAffectedBy('show', { id: 'run-01a1fd75' }, frame('turn:ended'))).toBe(false)
})

test('names are read again when something new has one', () => {
  expect(isAffectedBy('search', {}, frame('task:created'))).toBe(true)
  expect(isAffectedBy('search', {}, frame('task:updated'))).toBe(false)
})
