import { describe, expect, test } from 'vitest'
import type { Actor } from '../../kernel/actor.ts'
import type { AttemptId } from '../../kernel/id.ts'
import { isOfOtherSession } from './task.ts'

const agent: Actor = { name: 'codex', kind: 'agent', role: null, channel: 'stdio' }

describe('another session', () => {
  const one = { connection: 'c1' }
  test.each<readonly [string, Partial<Actor>, Partial<Actor>, readonly string[], boolean]>([
    ['has another connection', one, { connection: 'c2' }, [], true],
    [
      'is none on the same connection, under another name',
      one,
      { ...one, name: 'x', agentName: 'x' },
      [],
      false,
    ],
    ['is none on the same connection, after its client began a new one', one, one, ['s1', 's2'], false],
    ['is none whose hooks say that it is the same', one, { connection: 'c2' }, ['s1', 's1'], false],
    ['is one whose hooks say that it is another', {}, {}, ['s1', 's2'], true],
    ['is not known without a connection', {}, { name: 'x' }, [], false],
    ['is not known of a command of an agent', one, { channel: 'cli' }, [], false],
    ['is that of a person', one, { kind: 'person', channel: 'cli' }, [], true],
    ['has another token', { token: 'a' }, { token: 'b' }, [], true],
    [
      'is not known of one agent of a person on two connections',
      { ...one, person: 'ada' },
      { connection: 'c2', person: 'ada' },
      [],
      false,
    ],
    ['is not known with the same token', { token: 'a' }, { token: 'a' }, [], false],
  ])('%s', (_, first, second, sessions, expected) => {
    const attempts = [first, second].map((actor, at) => ({
      id: `a-${at}` as AttemptId,
      actor: { ...agent, ...actor },
    }))
    const sessionOf = new Map(sessions.map((session, at) => [`a-${at}`, session]))
    const [own, other] = attempts
    if (!own || !other) throw new Error('two attempts')
    expect(isOfOtherSession(own, other, sessionOf)).toBe(expected)
    expect(isOfOtherSession(other, own, sessionOf)).toBe(expected)
  })
})
