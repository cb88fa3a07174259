import { expect, test } from 'vitest'
import { checkedClients } from '../../src/clients/hooks/client-checks.ts'
import { hookClients } from '../../src/clients/hooks/hook-clients.ts'
import { setupClients } from '../../src/clients/setup/setup-clients.ts'
import { inWords, openCaptured } from './captured-project.ts'
import { playedClients } from './payloads.ts'

test('every client has a session that is played', () => {
  expect(playedClients.map(({ client }) => client)).toEqual(hookClients.map(({ name }) => name))
  expect(Object.keys(checkedClients).sort()).toEqual(hookClients.map(({ name }) => name).sort())
})

test.each(playedClients)(
  'a session of $client, as of $seen, is told in the words of the domain',
  async (played) => {
    const project = openCaptured()
    played.play(project)
    expect(project.log()).toBe('')
    const hookEvents = await project.drain()
    expect(hookEvents.map((hookEvent) => inWords(hookEvent, project.folder))).toEqual(played.expected)
    expect(new Set(hookEvents.map(({ client }) => client.name))).toEqual(new Set([played.client]))
    expect(new Set(hookEvents.map(({ session }) => session)).size).toBe(1)
    expect(hookEvents.map(({ key }) => key)).toEqual(hookEvents.map(({ key }) => key).sort())
    expect(hookEvents.every(({ folder }) => folder === project.folder)).toBe(true)
    expect(project.events()).toEqual([])
  },
)

const registered = setupClients.flatMap(({ id, hooks }) =>
  hooks.kind === 'hooks' ? [{ id, events: hooks.events.map(({ name }) => name) }] : [],
)

test('every event that setup registers means something, and none is registered that would change what a client does', () => {
  expect(registered.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['claude', 'cursor', 'codex', 'opencode']),
  )
  for (const { id, events } of registered) {
    const adapter = hookClients.find(({ name }) => name === id)
    expect(adapter, `there is no adapter for ${id}`).toBeDefined()
    const unknown = events.filter((event) => (adapter?.events[event] ?? 'ignored') === 'ignored')
    expect({ id, unknown }).toEqual({ id, unknown: [] })
    for (const harmful of [
      'WorktreeCreate',
      'WorktreeRemove',
      'MessageDisplay',
      'AfterModel',
      'afterAgentThought',
      'FileChanged',
    ])
      expect(events).not.toContain(harmful)
  }
})
