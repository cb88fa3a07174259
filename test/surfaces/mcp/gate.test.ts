import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Conversation, envelope, eras, legacy } from './eras.ts'
import { runWaymark, type ServerProcess, startServer, temporaryRepository } from './server-process.ts'

// `note` hands something in and leads nowhere, `ship` needs a plan and a person.
const processText = `process: { id: ship-it, version: "1", name: Ship it, initial_state: work }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states:
  - { name: work, prompt: Write the plan. }
  - { name: done, is_final: true }
events:
  - { name: note, allowed_roles: [agent] }
  - { name: ship, allowed_roles: [agent] }
transitions:
  - { from: work, event: note, to: work }
  - { from: work, event: ship, to: done, guard: { all: [planned, allowed] } }
guards:
  planned: { type: artifact, artifact_type: plan, condition: exists }
  allowed: { type: approval, role: owner, artifact: plan }
artifacts:
  - { type: plan, paths: ["plan.md"] }
`

function projectWithProcess(): string {
  const folder = temporaryRepository()
  mkdirSync(join(folder, '.waymark', 'processes'), { recursive: true })
  writeFileSync(join(folder, '.waymark', 'processes', 'ship-it.yaml'), processText)
  writeFileSync(join(folder, 'plan.md'), 'The plan.\n')
  return folder
}

async function beginRun({ call }: Conversation): Promise<string> {
  const { structuredContent } = await call('state_gate_create_run', { process_id: 'ship-it' })
  expect(structuredContent).toMatchObject({ process_id: 'ship-it', current_state: 'work' })
  return structuredContent.run_id
}

let keys = 0
function event(run_id: string, event_name: string, more: object = {}): object {
  keys += 1
  return { run_id, event_name, idempotency_key: `key-${keys}-of-${run_id}`, ...more }
}

test.each(eras)(
  'SG-001 SG-013 SG-026 the gate’s tools answer under both of their names in %s',
  async (_, open) => {
    const { call } = await open(startServer({ folder: projectWithProcess() }))
    const run_id = await beginRun({ ask: call, call })
    for (const [state, list] of [
      ['state_gate_get_state', 'state_gate_list_events'],
      ['state_gate.get_state', 'state_gate.list_events'],
    ] as const) {
      expect((await call(state, { run_id })).structuredContent).toMatchObject({
        current_state: 'work',
        revision: 1,
        prompt: 'Write the plan.',
        missing_guards: [{ guard_name: 'planned' }, { guard_name: 'allowed' }],
      })
      const { events } = (await call(list, { run_id, include_blocked: true })).structuredContent
      expect(events.map(({ event_name }: { readonly event_name: string }) => event_name)).toEqual([
        'note',
        'ship',
      ])
    }
    for (const [revision, tool] of ['state_gate_emit_event', 'state_gate.emit_event'].entries()) {
      const sent = event(run_id, 'note', { expected_revision: revision + 1 })
      expect((await call(tool, sent)).structuredContent).toMatchObject({
        success: true,
        result: { accepted: true, new_revision: revision + 2 },
      })
    }
  },
)

test.each(eras)('SG-042 SG-043 the overview of a run is a resource of JSON in %s', async (_, open) => {
  const { ask, call } = await open(startServer({ folder: projectWithProcess() }))
  const run_id = await beginRun({ ask, call })
  const uri = `stategate://runs/${run_id}/summary`
  const { contents } = (await ask('resources/read', { uri })).result
  expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }])
  expect(JSON.parse(contents[0].text)).toMatchObject({ run_id, current_state: 'work', revision: 1 })
  const listed = (await ask('resources/list')).result.resources
  expect(listed.map((resource: { readonly uri: string }) => resource.uri)).toContain(uri)
})

const listeners: readonly (readonly [string, (server: ServerProcess, uri: string) => Promise<void>])[] = [
  [
    '2025-11-25',
    async (server, uri) => {
      const { ask } = await legacy(server)
      await ask('resources/subscribe', { uri })
    },
  ],
  [
    '2026-07-28',
    async (server) => {
      const params = { notifications: { resourcesListChanged: true }, _meta: envelope }
      server.send({ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen', params })
      await server.message(({ method }) => method === 'notifications/subscriptions/acknowledged')
    },
  ],
]

test.each(listeners)(
  'SG-046 SG-047 SG-048 SG-049 list_changed follows an artifact, a guard and a transition of another process in %s',
  async (_, listen) => {
    const folder = projectWithProcess()
    const worker = await legacy(startServer({ folder }))
    const run_id = await beginRun(worker)
    const listener = startServer({ folder })
    await listen(listener, `stategate://runs/${run_id}/summary`)
    const told = () =>
      listener.messages.filter(({ method }) => method === 'notifications/resources/list_changed').length
    const toldAfter = async (act: () => unknown) => {
      const before = told()
      await act()
      await listener.message(() => told() > before)
    }
    const emit = async (expected_revision: number, event_name: string, more: object = {}) => {
      const sent = event(run_id, event_name, { expected_revision, ...more })
      const { structuredContent } = await worker.call('state_gate_emit_event', sent)
      expect(structuredContent).toMatchObject({ success: true })
    }
    expect(told()).toBe(0)
    await toldAfter(() => emit(1, 'note', { artifact_paths: ['plan.md'] }))
    await toldAfter(() => runWaymark(folder, 'approve', run_id, '--reason', 'Good.'))
    await toldAfter(() => emit(2, 'ship'))
    const { current_state } = (await worker.call('state_gate_get_state', { run_id })).structuredContent
    expect(current_state).toBe('done')
  },
)
