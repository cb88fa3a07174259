import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readExport } from '../../../src/events/operations/event-line.ts'
import { happened } from '../../store/events.ts'
import { amount } from '../../support/amount.ts'
import { aTask } from '../../support/entities.ts'
import { isPostgresLeftOut } from '../../support/postgres/database.ts'
import { bin } from '../../support/program.ts'
import { startAlone } from '../../support/started-program.ts'
import {
  type CommandLineProject,
  openCommandLine,
  refusalIn,
  startWork,
} from '../../surfaces/cli/command-line.ts'
import { begun, emptyServer, type Movable, movable, storeAt, takeTo } from './place.ts'

const verify = ['log', '--verify', '--limit', '1'] as const
const start = ['mission', 'start', 'More', '--objective', 'Any', '--idempotency-key', 'k-1'] as const

function written(project: CommandLineProject, name: string, text: string): string {
  const file = join(project.home, name)
  writeFileSync(file, text)
  return file
}

describe('export --end', () => {
  test('ends writing, says where the project goes on and what to do, and repeated says the same', async () => {
    const project = openCommandLine()
    project.json('mission', 'start', 'Begin', '--objective', 'Any')
    const first = project.run('export', '--end', '--to', 'postgres://ada:secret@host/team')
    expect(first).toMatchObject({ code: 0, error: expect.stringContaining('waymark import --replace') })
    expect(first.out).not.toContain('secret')
    const refused = project.run('mission', 'start', 'More', '--objective', 'Any')
    expect(refused.code).not.toBe(0)
    expect(refused.error).toMatch(/goes on at postgres:\/\/host\/team.*import --replace.*export --reopen/s)
    expect(project.json('status').ended).toContain('goes on at postgres://host/team')
    expect(project.run('log').error).toContain('read-only')
    expect(project.run('export', '--end').out).toBe(first.out)
    expect(project.json('export', '--reopen')).toMatchObject({ reopened: true })
    expect(project.json('export', '--reopen')).toMatchObject({ reopened: false })
    project.json('mission', 'start', 'More', '--objective', 'Any')
    expect(project.json(...verify)).toMatchObject({ healthy: true })
  })

  test('is refused where there is no record', () => {
    const project = openCommandLine()
    expect(project.run('export', '--end')).toMatchObject({ code: 1, out: '' })
    expect(existsSync(join(project.folder, '.waymark'))).toBe(false)
  })
})

test('the token of a claim stands in no log and in no export, and is valid after an import', () => {
  const [project, other] = [openCommandLine(), openCommandLine()]
  project.write('plan.md', '# Screens\n\n- [ ] Draw them\n')
  project.run('import', 'plan.md')
  const claiming = ['task', 'next', '--claim', '--agent-name', 'ada', '--idempotency-key', 'k-1'] as const
  const { task, claim } = project.json(...claiming)
  const beginning = ['task', 'start', '--planned-task-id', task.id, '--agent-name', 'bob'] as const
  expect(project.refused(...beginning)).toMatchObject({ reason: 'claim_held_by_other' })
  const texts = [['log', '--json'], ['export'], ['export', '--end']].map((words) => project.run(...words).out)
  for (const text of texts) {
    expect(text).toContain('task.claimed')
    expect(text).not.toContain(claim.token)
  }
  const file = join(project.home, 'project.jsonl')
  writeFileSync(file, texts.at(-1) ?? '')
  other.json('import', '--replace', file)
  expect(other.json(...verify)).toMatchObject({ healthy: true })
  expect(other.refused(...beginning)).toMatchObject({ reason: 'claim_held_by_other' })
  expect(other.json(...beginning, '--claim-token', claim.token)).toMatchObject({ task_id: task.id })
})

test('no secret of the project stands in an export, and the addresses of webhooks are asked for again', () => {
  const [project, other] = [openCommandLine(), openCommandLine()]
  project.json('mission', 'start', 'Begin', '--objective', 'Any')
  const secrets = ['B0PATH/t0psecret', 'q=als0secret']
  const local = 'http://127.0.0.1:9'
  const webhook = `${local}/${secrets[0]}?${secrets[1]}`
  const { secret } = project.json('notify', 'add', 'webhook', webhook, '--private')
  project.json('notify', 'add', 'slack', `${local}/services/${secrets[0]}`, '--private')
  const token = /wm1_\w{12}_([\w-]{43})/.exec(project.run('token', 'create', 'ci').out)?.[1] ?? 'no token'
  secrets.push(secret, String(secret).replace('whsec_', ''), token)
  const plain = project.run('export')
  const place = 'postgres://ada:pa/ss@db.test/team?password=urlsecret&sslkey=k'
  const ended = project.run('export', '--end', '--to', place)
  for (const { out, error } of [plain, ended]) {
    expect(out).toContain('notification.added')
    for (const secret of [...secrets, 'urlsecret', 'pa/ss']) expect(out + error).not.toContain(secret)
  }
  expect(ended.error).toMatch(/postgres:\/\/db\.test\/team:.*webhook, slack.*notify edit <name> --url/s)
  other.json('import', '--replace', written(project, 'project.jsonl', ended.out))
  const again = other.json('notify', 'edit', 'webhook', '--url', webhook, '--new-secret', '--private')
  expect(again.secret).toMatch(/^whsec_/)
  expect(other.json(...verify)).toMatchObject({ healthy: true })
})

describe('an export that was cut or changed', () => {
  const cuts: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
    'at the end of its last line': (lines) => lines.slice(0, -1),
    'at the end of a log entry': (lines) => lines.slice(0, 3),
    'after its first line': (lines) => lines.slice(0, 1),
    'inside its last line': (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, -5) ?? ''],
    'inside a log entry': (lines) => [...lines.slice(0, 2), lines[2]?.slice(0, 40) ?? ''],
    'in its middle': (lines) => [...lines.slice(0, 2), ...lines.slice(3)],
    'in its log': (lines) => lines.map((line) => line.replace('Begin', 'Began')),
  }

  test('is refused, and nothing is imported', () => {
    const [project, other] = [openCommandLine(), openCommandLine()]
    project.json('mission', 'start', 'Begin', '--objective', 'Any')
    startWork(project)
    const lines = project.run('export').out.trimEnd().split('\n')
    for (const [where, cut] of Object.entries(cuts)) {
      const file = written(other, 'cut.jsonl', `${cut(lines).join('\n')}\n`)
      // The hashes of a changed entry are only looked at when it is applied.
      const dryRun = where === 'in its log' ? [] : [['import', file, '--dry-run']]
      for (const words of [['import', file], ...dryRun, ['import', '--replace', file]])
        expect({ where, ...other.run(...words) }).toMatchObject({
          where,
          code: 2,
          error: expect.stringMatching(/export/i),
        })
      expect({ where, ...other.json('status') }).toMatchObject({ where, events: 0, missions_total: 0 })
    }
  })

  test('a whole one is read at every length but its own as cut', async () => {
    const project = openCommandLine()
    project.json('mission', 'start', 'Begin', '--objective', 'Any')
    const [, ...lines] = project.run('export').out.trimEnd().split('\n')
    expect(await readExport(lines)).toMatchObject({ events: lines.length - 1 })
    for (let length = 0; length < lines.length; length += 1)
      await expect(readExport(lines.slice(0, length))).rejects.toThrow('The export is incomplete')
  })
})

describe('import --replace', () => {
  test('renames the record that is here, and a second import changes nothing', async () => {
    const [project, other] = [openCommandLine(), openCommandLine()]
    project.json('mission', 'start', 'Begin', '--objective', 'Any')
    other.json('mission', 'start', 'Other', '--objective', 'Any')
    const file = join(project.home, 'project.jsonl')
    writeFileSync(file, project.run('export').out)
    expect(other.refused('import', file)).toMatchObject({ code: 'CONFLICT', reason: 'record_exists' })
    const imported = other.json('import', '--replace', file)
    expect(imported.set_aside).toContain('waymark.db.replaced-')
    expect(existsSync(imported.set_aside)).toBe(true)
    expect(other.json('import', '--replace', file)).toMatchObject({ set_aside: null, added: 0 })
    expect(other.json(...verify)).toMatchObject({ healthy: true })
    expect(other.json('mission', 'list').missions).toMatchObject([{ name: 'Begin' }])
    // The way back.
    other.json('backup', 'restore', imported.set_aside)
    expect(other.json('mission', 'list').missions).toMatchObject([{ name: 'Other' }])
    expect(
      readdirSync(join(other.folder, '.waymark')).filter((name) => /importing|restoring/.test(name)),
    ).toEqual([])
  })

  test('a plan is no exported project', () => {
    const project = openCommandLine()
    const file = join(project.home, 'plan.md')
    writeFileSync(file, '# Plan\n\n- [ ] One\n')
    expect(project.run('import', '--replace', file)).toMatchObject({
      code: 2,
      error: expect.stringContaining('not an exported project'),
    })
  })
})

const isSoak = process.env['WAYMARK_TEST_SOAK'] === '1'

describe.skipIf(isPostgresLeftOut)('a project that is taken elsewhere', () => {
  test('goes to PostgreSQL with its keys, is worked on there, and comes back', async () => {
    const project = await movable()
    const begun = project.json(...start)
    startWork(project)
    const before = project.json('log', '--limit', '1000').events
    const there = takeTo(project, project.url)
    expect(there.json('log', '--limit', '1000').events.slice(0, before.length)).toEqual(before)
    expect(there.json(...verify)).toMatchObject({ healthy: true })
    expect(there.json(...start)).toEqual(begun)
    expect(there.json('status')).toMatchObject({ ended: null })
    there.json('mission', 'start', 'There', '--objective', 'Any')
    // And back, where the old record is the beginning of what comes.
    const back = written(project, 'back.jsonl', there.run('export', '--end', '--to', project.file).out)
    expect(project.json('import', '--replace', back)).toMatchObject({ set_aside: null })
    expect(project.json(...start)).toEqual(begun)
    expect(project.json(...verify)).toMatchObject({ healthy: true })
    expect(project.json('mission', 'list').missions).toHaveLength(4)
    project.json('mission', 'start', 'Home', '--objective', 'Any')
    expect(refusalIn(there.run('mission', 'start', 'Lost', '--objective', 'Any', '--json'))).toMatchObject({
      code: 'REFUSED',
      reason: 'project_ended',
    })
  })

  test('what was written at both is refused on a server, and kept beside it in a file', async () => {
    const project = await movable()
    const there = takeTo(project, project.url)
    there.json('mission', 'start', 'There', '--objective', 'Any')
    project.json('export', '--reopen')
    project.json('mission', 'start', 'Here', '--objective', 'Any')
    const here = written(project, 'here.jsonl', project.run('export').out)
    expect(there.run('import', '--replace', here)).toMatchObject({
      code: 1,
      error: expect.stringContaining('the file lacks some'),
    })
    expect(there.json(...verify)).toMatchObject({ healthy: true })
    const over = written(project, 'there.jsonl', there.run('export').out)
    expect(project.json('import', '--replace', over).set_aside).toContain('.replaced-')
    expect(project.json('mission', 'list').missions.map(({ name }: { name: string }) => name)).toContain(
      'There',
    )
  })

  test('the place of another project on a server is taken, and that one keeps its record under another name', async () => {
    const [project, other] = [begun(), openCommandLine()]
    const url = await emptyServer()
    const run = (...words: readonly string[]) =>
      other.runWith({ environment: { WAYMARK_DATABASE: url } }, ...words)
    expect(run('mission', 'start', 'Other', '--objective', 'Any').code).toBe(0)
    const file = written(project, 'project.jsonl', project.run('export').out)
    const imported = JSON.parse(run('import', '--replace', file, '--json').out)
    expect(imported.set_aside).toMatch(/-replaced$/)
    expect(JSON.parse(run('mission', 'list', '--json').out).missions).toMatchObject([{ name: 'Begin' }])
  })

  test('killed at any time it leaves nothing half done, and repeated it ends as if it had never been killed', async () => {
    const project = await movable()
    await fill(project, amount({ test: 300, soak: 20_000 }))
    const file = written(project, 'project.jsonl', project.run('export', '--end').out)
    const events = project.json('status').events
    const environment = { ...project.environment, WAYMARK_DATABASE: project.url }
    for (const wait of [400, 50, 800, 1_200, 2_000].slice(0, amount({ test: 1, soak: 5 }))) {
      const importing = startAlone([bin, 'import', '--replace', file], {
        folder: project.folder,
        environment,
      })
      const timer = setTimeout(() => importing.kill(), wait)
      await importing.gone
      clearTimeout(timer)
      const there = storeAt(project.url, project.folder)
      expect([0, events + 1]).toContain(await there.view(({ eventLog: log }) => log.head()))
      await there.close()
    }
    const run = (...words: readonly string[]) =>
      project.runWith({ environment: { WAYMARK_DATABASE: project.url } }, ...words, '--json')
    for (let time = 0; time < 2; time += 1) expect(run('import', '--replace', file).code).toBe(0)
    expect(JSON.parse(run('status').out)).toMatchObject({ events: events + 1, ended: null })
    expect(JSON.parse(run(...verify).out)).toMatchObject({ healthy: true })
  }, 240_000)

  test.runIf(isSoak)(
    'many log entries are taken to a server and back',
    async () => {
      const project = await movable()
      await fill(project, 100_000)
      const events = project.json('status').events
      const there = takeTo(project, project.url)
      expect(there.json(...verify)).toMatchObject({ healthy: true, head: events + 2 })
      const back = written(project, 'back.jsonl', there.run('export', '--end').out)
      const empty = openCommandLine()
      expect(empty.json('import', '--replace', back)).toMatchObject({ events: events + 3 })
      expect(empty.json(...verify)).toMatchObject({ healthy: true })
    },
    900_000,
  )
})

/** So many tasks more, written without the command line. */
async function fill(project: Movable, count: number): Promise<void> {
  const store = storeAt(project.file, project.folder)
  const made = Array.from({ length: count }, (_, number) => ({
    kind: 'task.planned' as const,
    task: aTask({ id: `t-many-${number}` as never, status: 'to_do', missionId: null, phaseId: null }),
  }))
  for (let from = 0; from < count; from += 500)
    await happened(store, Date.now(), ...made.slice(from, from + 500))
  await store.close()
}
