import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { ProgramTransport } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'
import { runWaymark, temporaryRepository } from './server-process.ts'

const release = `process: { dialect: 1, id: release, version: "1", name: Release, initial_state: review }
roles:
  - { name: agent, kind: agent }
  - { name: lead, kind: human }
states:
  - { name: review }
  - { name: out, is_final: true }
  - { name: back, is_final: true, outcome: failed }
events:
  - { name: approve, allowed_roles: [lead] }
  - { name: send_back, allowed_roles: [lead], payload_schema: { type: object, required: [reason], properties: { reason: { type: string } } } }
transitions:
  - { from: review, event: approve, to: out }
  - { from: review, event: send_back, to: back, assign: { reason: $.payload.reason } }
`

type Reply = { action: 'accept'; content: Record<string, string> } | { action: 'decline' | 'cancel' }

/** A client whose person answers every question with the same reply. */
async function clientWith(
  reply: Reply,
  era: 'legacy' | 'auto',
  { allowed = true, meanwhile }: { allowed?: boolean; meanwhile?: (folder: string) => void } = {},
) {
  const folder = temporaryRepository()
  mkdirSync(join(folder, '.waymark', 'processes'), { recursive: true })
  writeFileSync(join(folder, '.waymark', 'processes', 'release.yaml'), release)
  if (allowed) runWaymark(folder, 'setting', 'set', 'elicitation', 'on')
  const questions: Answer[] = []
  const client = new Client(
    { name: 'asking-client', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: era } },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params)
    meanwhile?.(folder)
    return reply
  })
  const env = serverEnvironment(join(folder, '..'))
  await client.connect(new ProgramTransport(['mcp'], { folder, environment: env }))
  onTestFinished(() => client.close())
  const call = async (name: string, input: Answer): Promise<Answer> =>
    client.callTool({ name, arguments: { ...input } })
  const { run_id } = (await call('state_gate_create_run', { process_id: 'release' })).structuredContent
  const emit = () =>
    call('state_gate_emit_event', {
      run_id,
      event_name: 'approve',
      expected_revision: 1,
      idempotency_key: crypto.randomUUID(),
    })
  const state = async () => (await call('state_gate_get_state', { run_id })).structuredContent
  return { folder, questions, call, emit, state, run_id }
}

test.each(['legacy', 'auto'] as const)(
  '%s: a person decides by way of the client, where the project allows it',
  async (era) => {
    const yes = { action: 'accept', content: { decision: 'approve', reason: 'Fine' } } as const
    const { folder, questions, emit, state, run_id } = await clientWith(yes, era)
    const result = await emit()
    expect(result).toMatchObject({
      isError: false,
      structuredContent: { success: true, result: { event: 'approve', transition: { to_state: 'out' } } },
    })
    expect(questions).toHaveLength(1)
    expect(questions[0].requestedSchema.properties.decision.enum).toEqual([
      'approve',
      'send_back',
      'decide later',
    ])
    expect(await state()).toMatchObject({ current_state: 'out', status: 'succeeded', waits_for: [] })
    const { events: projectEvents } = runWaymark(folder, 'log')
    expect(projectEvents.find(({ kind }: Answer) => kind === 'run.advanced')).toMatchObject({
      actor: 'person at asking-client',
      channel: 'elicitation',
    })
    expect(run_id).toMatch(/^run-/)
  },
)

test('a reason goes where the event asks for it', async () => {
  const no = { action: 'accept', content: { decision: 'send_back', reason: 'No tests' } } as const
  const { emit, state } = await clientWith(no, 'auto')
  await emit()
  expect(await state()).toMatchObject({ current_state: 'back', context: { reason: 'No tests' } })
})

test.each([
  { action: 'decline' },
  { action: 'cancel' },
  { action: 'accept', content: { decision: 'decide later' } },
] as const)(
  'without a decision (%o) the event is refused, and the question waits in the inbox, once',
  async (reply) => {
    const { folder, emit, state } = await clientWith(reply, 'legacy')
    for (const _ of [1, 2]) {
      expect(await emit()).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'FORBIDDEN' } },
      })
    }
    expect(await state()).toMatchObject({ current_state: 'review', revision: 1 })
    expect(runWaymark(folder, 'inbox')).toMatchObject({ total: 1, items: [{ kind: 'approval' }] })
  },
)

test('a project that does not allow it is not asked by way of the client', async () => {
  const yes = { action: 'accept', content: { decision: 'approve' } } as const
  const { emit, questions, state } = await clientWith(yes, 'auto', { allowed: false })
  const result = await emit()
  expect(result['isError']).toBe(true)
  expect(result.content[0].text).toContain('waymark approve h-')
  expect(questions).toEqual([])
  expect(await state()).toMatchObject({ current_state: 'review' })
})

const planned = `process: { dialect: 1, id: planned, version: "1", name: Planned, initial_state: draft }
roles:
  - { name: agent, kind: agent }
  - { name: lead, kind: human }
states:
  - { name: draft }
  - { name: review }
  - { name: out, is_final: true }
events:
  - { name: hand_in, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [lead] }
transitions:
  - { from: draft, event: hand_in, to: review }
  - { from: review, event: approve, to: out, guard: plan_ok }
guards:
  plan_ok: { type: approval, role: lead, artifact: plan }
artifacts:
  - { type: plan, paths: ["plan.md"] }
`

test.each(['legacy', 'auto'] as const)(
  '%s: an answer is about what was shown: a file that changed meanwhile is a conflict',
  async (era) => {
    const yes = { action: 'accept', content: { decision: 'approve' } } as const
    let change = (folder: string) => writeFileSync(join(folder, 'plan.md'), 'another plan\n')
    const { folder, call } = await clientWith(yes, era, { meanwhile: (place) => change(place) })
    writeFileSync(join(folder, '.waymark', 'processes', 'planned.yaml'), planned)
    writeFileSync(join(folder, 'plan.md'), 'a plan\n')
    const { run_id } = (await call('state_gate_create_run', { process_id: 'planned' })).structuredContent
    const emit = (event_name: string, expected_revision: number, more: object = {}) =>
      call('state_gate_emit_event', {
        run_id,
        event_name,
        expected_revision,
        idempotency_key: crypto.randomUUID(),
        ...more,
      })
    await emit('hand_in', 1, { artifact_paths: ['plan.md'] })
    const result = await emit('approve', 2)
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'CONFLICT' } } })
    expect(result.content[0].text).toContain('changed after you reviewed it')
    const { current_state } = (await call('state_gate_get_state', { run_id })).structuredContent
    expect(current_state).toBe('review')
    writeFileSync(join(folder, 'plan.md'), 'a plan\n')
    change = () => undefined
    expect(await emit('approve', 2)).toMatchObject({ isError: false })
  },
)
