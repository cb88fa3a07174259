import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commitCopied } from '../support/copied-folder.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { emptyPostgres, isPostgresLeftOut } from '../support/postgres/database.ts'
import { bin, runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { startAlone } from '../support/started-program.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { started } from '../surfaces/http/serve-process.ts'
import { eventually } from '../surfaces/mcp/http/eventually.ts'
import { type AgentMachine, agentMachine, ranAt } from './machines.ts'
import { type HttpProxy, proxyBefore } from './proxy.ts'

const checked = `process: { dialect: 1, id: checked, version: "1.0.0", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "grep -q 3 src/auth.ts", timeout: 20s }
`

interface Replicas extends HttpProxy {
  readonly agentToken: string
  readonly kill: (at: number) => void
  /** Calls an operation over HTTP, as a person. */
  readonly api: (name: string, input?: object) => Promise<Answer>
  readonly events: () => Promise<readonly Answer[]>
  /** One of them, without the proxy. */
  readonly at: (at: number) => Pick<Replicas, 'api'>
}

/** Servers on one database, with a proxy before them. None of them has a folder of the project that it serves. */
async function replicas(count: number): Promise<Replicas> {
  const database = await emptyPostgres()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const home = temporaryFolder()
  const environment = environmentOf(home, database.url)
  const folder = join(home, 'shop')
  commitCopied(folder, { 'README.md': '# Shop\n' })
  const run = (...words: readonly string[]) => {
    const ran = runProgram(words, { folder, environment })
    if (ran.code !== 0) throw new Error(ran.error)
    return ran.out
  }
  const token = (...words: readonly string[]): string =>
    JSON.parse(run('token', 'create', ...words, '--json')).secret
  const personToken = token('--admin', '--person', 'Ada')
  run('mission', 'start', 'Begin', '--objective', 'The project is there')
  const agentToken = token('builder', '--person', 'Ada')
  const servings = await Promise.all(
    Array.from({ length: count }, () => {
      const own = temporaryFolder()
      return started(
        startAlone([bin, 'serve', '--port', '0'], {
          folder: own,
          environment: environmentOf(own, database.url),
        }),
      )
    }),
  )
  const proxy = await proxyBefore(...servings.map(({ port }) => port))
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${personToken}` }
  const ask = async (path: string, body?: object, address = proxy.address): Promise<Answer> => {
    const sent = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
    const response = await fetch(`${address}/p/shop${path}`, sent)
    // The balancer notices a server that was killed by a request that fails there.
    return response.status === 502 ? ask(path, body, address) : response.json()
  }
  return {
    ...proxy,
    agentToken,
    kill: (at) => servings[at]?.child.kill('SIGKILL'),
    api: (name, input = {}) => ask(`/api/${name}`, input),
    at: (at) => ({
      api: (name, input = {}) => ask(`/api/${name}`, input, `http://127.0.0.1:${servings[at]?.port}`),
    }),
    events: async () => (await ask('/api/log', { since: 0, limit: 1000 }))['events'],
  }
}

function environmentOf(home: string, database: string): Record<string, string> {
  const known = Object.entries(serverEnvironment(home)).filter(([name]) => !/^(AI_AGENT|CLAUDE)/.test(name))
  return { ...Object.fromEntries(known), HOME: home, WAYMARK_DATABASE: database }
}

async function connected(
  { address, agentToken }: Replicas,
  ...words: readonly string[]
): Promise<AgentMachine> {
  const machine = agentMachine()
  await ranAt(machine, ['connect', `${address}/p/shop`, ...words], { WAYMARK_TOKEN: agentToken })
  return machine
}

describe.skipIf(isPostgresLeftOut)('servers on one database that have no folder of the project', () => {
  test('a task, a gated run with a command and a hook work on the machine with the files', async () => {
    const servers = await replicas(2)
    const machine = await connected(servers, '--trust-commands')
    machine.write('.waymark/processes/checked.yaml', checked)
    const agent = await machine.connect()
    const { task_id: task } = await agent.call('start_task', { name: 'Sign in', areas: ['src/auth.ts'] })
    const { run_id: run } = await agent.call('state_gate_create_run', {
      process_id: 'checked',
      task_id: task,
    })

    const edit = (path: string) => {
      const said = {
        cwd: machine.folder,
        hook_event_name: 'PreToolUse',
        tool_name: 'Write',
        tool_input: { file_path: join(machine.folder, path) },
      }
      return ranAt(machine, ['hook', 'pre-tool-use'], {}, JSON.stringify(said))
    }
    await eventually(async () => (await edit('src/api.ts')).includes('"ask"'))
    expect(await edit('src/auth.ts')).toBe('')

    const finish = async (key: string, revision = 1): Promise<Answer> =>
      (
        await agent.client.callTool({
          name: 'state_gate_emit_event',
          arguments: {
            run_id: run,
            event_name: 'finish',
            expected_revision: revision,
            idempotency_key: key,
          },
        })
      ).structuredContent
    await finish('one')
    const { items } = await servers.api('inbox')
    const [item] = items.filter(({ kind }: Answer) => kind === 'command')
    expect(item.request.folder).toBe(machine.folder)
    expect(await servers.api('approve', { id: item.item_id })).toMatchObject({ decided: true })
    expect(JSON.stringify(await finish('two'))).toMatch(/exit|failed/)
    machine.write('src/auth.ts', 'export const auth = 3\n')
    expect(await finish('three')).toMatchObject({ result: { accepted: true } })
    const outcome = { summary: 'Signed in' }
    const done = await agent.call('complete_task', { task_id: task, status: 'success', outcome })
    expect(done['files_changed']).toMatchObject({ modified: ['src/auth.ts'] })
    const shown = await servers.api('show', { id: task })
    expect(JSON.stringify(shown)).toMatch(
      /"measured_by":{"machine_id":"e-[0-9a-f]{20}","machine":".+","token":"tk-/,
    )
    const diff = await servers.api('diff', { id: task })
    expect(diff['diff']).toContain('+export const auth = 3')
  })

  test('a no to a command that was said at one of them counts at the other, and is taken back there', async () => {
    const servers = await replicas(2)
    const machine = await connected(servers, '--trust-commands')
    machine.write('.waymark/processes/checked.yaml', checked)
    const agent = await machine.connect()
    const { run_id: run } = await agent.call('state_gate_create_run', { process_id: 'checked' })
    const finish = (key: string) =>
      agent.refused('state_gate_emit_event', {
        run_id: run,
        event_name: 'finish',
        expected_revision: 1,
        idempotency_key: key,
      })
    await finish('one')
    const { items } = await servers.at(0).api('inbox')
    const [item] = items.filter(({ kind }: Answer) => kind === 'command')
    await servers.at(0).api('reject', { id: item.item_id, reason: 'It reads too much.' })
    servers.kill(0)
    expect(await finish('two')).toMatchObject({
      code: 'GUARD_FAILED',
      hint: expect.stringMatching(/It reads too much\.(?!\.)/),
      details: { missing_guards: [expect.stringContaining('It reads too much')] },
    })
    expect((await servers.at(1).api('inbox')).items).toEqual([])
    const listed = await servers.at(1).api('command_list')
    expect(listed.refused).toMatchObject([
      { hash: item.request.hash, author: 'Ada', reason: 'It reads too much.' },
    ])
    expect(await servers.at(1).api('command_revoke', { hash: item.request.hash })).toMatchObject({
      refused_by: 'Ada',
    })
    expect(await finish('three')).toMatchObject({
      code: 'GUARD_FAILED',
      details: { missing_guards: [expect.stringContaining('approval')] },
    })
    expect((await servers.at(1).api('command_list')).refused).toEqual([])
  })

  test('one that is killed under calls makes no call fail, and nothing wait', async () => {
    const servers = await replicas(2)
    const machine = await connected(servers)
    const agent = await machine.connect()
    const { task_id } = await agent.call('start_task', { name: 'Many' })
    const log = (at: number) => agent.call('log_milestone', { task_id, message: `step ${at}` })
    for (let at = 0; at < 6; at += 1) await log(at)
    const under = Promise.all(Array.from({ length: 6 }, (_, at) => log(6 + at)))
    servers.kill(1)
    const answers = await under
    for (let at = 12; at < 24; at += 1) answers.push(await log(at))
    expect(JSON.stringify(answers)).not.toMatch(/queued|is away/)
    expect(servers.failed()).toBeGreaterThan(0)
    const steps = (await servers.events()).flatMap((event) => /step \d+/.exec(JSON.stringify(event)) ?? [])
    expect(steps.toSorted()).toEqual(Array.from({ length: 24 }, (_, at) => `step ${at}`).toSorted())
  })

  test('an answer that is lost on its way is asked for again, and what was recorded is recorded once', async () => {
    const servers = await replicas(2)
    const machine = await connected(servers)
    const agent = await machine.connect()
    const { task_id } = await agent.call('start_task', { name: 'Once' })
    servers.lose('/p/shop/api/machines/call', 2)
    await agent.call('log_milestone', { task_id, message: 'the only one' })
    expect(servers.lost()).toBe(2)
    const events = (await servers.events()).filter((event) => JSON.stringify(event).includes('the only one'))
    expect(events).toHaveLength(1)
  })
})
