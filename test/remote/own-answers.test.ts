import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { thisMachine } from '../../src/remote/machine/known-servers.ts'
import { runCalls } from '../../src/remote/machine/port-runner.ts'
import { RemoteProject } from '../../src/remote/machine/remote-project.ts'
import { ServerClient } from '../../src/remote/machine/server-client.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { PortAnswerer } from '../../src/remote/operations/gather.ts'
import { looks } from '../../src/remote/operations/looks.ts'
import type { ArgsOf, PortCallName } from '../../src/remote/operations/port-calls.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, openProject, refusalOf } from '../support/project.ts'

const sha = 'a'.repeat(64)
const none = { files: [], facts: {} }
const beside: readonly (readonly [PortCallName, ArgsOf<PortCallName>, Answer])[] = [
  ['evidenceFiles.contents', ['/p', ['a.md']], [{ path: 'b.md', sha256: sha, text: 'x' }]],
  [
    'evidenceFiles.contents',
    ['/p', ['a.md']],
    [
      { path: 'a.md', sha256: sha, text: null },
      { path: 'b.md', sha256: sha, text: 'x' },
    ],
  ],
  ['evidenceFiles.freshness', ['/p', []], ['current']],
  [
    'shownContents.since',
    [sha, none],
    { files: [{ path: 'b.md', shown: null, now: sha, diff: 'x' }], facts: [] },
  ],
  ['shownContents.since', [sha, none], { files: [], facts: [{ name: 'state', shown: 'a', now: 'b' }] }],
]

test.each(beside)(
  'refuses an answer of %s with what its call did not ask for',
  async (call, args, answer) => {
    const gathering = new PortAnswerer([{ call, args: [...args], answer }])
    const refused = await refusalOf(gathering.ask(call, args as never)) // of the call's own name
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', reason: 'machine_answer_invalid' })
  },
)

test('speaks to each server with a key of its own, and with the same one each time', () => {
  const folder = temporaryFolder()
  const one = thisMachine(folder, 'https://one.example.com')
  const other = thisMachine(folder, 'https://other.example.com:8443')
  expect(other.key).not.toBe(one.key)
  expect(other.id).not.toBe(one.id)
  expect(thisMachine(folder, 'https://one.example.com')).toEqual(one)
  expect(thisMachine(folder, 'https://other.example.com:8443')).toEqual(other)
})

async function runningFor(edge: string) {
  const { context } = await openProject()
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: null,
    trustsServer: false,
    now: () => 0,
  })
  const snapshots = () => join(context.program.stateFolder, 'snapshots')
  return {
    context,
    edge,
    snapshots,
    commands,
    asked: 'show',
    looks: looks['show'] ?? [],
    input: {},
    named: new Set<string>(),
    written: { done: false },
    now: () => 0,
    runCommand: async () => null,
  }
}

test('shows a server only what it had shown itself', async () => {
  const running = await runningFor('e-one')
  const file = { path: 'a.md', sha256: sha, text: 'hidden\n' }
  const kept = { call: 'shownContents.keep', args: [sha, { files: [file], facts: {} }] }
  await runCalls([kept], running)
  const asked = [
    { call: 'shownContents.since', args: [sha, none] },
    { call: 'shownContents.since', args: ['', none] },
    { call: 'shownContents.isKept', args: [sha] },
  ]
  const others = await runCalls(asked, { ...running, edge: 'e-other' })
  expect(others.map(({ answer }) => answer)).toEqual([null, null, false])
  // Of its own it is told which files differ, and not what they hold.
  const own = JSON.stringify(await runCalls(asked.slice(0, 1), running))
  expect(own).toContain('a.md')
  expect(own).not.toContain('hidden')
})

test('waits for a server that asks slowly and without end as long as for one answer', async () => {
  let rounds = 0
  const server = createServer((_, response) => {
    rounds += 1
    setTimeout(() => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ gather: [{ call: 'processFiles.hasOwn', args: [] }] }))
    }, 150)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const origin = `http://127.0.0.1:${port}`
  const running = await runningFor('e-one')
  const client = new ServerClient(
    { origin, project: null, token: 'wm1_of_a_test', trustsCommands: false },
    { timeout: 400 },
  )
  const project = new RemoteProject({
    ...running,
    client,
    edge: thisMachine(temporaryFolder(), origin),
    version: '0.0.0',
  })
  onTestFinished(() => project.close())
  const calling = { operation: 'status', input: {}, channel: 'stdio', as: 'agent' } as const
  const refused = await refusalOf(project.send(calling, project.prepare()))
  expect(refused).toMatchObject({ code: 'UNAVAILABLE', reason: 'server_silent' })
  expect(rounds).toBeLessThanOrEqual(4)
})
