import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { CommandResult } from '../../../src/gate/domain/run.ts'
import { endOfCommand } from '../../../src/gate/operations/run/commands.ts'
import type { AttemptId, CommandResultId } from '../../../src/kernel/id.ts'
import { fingerprint } from '../../../src/store/fingerprint.ts'
import { restoreFromBackup } from '../../../src/store/safety/restore-backup.ts'
import { amount, soakTest } from '../../support/amount.ts'
import { agent } from '../../support/entities.ts'
import { isPostgresLeftOut } from '../../support/postgres/database.ts'
import {
  type CommandLineProject,
  type Entry,
  openCommandLine,
  startWork,
} from '../../surfaces/cli/command-line.ts'
import { type Begun, begun, emptyServer, movable, storeAt, takeTo } from './place.ts'

const text = 'diff --git a/src/form.ts b/src/form.ts\n+export const form = 1\n'

const commandId = 'cmd-0123456789ab' as CommandResultId
const printed = `${'a line of a long test run é\n'.repeat(500)}all passed\n`

/** A task that was done, what a command printed at length, and what its machine sent of it. */
async function withKeptDiff(project: Begun): Promise<string> {
  const { taskId } = startWork(project)
  const done = project.json('task', 'complete', taskId, '--status', 'success', '--outcome.summary', 'Added.')
  const [attempt] = project.json('show', taskId).attempts
  const attemptId: AttemptId = attempt.attempt_id ?? attempt.id
  expect(done).toBeDefined()
  const store = storeAt(project.file, project.folder)
  const report = {
    status: 'passed',
    exitCode: 0,
    output: printed,
    tree: 'tree',
    touched: [],
    hash: '',
  } as const
  const command = { id: commandId, runId: null, tree: 'tree' }
  const { events, sideWrites } = await endOfCommand(fingerprint, command, report)
  const started: CommandResult = {
    id: commandId,
    runId: null,
    run: 'npm test',
    folder: project.folder,
    tree: 'tree',
    status: 'running',
    exitCode: null,
    output: '',
    treeHeld: true,
    runner: 'here',
    startedAt: Date.now(),
    endedAt: null,
  }
  await store.record({
    actor: agent,
    at: Date.now(),
    decide: async () => ({
      events: [{ kind: 'command.started', command: started }, ...events],
      sideWrites: [{ kind: 'diff kept', attemptId, text, cut: false }, ...sideWrites],
      answer: null,
    }),
  })
  await store.close()
  return attemptId
}

async function diffAt(place: string, project: CommandLineProject, attemptId: string) {
  const store = storeAt(place, project.folder)
  try {
    return await store.view(({ machines }) => machines.diff(attemptId))
  } finally {
    await store.close()
  }
}

async function outputAt(place: string, project: CommandLineProject) {
  const store = storeAt(place, project.folder)
  try {
    return await store.view(({ runs }) => runs.commandOutput(commandId))
  } finally {
    await store.close()
  }
}

/** Everything that is read of a project, wherever it is kept. */
function reads(run: (...words: readonly string[]) => Entry): Entry {
  const { database: _, project: __, warnings: ___, ...status } = run('status')
  return [status, run('log', '--limit', '1000'), run('board'), run('mission', 'list')]
}

const places = isPostgresLeftOut ? ['sqlite'] : ['sqlite', 'postgres']

// On PostgreSQL the import of transfer.test.ts and the restored dump below are in `npm test`.
test.each(places.slice(0, amount({ test: 1, soak: 2 })))(
  'case 42: what is exported is imported in %s, kept diffs and all',
  async (engine) => {
    const project = begun()
    const attemptId = await withKeptDiff(project)
    const file = join(project.home, 'project.jsonl')
    writeFileSync(file, project.run('export').out)
    const other = openCommandLine()
    const url = engine === 'postgres' ? await emptyServer() : null
    const environment = { WAYMARK_DATABASE: url ?? '' }
    const json = (...words: readonly string[]) => {
      const { code, out, error } = other.runWith({ environment }, ...words, '--json')
      expect(error).toBe('')
      expect(code).toBe(0)
      return JSON.parse(out)
    }
    expect(json('import', file)).toMatchObject({ events: project.json('status').events })
    expect(json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    expect(reads(json)).toEqual(reads(project.json))
    const kept = await diffAt(url ?? join(other.folder, '.waymark', 'waymark.db'), other, attemptId)
    expect(kept).toMatchObject({ text, cut: false })
    const printedThere = await outputAt(url ?? join(other.folder, '.waymark', 'waymark.db'), other)
    expect(printedThere).toMatchObject({ text: printed, removedAt: null })
    // A diff that is not the one of its hash is refused.
    const whole = project.run('export').out
    for (const [kept, sentence] of [
      [/("attempt_diff",.*"base64":)"[^"]+"/, 'do not match their hash'],
      [/("command_output",.*"base64":)"[^"]+"/, 'does not match its hash'],
    ] as const) {
      writeFileSync(file, whole.replace(kept, '$1"AAAA"'))
      const third = openCommandLine()
      expect(third.run('import', file)).toMatchObject({ code: 2, error: expect.stringContaining(sentence) })
    }
  },
)

const bin = '/usr/lib/postgresql/15/bin'

soakTest.skipIf(isPostgresLeftOut || !existsSync(join(bin, 'pg_dump')))(
  'case 42: what pg_dump wrote is restored as it was',
  async () => {
    const project = await movable()
    const attemptId = await withKeptDiff(project)
    const there = takeTo(project, project.url)
    expect(there.run('backup', 'create', 'copy.db')).toMatchObject({
      code: 1,
      error: expect.stringMatching(/pg_dump.*waymark export > <file>/s),
    })
    const before = reads(there.json)
    const dump = join(project.home, 'waymark.dump')
    execFileSync(join(bin, 'pg_dump'), ['--format=custom', `--file=${dump}`, project.url])
    const restored = await emptyServer()
    execFileSync(join(bin, 'pg_restore'), ['--no-owner', `--dbname=${restored}`, dump])
    const json = (...words: readonly string[]) =>
      JSON.parse(project.runWith({ environment: { WAYMARK_DATABASE: restored } }, ...words, '--json').out)
    expect(reads(json)).toEqual(before)
    expect(json('log', '--verify', '--limit', '1')).toMatchObject({ healthy: true })
    expect(await diffAt(restored, project, attemptId)).toMatchObject({ text })
  },
)

test.each(places.slice(0, amount({ test: 1, soak: 2 })))(
  'after retention_days a kept diff and what a command printed are removed in %s, and that is said',
  async (engine) => {
    const project = begun()
    const attemptId = await withKeptDiff(project)
    const url = engine === 'postgres' ? await emptyServer() : null
    const place = url ?? project.file
    const { json } = url === null ? project : takeTo(project, url)
    const pruneIn = async (days: number) => {
      const { invoke } = await import('../../../src/kernel/operations/invoke.ts')
      const { prune } = await import('../../../src/project/operations/prune.ts')
      const { openContext } = await import('../../../src/app/open-context.ts')
      const { environment, folder: workingFolder } = project
      const database = url === null ? {} : { WAYMARK_DATABASE: url }
      const context = openContext({
        actor: agent,
        environment: { ...environment, ...database },
        workingFolder,
      })
      try {
        const clock = { now: () => Date.now() + days * 24 * 60 * 60 * 1000 }
        return await invoke(prune, { ...context, clock }, {})
      } finally {
        await context.store.close()
      }
    }
    expect(await pruneIn(400)).toMatchObject({ removed_diffs: 0 })
    json('setting', 'set', 'retention_days', '90')
    expect(await pruneIn(89)).toMatchObject({ removed_diffs: 0, removed_outputs: 0 })
    expect(await outputAt(place, project)).toMatchObject({ text: printed, removedAt: null })
    const events = json('status').events
    expect(await pruneIn(91)).toMatchObject({
      removed_diffs: 1,
      removed_outputs: 1,
      removed_bytes: text.length + Buffer.byteLength(printed),
    })
    expect(await pruneIn(91)).toMatchObject({ removed_diffs: 0, removed_outputs: 0, removed_bytes: 0 })
    expect(await outputAt(place, project)).toMatchObject({
      text: null,
      bytes: Buffer.byteLength(printed),
      removedAt: expect.any(Number),
    })
    expect(await diffAt(place, project, attemptId)).toMatchObject({ text: null, bytes: text.length })
    expect(json('log', '--verify', '--limit', '1')).toMatchObject({
      healthy: true,
      head: expect.any(Number),
    })
    expect(json('status').events).toBeGreaterThanOrEqual(events)
  },
)

test('a record that another process began meanwhile is not replaced', async () => {
  const project = openCommandLine()
  const { mission_id } = project.json('mission', 'start', 'Begin', '--objective', 'Any')
  expect(mission_id).toBeTruthy()
  const backup = join(project.home, 'one.db')
  project.json('backup', 'create', backup)
  const [created] = project.json('log', '--since', '0').events
  const file = join(project.home, 'elsewhere/waymark.db')
  const replace = async (_point: unknown, _at: number, change: () => Promise<void>) => {
    writeFileSync(file, 'of another process')
    await change()
  }
  const restoring = restoreFromBackup({
    file,
    backup,
    at: Date.now(),
    anchor: { replace } as never,
    projectIn: async () => created.body.id,
    sandboxJournal: true,
  })
  await expect(restoring).rejects.toMatchObject({ code: 'CONFLICT', reason: 'file_exists' })
  expect(readFileSync(file, 'utf8')).toBe('of another process')
  expect(readdirSync(dirname(file))).toEqual(['waymark.db'])
})
