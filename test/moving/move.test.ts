import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { type Entry, startWork } from '../cli/command-line.ts'
import { happened } from '../contract/store/facts.ts'
import { amount } from '../support/amount.ts'
import { isPostgresLeftOut } from '../support/postgres/database.ts'
import { isWritten, killedAt, type Movable, movable, standingAt, storeAt } from './place.ts'

const own = '.waymark/waymark.db'

function journal(project: Movable): readonly Entry[] {
  return project.json('log', '--limit', '1000').facts
}

/** How many of the two places the project is written at. */
async function writtenAt({ file, url, ...project }: Movable): Promise<number> {
  const both = [await standingAt(file, project), await standingAt(url, project)]
  return both.filter(isWritten).length
}

function complete(project: Movable, taskId: string): void {
  project.json('task', 'complete', taskId, '--status', 'success', '--outcome.summary', 'Added.')
}

// Killed at each line, or at every second one.
const everyLine = amount({ test: 2, soak: 1 })

describe.skipIf(isPostgresLeftOut)('a project that is moved', () => {
  test('goes there with an open attempt, is worked on there, and comes back', async () => {
    const project = await movable()
    const { taskId } = startWork(project)
    const before = journal(project)
    const moved = project.run('move', '--to', project.url, '--json')
    expect(moved.error).toContain('is open in postgres://')
    expect(JSON.parse(moved.out)).toMatchObject({ moved: true, from: project.file, facts: before.length + 2 })
    // The next command in the folder is there, and knows what changed since the attempt began.
    expect(project.json('status')).toMatchObject({
      moved: null,
      database: expect.stringMatching(/^postgres:/),
    })
    expect(journal(project).slice(0, before.length)).toEqual(before)
    project.write('src/form.ts', 'export const form = 1\n')
    complete(project, taskId)
    expect(project.json('changes', taskId).changes).toMatchObject([{ path: 'src/form.ts', change: 'added' }])
    expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    const there = journal(project)
    const back = project.json('move', '--to', own)
    // One more than the log tells of: whose lines are whose.
    expect(back).toMatchObject({ moved: true, to: project.file, facts: there.length + 3 })
    expect(existsSync(join(project.folder, '.waymark', 'database'))).toBe(false)
    expect(journal(project).slice(0, there.length)).toEqual(there)
    expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    expect(project.json('diff', taskId).diff).toContain('+export const form = 1')
    expect(await writtenAt(project)).toBe(1)
    startWork(project)
    // And once more, where an older record of it is.
    expect(project.json('move', '--to', project.url)).toMatchObject({ moved: true })
    expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
  })

  test('case 41: killed at each line that it says, there and back, it goes on; it is written at one place at most', async () => {
    const project = await movable()
    for (let at = 0; at < 3; at += 1) startWork(project)
    for (const to of [project.url, own]) {
      const before = journal(project).map(({ hash }) => hash)
      let lines = 0
      for (let line = 1; ; line += everyLine) {
        const { code, said } = await killedAt(['move', '--to', to], project, line)
        expect(await writtenAt(project)).toBeLessThanOrEqual(1)
        lines = Math.max(lines, said.length)
        if (code === 0) break
        expect(line).toBeLessThan(12)
      }
      expect(lines).toBeGreaterThanOrEqual(3)
      project.json('move', '--to', to)
      expect(await writtenAt(project)).toBe(1)
      expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
      expect(
        journal(project)
          .map(({ hash }) => hash)
          .slice(0, before.length),
      ).toEqual(before)
      startWork(project)
    }
  }, 240_000)

  test('is only read where it was, and every answer says first where it went', async () => {
    const project = await movable()
    project.json('move', '--to', project.url)
    const old = { environment: { WAYMARK_DATABASE: '' } }
    rmSync(join(project.folder, '.waymark', 'database'))
    const shown = project.runWith(old, 'log', '--json')
    expect(shown.error).toMatch(/^This project moved to postgres:\/\/[^@]+ on .*: this is its old record/)
    expect(JSON.parse(shown.out).facts.at(-1)).toMatchObject({ kind: 'project.moved' })
    expect(project.json('status').moved).toContain('This project moved to postgres://')
    expect(project.run('doctor').out).toContain('This project moved to postgres://')
    const refused = project.run('mission', 'start', 'More', '--objective', 'Any')
    expect(refused).toMatchObject({
      code: 1,
      error: expect.stringContaining('nothing is recorded here any more'),
    })
    expect(project.json('tidy')).toMatchObject({ removed_snapshots: 0, stale_attempts: 0 })
    // The place where it went is lost: a person says so.
    expect(project.run('doctor', '--accept').code).toBe(0)
    startWork(project)
    expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    // What was recorded at only one of the places would be lost.
    const apart = project.run('move', '--to', project.url)
    expect(apart).toMatchObject({ code: 1, error: expect.stringContaining('something was recorded there') })
    expect(await standingAt(project.file, project)).toMatchObject({ movedTo: null })
  })

  test('leaves whoever has it open meanwhile with a sentence, and nothing hangs', async () => {
    const project = await movable()
    const running = storeAt(project.file, project.folder)
    const heard = new AbortController()
    const kinds: string[] = []
    const following = (async () => {
      for await (const facts of running.follow(0, heard.signal))
        kinds.push(...facts.map(({ body }) => body.kind))
    })()
    const begin = () =>
      happened(running, Date.now(), { kind: 'setting.changed', name: 'elicitation', value: 'on' })
    await begin()
    project.json('move', '--to', project.url)
    await expect(begin()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/moved to postgres:/),
    })
    expect(await running.view(({ journal }) => journal.head())).toBeGreaterThan(0)
    expect(await running.notice()).toMatch(/^This project moved to postgres:/)
    await expect.poll(() => kinds.at(-1), { timeout: 30_000 }).toBe('project.moved')
    heard.abort()
    await following
    await running.close()
  })

  test('comes back also where the old record was removed', async () => {
    const project = await movable()
    project.json('move', '--to', project.url)
    for (const name of readdirSync(join(project.folder, '.waymark'))) {
      if (name.startsWith('waymark.db')) rmSync(join(project.folder, '.waymark', name))
    }
    expect(project.json('move', '--to', own)).toMatchObject({ moved: true })
    expect(project.json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    startWork(project)
  })

  test('leaves a password in the user’s folder alone, and says so', async () => {
    const project = await movable()
    const { password } = new URL(project.url)
    expect(password).not.toBe('')
    const moved = project.run('move', '--to', project.url)
    const kept = join(project.home, '.local', 'state', 'waymark', 'places.json')
    expect(moved.error).toContain(`with the password, is kept in ${kept}`)
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    expect(readFileSync(kept, 'utf8')).toContain(password)
    const facts = JSON.stringify(journal(project))
    expect(`${moved.error}${moved.out}${facts}`).not.toContain(password)
    for (const name of readdirSync(join(project.folder, '.waymark'), { recursive: true, encoding: 'utf8' })) {
      const file = join(project.folder, '.waymark', name)
      if (statSync(file).isFile()) expect(readFileSync(file, 'latin1')).not.toContain(password)
    }
    // A folder that names a place which this user never named leads nowhere.
    rmSync(kept)
    expect(project.run('status')).toMatchObject({
      code: 1,
      error: expect.stringMatching(/says that this project was moved to postgres:.*WAYMARK_DATABASE/s),
    })
  })
})

describe.skipIf(isPostgresLeftOut)('a move is refused, and the project stays as it is,', () => {
  const refusals: readonly (readonly [string, (project: Movable) => Promise<string> | string, RegExp])[] = [
    ['to a server that does not answer', () => 'postgres://u@127.0.0.1:1/none', /cannot be reached/],
    [
      'to a database that there is not',
      ({ url }) => url.replace(/\/[^/]+$/, '/there-is-none'),
      /There is no such database: postgres:/,
    ],
    [
      'to another kind of place',
      () => 'mysql://u:not-to-be-told@h/d',
      /A database at mysql:\/\/… cannot be used/,
    ],
    [
      'where another project has that name',
      async ({ url }) => {
        const other = await movable()
        other.json('move', '--to', url)
        return url
      },
      /There is another project called "project".*--name <name>/s,
    ],
    [
      'where the schema is newer',
      async ({ url }) => {
        const other = await movable()
        other.json('move', '--to', url)
        await ask(url, 'update waymark_schema set version = 999')
        return url
      },
      /has schema 999, made by a newer Waymark/,
    ],
  ]

  test.each(refusals)('%s', async (_title, prepare, says) => {
    const project = await movable()
    const to = await prepare(project)
    const refused = project.run('move', '--to', to)
    expect(refused.code).not.toBe(0)
    expect(refused.error).toMatch(says)
    expect(refused.error).not.toContain('not-to-be-told')
    expect(await standingAt(project.file, project)).toMatchObject({ movedTo: null, isArriving: false })
    startWork(project)
  })

  test('to the file of another project', async () => {
    const [project, other] = [await movable(), await movable()]
    expect(project.run('move', '--to', other.file)).toMatchObject({
      code: 1,
      error: expect.stringContaining(`The database ${other.file} holds another project already`),
    })
    expect(await standingAt(project.file, project)).toMatchObject({ movedTo: null })
    expect(project.json('move', '--to', own)).toMatchObject({ moved: false })
  })
})

async function ask(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}
