import { expect, test } from 'vitest'
import type { Actor } from '../../kernel/actor.ts'
import type { ProjectEvent } from '../domain/project-event.ts'
import { formatEventLine, parseEventLine } from './event-line.ts'

test('a line of a log keeps all that is known of who acted', () => {
  const actor: Required<Actor> = {
    name: 'builder',
    kind: 'agent',
    role: 'agent',
    channel: 'stdio',
    connection: 'c1',
    agentName: 'ada',
    insideCommand: true,
    identity: 'user:ada',
    token: 'tk-1',
    person: 'u-1',
    machine: 'e-1',
    runner: true,
  }
  const body = { kind: 'command.revoked', hash: 'x', run: 'true', folder: '/', reason: null } as const
  const event: ProjectEvent = { seq: 1, recordedAt: 2, version: 1, actor, body, hash: 'abc' }
  expect(parseEventLine(formatEventLine(event), 2)).toEqual(event)
})
