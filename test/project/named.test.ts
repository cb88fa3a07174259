import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { teamDatabase } from '../people/team-project.ts'
import { agentMachine } from '../remote/machines.ts'
import { soakTest } from '../support/amount.ts'
import { runProgram } from '../support/program.ts'
import { startProgram } from '../support/started-program.ts'
import { serveHome } from '../surfaces/http/serve-process.ts'

/** A folder that belongs to no project, beside a database of a team. */
async function openTeamFolder() {
  const around = serveHome()
  around.environment['WAYMARK_DATABASE'] = await teamDatabase(around.home)
  const folder = join(around.home, 'laptop')
  mkdirSync(folder)
  const run = (...words: readonly string[]) => around.run(folder, ...words)
  const json = (...words: readonly string[]) => JSON.parse(run(...words, '--json').out)
  json('token', 'create', '--admin', '--person', 'Ann')
  json('person', 'add', 'Ben')
  const names = () => json('project', 'list').projects.map(({ name }: { name: string }) => name)
  return { around, folder, run, json, names }
}

test('commands about members act on the project that --project names, and make none', async () => {
  const { run, json, names } = await openTeamFolder()
  const none = run('member', 'add', 'Ben')
  expect(none.code).not.toBe(0)
  expect(none.error).toContain('waymark project add')
  expect(names()).toEqual([])

  json('project', 'add', 'shop')
  for (const words of [
    ['member', 'add', 'Ben'],
    ['member', 'invite', 'cleo@example.org'],
    ['member', 'list'],
    ['member', 'set', 'Ben', 'owner'],
    ['token', 'create', 'agent', '--person', 'Ben'],
  ]) {
    const refused = run(...words)
    expect([words, refused.code]).not.toEqual([words, 0])
    expect(refused.error, words.join(' ')).toContain('--project')
  }
  expect(names()).toEqual(['shop'])

  expect(json('member', 'add', 'Ben', '--project', 'shop')).toMatchObject({ person: { name: 'Ben' } })
  expect(json('member', 'list', '--project=shop').members).toMatchObject([
    { person: { name: 'Ben' } },
    { admin: true },
  ])
  const shop = json('project', 'list').projects[0].id
  expect(json('token', 'create', 'agent', '--person', 'Ben', '--project', 'shop')).toMatchObject({
    project_id: shop,
  })
  const unknown = run('member', 'list', '--project', 'shpo')
  expect(unknown.error).toContain('shop')
  expect(unknown.code).not.toBe(0)
  expect(names()).toEqual(['shop'])
})

test('a bare --admin asks for a name', async () => {
  const { run, json } = await openTeamFolder()
  const asked = run('token', 'create', '--admin')
  expect(asked.code).not.toBe(0)
  expect(asked.error).toContain('--person')
  expect(json('person', 'list').people).toHaveLength(2)
})

test('token create --help shows the flags that the server has, and token --help the commands', async () => {
  const { run } = await openTeamFolder()
  for (const verb of ['create', 'list', 'revoke'])
    expect(run('token', '--help').out).toContain(`token ${verb}`)
  const { out } = run('token', 'create', '--help')
  for (const flag of ['--admin', '--person', '--all-projects', '--days', '--access'])
    expect(out).toContain(flag)
})

test('in a connected folder, token commands act on the team’s server and not on the personal one', async () => {
  const { around, folder, json } = await openTeamFolder()
  const made = json('project', 'add', 'shop')
  json('member', 'add', 'Ben', 'owner', '--project', 'shop')
  const { secret } = json('token', 'create', 'ben', '--kind', 'person', '--person', 'Ben')
  const { port } = await around.serve(folder, '--port', '0')
  const machine = agentMachine()
  const connected = runProgram(['connect', `http://127.0.0.1:${port}`, '--project', 'shop'], {
    folder: machine.folder,
    environment: { ...machine.environment, WAYMARK_TOKEN: secret },
  })
  expect([connected.code, connected.error]).toEqual([0, expect.anything()])
  const there = (...words: readonly string[]) => JSON.parse(machine.run(...words, '--json').out)
  expect(there('token', 'create', 'builder')).toMatchObject({ name: 'builder', project_id: made.id })
  const names = () => there('token', 'list').tokens.map(({ name }: { name: string }) => name)
  expect(names()).toEqual(['builder', 'ben'])
  expect(there('token', 'revoke', 'builder')).toMatchObject({ state: 'revoked' })
  expect(names()).toEqual(['ben'])
  expect(there('member', 'list').members).toMatchObject([{ person: { name: 'Ben' } }, { admin: true }])

  const api = json('project', 'add', 'api')
  json('person', 'add', 'Cleo')
  json('member', 'add', 'Ben', 'owner', '--project', 'api')
  expect(there('member', 'add', 'Cleo', '--project', 'api')).toMatchObject({ person: { name: 'Cleo' } })
  expect(there('member', 'list', '--project', 'api').members).toHaveLength(3)
  expect(there('member', 'list', '--project', 'shop').members).toHaveLength(2)
  expect(there('token', 'create', 'other', '--project=api')).toMatchObject({ project_id: api.id })
  // Nothing of this folder is recorded for another project.
  const mission = ['mission', 'start', 'Elsewhere', '--objective', 'None'] as const
  const refused = machine.run(...mission, '--project', 'api', '--json')
  expect(JSON.parse(refused.out).error).toMatchObject({ reason: 'project_elsewhere' })
  expect(machine.run(...mission, '--project', 'shop').code).toBe(0)
  expect(machine.run('member', 'list', '--project', 'shpo').code).toBe(1)
  // A path that exists is a folder.
  mkdirSync(join(machine.folder, 'api'))
  expect(there('member', 'list', '--project', 'api').members).toHaveLength(2)
})

test('an invited person connects with an invitation, and their token is kept', async () => {
  const { around, folder, run, json } = await openTeamFolder()
  json('project', 'add', 'shop')
  const { out } = run('member', 'invite', 'cleo@example.org', '--project', 'shop')
  const [, command = ''] = /waymark (invitation create .+)$/m.exec(out) ?? []
  const { invitation, project: key } = json(...command.split(' '))
  expect(key).toBe('shop')
  const { port } = await around.serve(folder, '--port', '0')
  const address = `http://127.0.0.1:${port}`
  const connect = (machine: ReturnType<typeof agentMachine>, project: string) =>
    runProgram(['connect', address, '--project', project], {
      folder: machine.folder,
      environment: { ...machine.environment, WAYMARK_TOKEN: invitation },
    })
  const machine = agentMachine()
  // The invitation is used by then: its token is not lost with the wrong name.
  expect(connect(machine, 'shpo').error).toContain('shop')
  expect(machine.run('connect', address, '--project', 'shop').code).toBe(0)
  expect(JSON.parse(machine.run('whoami', '--json').out)).toMatchObject({
    name: 'cleo',
    kind: 'person',
    access: 'contributor',
  })
  const made = machine.run('token', 'create', 'dashboard', '--kind', 'person')
  expect([made.code, made.error]).toEqual([0, ''])
  const again = connect(agentMachine(), 'shop')
  expect([again.code, again.error]).toEqual([1, expect.stringContaining('waymark invitation create')])
  expect(run('invitation', 'create', 'cleo', '--project', 'shop').code).not.toBe(0)
})

test('what invitation create prints in a connected folder lets its reader in', async () => {
  const { around, folder, json } = await openTeamFolder()
  json('project', 'add', 'shop')
  json('member', 'add', 'Ben', 'owner', '--project', 'shop')
  const { secret } = json('token', 'create', '--kind', 'person', '--person', 'Ben')
  const { port } = await around.serve(folder, '--port', '0')
  const [owner, reader] = [agentMachine(), agentMachine()]
  const connect = (machine: typeof owner, input: string, address: string) =>
    runProgram(['connect', address, '--json'], { ...machine, input })
  connect(owner, secret, `http://127.0.0.1:${port}`)
  const next = /waymark (invitation create \S+)$/m.exec(owner.run('member', 'invite', 'cleo@example.org').out)
  const { out } = owner.run(...(next?.[1] ?? '').split(' '))
  const [, address = ''] = /waymark connect (\S+)$/m.exec(out) ?? []
  const [invitation = ''] = /invite-\S+$/m.exec(out) ?? []
  const joined = connect(reader, `${invitation}\n`, address)
  expect(JSON.parse(joined.out)).toMatchObject({ project: 'shop', actor: { name: 'cleo' }, token: 'new' })
})

test('connect uses a token from standard input, else the one that this machine kept, and says which', async () => {
  const { around, folder, json } = await openTeamFolder()
  json('project', 'add', 'shop')
  json('member', 'add', 'Ben', 'owner', '--project', 'shop')
  const newToken = () => json('token', 'create', '--kind', 'person', '--person', 'Ben')
  const [first, second] = [newToken(), newToken()]
  const { port } = await around.serve(folder, '--port', '0')
  const words = ['connect', `http://127.0.0.1:${port}`, '--project', 'shop', '--json']
  const machine = agentMachine()
  const connect = (input: string, ...more: readonly string[]) => {
    const { out } = runProgram([...words, ...more], { ...machine, input })
    return JSON.parse(out)
  }
  const used = () => JSON.parse(machine.run('whoami', '--json').out).token_id
  expect(connect(`${first.secret}\n`)).toMatchObject({ actor: { name: 'Ben' }, token: 'new' })
  expect(connect('')).toMatchObject({ token: 'kept' })
  expect(used()).toBe(first.id)
  expect(connect(`\n${second.secret}\n`)).toMatchObject({ token: 'new' })
  expect(used()).toBe(second.id)

  // What is refused replaces nothing.
  expect(connect('wm1_wrong\n')).toMatchObject({ error: { reason: 'token_invalid' } })
  expect(connect('', '--new-token')).toMatchObject({ error: { reason: 'token_missing' } })
  expect(machine.run('disconnect').code).toBe(0)
  expect(connect('')).toMatchObject({ token: 'kept' })
  expect(used()).toBe(second.id)
  expect(connect(first.secret, '--new-token')).toMatchObject({ token: 'new' })

  // A pipe that nobody writes to or ends.
  const waiting = startProgram(words, machine)
  onTestFinished(() => waiting.kill('SIGKILL'))
  const printed = await text(waiting.stdout)
  expect(JSON.parse(printed)).toMatchObject({ token: 'kept' })
})

test('the commands that a fresh team server shows work as they are shown', async () => {
  const around = serveHome()
  around.environment['WAYMARK_DATABASE'] = await teamDatabase(around.home)
  const folder = join(around.home, 'nothing')
  mkdirSync(folder)
  const run = (command: string, names: Readonly<Record<string, string>> = {}) => {
    const typed = command.replaceAll(/<(\w+)>/g, (_, name: string) => names[name] ?? name)
    const { code, error } = around.run(folder, ...typed.split(' '))
    return { code, shown: commandsIn(error) }
  }
  const { greeting } = await around.serve(folder, '--port', '0')
  const [project = '', person = '', admin = '', agent = '', ...others] = commandsIn(greeting)
  expect(others).toEqual([])
  expect(run(admin, { name: 'Ann' }).code).toBe(0)
  expect(run(project, { name: 'shop' }).code).toBe(0)

  // A person who is not there: the hint of the refusal adds them.
  const unknown = run('member add Ben maintainer --project shop')
  expect(unknown.shown).toContain('--project shop person add <name>')
  expect(run('--project shop person add <name>', { name: 'Ben' }).code).toBe(0)
  expect(run('member add Ben maintainer --project shop').code).toBe(0)
  expect(run(person, { name: 'Ben' }).code).toBe(0)
  expect(run(agent, { agent: 'claude', name: 'Ben', project: 'shop' }).code).toBe(0)
})

test('a server of a database without people lets them in from the first one on, and its own user no more', async () => {
  const around = serveHome()
  around.environment['WAYMARK_DATABASE'] = join(around.home, 'team.db')
  const folder = join(around.home, 'nothing')
  mkdirSync(folder)
  const { port, greeting, child, ended } = await around.serve(folder, '--port', '0')
  const session = (token: string) =>
    fetch(`http://127.0.0.1:${port}/api/session`, { headers: { Authorization: `Bearer ${token}` } })
  const statusFor = async (token: string) => (await session(token).catch(() => null))?.status
  const own = around.token('person')
  expect(await statusFor(own)).toBe(200)

  const [, admin = ''] = commandsIn(greeting)
  const words = [...admin.replace('<name>', 'Ann').split(' '), '--json']
  const { secret } = JSON.parse(around.run(folder, ...words).out)
  await expect.poll(() => statusFor(secret), { timeout: 10_000 }).toBe(200)
  expect(await (await session(secret)).json()).toMatchObject({
    actor: { name: 'Ann', kind: 'person' },
    permissions: { admin: true },
  })
  expect(await statusFor(own)).toBe(401)
  child.kill('SIGTERM')
  const { code, out } = await ended
  expect([code, out.match(/MCP:/g)?.length]).toEqual([0, 2])
})

/** The commands of a text, as they would be typed. */
function commandsIn(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /waymark ((?:--project \w+ )?(?:project|person|member|token) (?:[\w-]+|<\w+>)(?: (?:--[\w-]+|<\w+>|person\b))*)/g,
    ),
  ].map(([, command = '']) => command)
}

soakTest('connect says what is wrong with a token, an address or a name, and what to do', async () => {
  const { around, folder, json } = await openTeamFolder()
  json('project', 'add', 'shop')
  json('member', 'add', 'Ben', 'owner', '--project', 'shop')
  const { secret } = json('token', 'create', 'ben', '--kind', 'person', '--person', 'Ben')
  const { port } = await around.serve(folder, '--port', '0')
  const address = `http://127.0.0.1:${port}`
  const machine = agentMachine()
  const connect = (token: string, ...words: readonly string[]) =>
    runProgram(['connect', ...words], {
      folder: machine.folder,
      environment: { ...machine.environment, WAYMARK_TOKEN: token },
    })
  for (const token of [
    `${secret.slice(0, 20)}\n${secret.slice(20)}`,
    `${secret}\t`.repeat(2),
    `${secret}é`,
    `日${secret}`,
  ]) {
    const { code, error } = connect(token, address, '--project', 'shop')
    expect([code, error]).toEqual([
      2,
      expect.stringMatching(/token for .* invalid character.*\n.*WAYMARK_TOKEN=/),
    ])
    expect(error).not.toContain(secret.slice(0, 20))
  }
  for (const name of ['a\nb', 'sh op', '日本', '../shop', 'shop/x', 'shop\u001b[31m']) {
    const { code, error } = connect(secret, address, '--project', name)
    expect([name, code, error]).toEqual([name, 1, expect.stringContaining('shop')])
    expect(error).not.toMatch(/unexpected|\u001b/)
  }
  for (const place of [
    `${address}/p/sh op`,
    `${address}/p/Shop%0Ax`,
    'http://127.0. 0.1',
    'http://\n',
    'ftp://x',
  ])
    expect([place, connect(secret, place)]).toMatchObject([
      place,
      { code: 2, error: expect.stringMatching(/Use (?:a form such as )?http/) },
    ])
  expect(connect(`${secret}\n`, address, '--project', 'shop').code).toBe(0)
})
