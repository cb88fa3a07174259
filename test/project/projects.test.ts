import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentMachine } from '../remote/machines.ts'
import { amount } from '../support/amount.ts'
import { emptyPostgres, isPostgresLeftOut } from '../support/postgres/database.ts'
import type { Answer } from '../support/project.ts'
import { type ServeHome, type Serving, serveHome } from '../surfaces/http/serve-process.ts'

/** A server's machine: a database that is named, and a folder that is no project. */
interface Site {
  readonly around: ServeHome
  readonly folder: string
  readonly serve: () => Promise<Serving>
  /** Runs the program there; fails with what it says. */
  readonly run: (...words: readonly string[]) => Answer
}

function siteWith(database: string): Site {
  const around = serveHome()
  around.environment['WAYMARK_DATABASE'] = database === '' ? join(around.home, 'all.db') : database
  const folder = join(around.home, 'nothing')
  mkdirSync(folder)
  return {
    around,
    folder,
    serve: () => around.serve(folder, '--port', '0'),
    run: (...words) => {
      const { code, out, error } = around.run(folder, ...words, '--json')
      if (code !== 0) throw new Error(error)
      return JSON.parse(out)
    },
  }
}

/** In `npm test` one engine each: the other is tried in the soak run. */
const enginesFrom = (first: number) =>
  [...engines.slice(first), ...engines.slice(0, first)].slice(0, amount({ test: 1, soak: 2 }))

const engines = [
  { engine: 'SQLite', database: async () => ({ url: '', [Symbol.asyncDispose]: async () => undefined }) },
  { engine: 'PostgreSQL', database: () => emptyPostgres() },
].filter(({ engine }) => engine === 'SQLite' || !isPostgresLeftOut)

function asking(address: string, token: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const asked = async (path: string, body?: object) => {
    const response = await fetch(`${address}${path}`, {
      headers,
      method: body ? 'POST' : 'GET',
      ...(body && { body: JSON.stringify(body) }),
    })
    const said: Answer = await response.json()
    return { status: response.status, said }
  }
  return asked
}

for (const { engine, database } of enginesFrom(engines.length - 1)) {
  test(`a server of ${engine} begins without a project, and gets its first one from a laptop`, async () => {
    await using named = await database()
    const site = siteWith(named.url)
    const ann: string = site.run('token', 'create', '--admin', '--person', 'Ann').secret
    const one = await site.serve()
    const two = await site.serve()
    expect(one.greeting).toContain('no project yet')
    const address = `http://127.0.0.1:${one.port}`
    site.run('person', 'add', 'Ben')
    const ben: string = site.run('token', 'create', 'ben', '--kind', 'person', '--person', 'Ben').secret
    const ask = asking(address, ann)

    // Nothing is there, and it says so.
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ status: 'ready' })
    expect((await ask('/api/session')).said).toMatchObject({
      actor: { name: 'Ann' },
      project: '',
      projects: [],
      permissions: { admin: true },
    })
    expect((await ask('/api/projects')).said).toEqual({ projects: [] })
    expect((await ask('/api/project_list', {})).said.projects).toEqual([])
    expect((await ask('/api/person_list', {})).said.people).toHaveLength(2)

    // The reserved project is none that anybody works in.
    for (const path of [
      '/api/start_mission',
      '/p/server/api/start_mission',
      '/p/server/api/session',
      '/p/server/api/log',
    ]) {
      const { status, said } = await ask(path, path.endsWith('mission') ? { name: 'Lost' } : undefined)
      expect({ path, status }).toEqual({ path, status: 404 })
      expect(said.error.message).toMatch(/There is no project (?:on this server yet|"server" here)\.$/)
    }
    expect((await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404)
    const machine = agentMachine()
    const as = (token: string, ...words: readonly string[]) => {
      Object.assign(machine.environment, { WAYMARK_TOKEN: token })
      const ran = machine.run('connect', address, ...words)
      delete machine.environment['WAYMARK_TOKEN']
      return ran
    }
    expect(as(ann, '--project', 'server', '--new').error).toContain('"server" is reserved')

    // From a laptop.
    expect(as(ann).error).toContain('has no project yet')
    expect(as(ann).error).toContain(`waymark connect ${address} --project <name> --new`)
    expect(as(ann, '--project', 'site').error).toContain(`waymark connect ${address} --project site --new`)
    const refused = as(ben, '--project', 'site', '--new').error
    expect(refused).toContain('project_add needs an admin. Ben is not an admin.')
    expect(as(ben, '--project', 'site').error).toContain('Ask an admin of the server')
    expect(existsSync(join(machine.folder, '.waymark', 'server'))).toBe(false)
    const made = as(ann, '--project', 'site', '--new')
    expect(made.error).toContain('Created project site')
    expect(made.code).toBe(0)

    // The other server has it, too, without a restart.
    const there = asking(`http://127.0.0.1:${two.port}`, ann)
    expect((await there('/p/site/api/session')).said).toMatchObject({
      project: 'site',
      permissions: { access: 'owner' },
    })
    expect((await there('/api/projects')).said).toEqual({
      projects: [{ key: 'site', name: 'site', folder: '' }],
    })
    expect((await there('/p/site/api/member_list', {})).said.members).toMatchObject([
      { person: { name: 'Ann' }, access: 'owner' },
    ])
    expect((await there('/p/site/api/start_mission', { name: 'First', objective: 'Work' })).status).toBe(200)

    // What the laptop says of it names no database.
    const status = JSON.parse(machine.run('status', '--json').out)
    expect(status).toMatchObject({ database: `${address}/p/site`, missions: [{ name: 'First' }] })
    const doctor = JSON.parse(machine.run('doctor', '--json').out)
    expect(doctor.checks.slice(0, 2)).toMatchObject([
      {
        check: 'connection',
        ok: true,
        finding: expect.stringMatching(/\/p\/site answers in \d+ ms; Waymark /),
      },
      { check: 'token', ok: true, finding: expect.stringMatching(/^of Ann \(person\), valid until \d{4}-/) },
    ])
    expect(doctor.checks.find(({ check }: Answer) => check === 'database').finding).toContain(
      `${address}/p/site`,
    )
    expect(doctor.checks.find(({ check }: Answer) => check === 'tables').ok).toBe(true)
    expect(JSON.stringify([status, doctor])).not.toContain(
      named.url === '' ? 'all.db' : new URL(named.url).pathname,
    )
    // Nor does it name a folder of the server.
    expect(doctor.checks.find(({ check }: Answer) => check === 'program').finding).toMatch(/, on the server$/)

    // A folder that has the name of the project.
    expect(site.run('member', 'list', '--project', 'site').members).toHaveLength(1)
    mkdirSync(join(site.folder, 'site'))
    expect(() => site.run('member', 'list', '--project', 'site')).toThrow(
      /The folder site .* id: --project p-/s,
    )

    // One project needs no name, several do.
    expect(as(ann).code).toBe(0)
    expect((await ask('/api/project_add', { name: 'shop' })).status).toBe(200)
    const other = agentMachine()
    Object.assign(other.environment, { WAYMARK_TOKEN: ann })
    expect(other.refused('connect', address)).toMatchObject({ reason: 'project_ambiguous' })

    // The reserved project holds nothing but persons, tokens and names.
    const kinds = (await ask('/p/site/api/log', { limit: 50 })).said.events.map(({ kind }: Answer) => kind)
    expect(kinds).toEqual(['project.created', 'member.set', 'mission.started'])
    expect(site.run('project', 'list').projects).toMatchObject([
      { name: 'shop', events: 2, waiting: 0, open_attempts: 0 },
      { name: 'site', events: 3, waiting: 0, last_event_at: expect.any(String) },
    ])
  })
}

for (const { engine, database } of enginesFrom(0)) {
  test(`names of projects of ${engine} are refused with a sentence, and changed for all`, async () => {
    await using named = await database()
    const site = siteWith(named.url)
    const ann: string = site.run('token', 'create', '--admin', '--person', 'Ann').secret
    site.run('person', 'add', 'Ben')
    const ben: string = site.run('token', 'create', 'ben', '--kind', 'person', '--person', 'Ben').secret
    const serving = await site.serve()
    const address = `http://127.0.0.1:${serving.port}`
    const [ask, asBen] = [asking(address, ann), asking(address, ben)]
    expect((await ask('/api/project_add', { name: 'site' })).said.owner).toMatchObject({ name: 'Ann' })
    const cases = [
      ['site', 'CONFLICT', 'There is already a project "site"'],
      ['', 'INVALID_INPUT', 'name'],
      ['server', 'REFUSED', '"server" is reserved'],
      ['My Site', 'INVALID_INPUT', '"My Site" is not a valid project name'],
      ['a--b', 'INVALID_INPUT', '"a--b" is not a valid'],
      ['x'.repeat(41), 'INVALID_INPUT', 'has at most 40 characters'],
    ] as const
    for (const [name, code, message] of cases) {
      const { said } = await ask('/api/project_add', { name })
      expect({ name, code: said.error.code }).toEqual({ name, code })
      expect(said.error.message).toContain(message)
    }
    // Nobody but an admin makes one; a member sees their own.
    site.run('project', 'add', 'shop')
    await ask('/p/site/api/member_add', { person: 'Ben', access: 'viewer' })
    await expect.poll(async () => (await asBen('/p/site/api/session')).status).toBe(200)
    expect((await asBen('/p/site/api/project_add', { name: 'mine' })).status).toBe(403)
    expect((await asBen('/p/site/api/project_list', {})).said.projects).toMatchObject([{ name: 'site' }])
    expect((await ask('/api/project_list', {})).said.projects).toMatchObject([
      { name: 'shop' },
      { name: 'site' },
    ])

    expect((await ask('/api/project_rename', { project: 'site', name: 'shop' })).status).toBe(409)
    expect((await ask('/api/project_rename', { project: 'sitte', name: 'home' })).said.error.message).toBe(
      'There is no project "sitte". Did you mean "site"?',
    )
    expect((await ask('/api/project_rename', { project: 'site', name: 'home' })).said).toMatchObject({
      name: 'home',
      before: 'site',
    })
    expect((await asBen('/p/home/api/session')).said).toMatchObject({
      project: 'home',
      projects: [{ key: 'home' }],
    })
    expect((await asBen('/p/site/api/session')).status).toBe(404)
    // The old name is another project's now, to which nobody who had the first one gets.
    expect((await ask('/api/project_add', { name: 'site' })).status).toBe(200)
    expect((await asBen('/p/site/api/session')).status).toBe(404)
    expect((await ask('/p/site/api/log', {})).said.head).toBe(2)
    expect(JSON.parse(site.around.run(site.folder, 'person', 'list', '--json').out).people).toHaveLength(2)
  })
}

test('a folder is disconnected from a server, also while that is away', async () => {
  const site = siteWith('')
  const ann: string = site.run('token', 'create', '--admin', '--person', 'Ann').secret
  const serving = await site.serve()
  const address = `http://127.0.0.1:${serving.port}`
  const machine = agentMachine()
  Object.assign(machine.environment, { WAYMARK_TOKEN: ann })
  expect(machine.refused('disconnect')).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'server_not_connected',
  })
  expect(machine.run('connect', address, '--project', 'site', '--new').code).toBe(0)
  delete machine.environment['WAYMARK_TOKEN']
  const mission = JSON.parse(
    machine.run('mission', 'start', '--name', 'M', '--objective', 'O', '--json').out,
  ).mission_id
  const task = JSON.parse(
    machine.run('task', 'start', '--mission-id', mission, '--name', 'T', '--json').out,
  ).task_id
  serving.child.kill('SIGKILL')
  await serving.ended
  const logged = machine.run('progress', 'log', task, 'Half way')
  expect(logged.code).toBe(1)
  expect(logged.error).toContain(`The server ${address} cannot be reached; nothing was recorded. Try again.`)
  const doctor = machine.run('doctor', '--json')
  expect(doctor.code).toBe(1)
  expect(JSON.parse(doctor.out).checks).toMatchObject([{ check: 'connection', ok: false }])
  expect(machine.run('disconnect').code).toBe(0)
  expect(existsSync(join(machine.folder, '.waymark', 'server'))).toBe(false)
})
