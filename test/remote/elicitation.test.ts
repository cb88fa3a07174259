import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { hasPty, openScreen } from '../app/screen.ts'
import { amount } from '../support/amount.ts'
import type { Answer } from '../support/project.ts'
import { ProgramTransport } from '../support/started-program.ts'
import { type AgentMachine, connectedMachine, type TeamServer, teamServer } from './machines.ts'

const release = `process: { dialect: 1, id: release, version: "1.0.0", name: Release, initial_state: check }
roles: [{ name: agent, kind: agent }, { name: lead, kind: human }]
states: [{ name: check }, { name: review }, { name: out, is_final: true }]
events:
  - { name: finish, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [lead] }
transitions:
  - { from: check, event: finish, to: review, guard: tests }
  - { from: review, event: approve, to: out }
guards:
  tests: { type: command, run: "echo ran > ../ran", timeout: 20s }
`

/** An agent at a machine, whose client says yes to everything that it is asked. */
async function agentThatSaysYes(machine: AgentMachine, era: 'legacy' | 'auto') {
  const questions: Answer[] = []
  const client = new Client(
    { name: 'asking-client', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: era } },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params)
    return { action: 'accept', content: { decision: 'approve' } }
  })
  await client.connect(new ProgramTransport(['mcp'], machine))
  onTestFinished(() => client.close())
  const call = async (name: string, input: object): Promise<Answer> =>
    client.callTool({ name, arguments: { ...input } })
  return { questions, call }
}

/** A server that lets clients ask, and two machines at it. */
async function stage() {
  const server = await teamServer()
  await server.api('setting_set', { name: 'elicitation', value: 'on' })
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write('.waymark/processes/release.yaml', release)
  return { server, machine, other: connectedMachine(server, server.newToken('bob')) }
}

const approvedAt = ({ home }: Pick<AgentMachine, 'home'>) => {
  const folder = join(home, 'state', 'waymark', 'approved-commands')
  return existsSync(folder) ? readdirSync(folder).length : 0
}

test.runIf(hasPty).each((['auto', 'legacy'] as const).slice(0, amount({ test: 1, soak: 2 })))(
  '%s: a client on another machine is asked neither for a command, which only its own list approves, nor for a decision',
  async (era) => {
    const { server, machine, other } = await stage()
    const { questions, call } = await agentThatSaysYes(machine, era)
    const { run_id } = (await call('state_gate_create_run', { process_id: 'release' })).structuredContent
    const emit = (event_name: string, expected_revision: number) =>
      call('state_gate_emit_event', {
        run_id,
        event_name,
        expected_revision,
        idempotency_key: crypto.randomUUID(),
      })

    // A client can answer by itself: what may run on the machine is not its to say.
    expect(await emit('finish', 1)).toMatchObject({ structuredContent: { error: { code: 'GUARD_FAILED' } } })
    expect(questions).toEqual([])
    const lists = () => [machine, other, server].map(approvedAt)
    expect(lists()).toEqual([0, 0, 0])

    const id = await commandItem(server)
    expect(machine.refused('approve', id)).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
    expect(lists()).toEqual([0, 0, 0])

    machine.environment['WAYMARK_TOKEN'] = server.newToken('maria', 'person')
    machine.environment['WAYMARK_SERVER'] = server.address
    const asked = openScreen(machine, ['approve', id])
    await asked.shows('whenever a guard needs it')
    asked.type('yes\r')
    await asked.ended
    expect(lists()).toEqual([1, 0, 0])

    expect(await emit('finish', 1)).toMatchObject({ structuredContent: { result: { accepted: true } } })
    expect(existsSync(join(machine.home, 'ran'))).toBe(true)
    // An agent's token decides nothing: its client is not asked what would be refused.
    expect(await emit('approve', 2)).toMatchObject({ structuredContent: { error: { code: 'FORBIDDEN' } } })
    expect(questions).toEqual([])
    const { items } = await server.api('inbox')
    expect(items).toMatchObject([{ kind: 'approval', status: 'open' }])
    expect(machine.run('approve', items[0].item_id)).toMatchObject({ code: 0 })
    expect(lists()).toEqual([1, 0, 0])
  },
)

async function commandItem(server: TeamServer): Promise<string> {
  const { items } = await server.api('inbox')
  return items.find(({ kind }: Answer) => kind === 'command').item_id
}
