import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ShownMeasurements, shownMeasurements } from '../../src/inbox/operations/approval-content.ts'
import { thisMachine } from '../../src/remote/machine/known-servers.ts'
import { measureLocally } from '../../src/remote/machine/measure.ts'
import { RemoteProject } from '../../src/remote/machine/remote-project.ts'
import { ServerClient } from '../../src/remote/machine/server-client.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { remoteMeasurer } from '../../src/remote/operations/remote-measurement.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, openProject, refusalOf } from '../support/project.ts'

const sha = 'a'.repeat(64)
const differs = { path: 'b.md', shown: null, now: sha, diff: null }
const parts = { artifacts: [], changed: [], known: [], command: null, events: {}, content: sha, seen: sha }
const beside: readonly (readonly [keyof ShownMeasurements, unknown, Answer])[] = [
  ['hashes', [{ top: '/p', paths: ['a.md'] }], [[{ path: 'b.md', sha256: sha }]]],
  ['hashes', [{ top: '/p', paths: ['a.md'] }], [['a.md', 'b.md'].map((path) => ({ path, sha256: sha }))]],
  ['files', [], ['current']],
  ['shown', [], [{ difference: { files: [differs], events: [] } }]],
  ['shown', [parts], []],
]

test.each(beside)(
  'refuses a measurement of %s with what its brief did not ask for',
  async (name, brief, measured) => {
    const measure = remoteMeasurer([{ name, hash: sha, measured }])
    const operation = { name: 'inbox', measurements: shownMeasurements }
    const refused = await refusalOf(measure(operation, new Map([[name, { hash: sha, brief }]]), {}))
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
  expect(thisMachine(folder, 'https://one.example.com', 'desk')).toEqual({ ...one, name: 'desk' })
})

async function runningFor(machine: string) {
  const { context } = await openProject()
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: null,
    trustsServer: () => false,
    now: () => 0,
  })
  const snapshots = () => [join(context.program.stateFolder, 'snapshots')]
  return {
    context,
    machine,
    snapshots,
    commands,
    called: 'inbox',
    input: {},
    named: new Set<string>(),
    written: { done: false },
    now: () => 0,
    runCommand: async () => null,
  }
}

test('shows a server only what it had shown itself', async () => {
  const running = await runningFor('e-one')
  writeFileSync(join(running.context.folder, 'a.md'), 'hidden\n')
  const shown = async (machine: string, artifacts: readonly string[], seen: string | null) => {
    const brief = [{ ...parts, artifacts, content: sha, seen }]
    const request = { operation: 'inbox', asked: [{ name: 'shown', hash: sha, brief }] }
    const [answer] = await measureLocally(request, { ...running, machine })
    return answer?.measured
  }
  expect(await shown('e-one', ['a.md'], null)).toEqual([{ difference: null }])
  expect(await shown('e-other', [], sha)).toEqual([{ difference: null }])
  // Of its own it is told which files differ, and not what they hold.
  const own = JSON.stringify(await shown('e-one', [], sha))
  expect(own).toContain('a.md')
  expect(own).not.toContain('hidden')
})

test('waits for a server that asks slowly and without end as long as for one answer', async () => {
  let rounds = 0
  const server = createServer((_, response) => {
    rounds += 1
    setTimeout(() => {
      response.setHeader('Content-Type', 'application/json')
      const asked = [{ name: 'held', hash: sha, brief: {} }]
      response.end(JSON.stringify({ measure: { operation: 'status', asked }, now: Date.now() }))
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
    machine: thisMachine(temporaryFolder(), origin),
    version: '0.0.0',
  })
  onTestFinished(() => project.close())
  const calling = { operation: 'status', input: {}, channel: 'stdio', caller: 'agent' } as const
  const refused = await refusalOf(project.send(calling, project.prepare()))
  expect(refused).toMatchObject({ code: 'UNAVAILABLE', reason: 'server_silent' })
  expect(rounds).toBeLessThanOrEqual(4)
})
