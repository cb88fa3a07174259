import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { quoteShellWord } from '../../../src/kernel/shell-word.ts'
import { type TemporaryStore, temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

async function withFile(make: (file: string) => Promise<void> | void): Promise<TemporaryStore> {
  const temporary = await temporaryStore()
  await mkdir(dirname(temporary.file), { recursive: true })
  await make(temporary.file)
  return temporary
}

/** Reading and writing both fail for that reason, health says the same, and the folder is left as it was. */
async function expectRefused({ store, file }: TemporaryStore, reason: string): Promise<void> {
  const folder = dirname(file)
  const before = await contents(folder)
  const refused = { code: 'UNAVAILABLE', reason, message: expect.any(String), hint: expect.any(String) }
  const failure = await recordMission(store, 'm-1').then(String, (error: Error) => error)
  expect(failure).toMatchObject(refused)
  await expect(store.view((reads) => reads.eventLog.head())).rejects.toMatchObject(refused)
  const { message } = failure as Error
  expect((await store.health()).warnings).toEqual([expect.stringContaining(message)])
  expect(await contents(folder)).toEqual(before)
}

async function contents(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder)).toSorted()
  const of = async (name: string): Promise<[string, string]> => {
    const path = join(folder, name)
    return [name, (await stat(path)).isDirectory() ? 'folder' : await readFile(path, 'base64')]
  }
  return new Map(await Promise.all(names.map(of)))
}

const taskmanTables = ['phases', 'tasks', 'task_deps']

test.each(['wal', 'delete'])(
  'a taskman database in %s mode is refused, and the import is named',
  async (mode) => {
    await using temporary = await withFile((file) => {
      const database = new Database(file)
      database.pragma(`journal_mode = ${mode}`)
      for (const table of taskmanTables) database.exec(`create table ${table} (id text primary key)`)
      database.close()
    })
    await expectRefused(temporary, 'database_of_taskman')
    await expect(recordMission(temporary.store, 'm-1')).rejects.toMatchObject({
      hint: expect.stringContaining(`waymark import taskman ${quoteShellWord(temporary.file)}`),
    })
  },
)

test('the database of any other program is refused', async () => {
  await using temporary = await withFile((file) => {
    new Database(file).exec('create table recipes (id integer)').close()
  })
  await expectRefused(temporary, 'database_of_other_program')
})

test('a file that is no database is refused', async () => {
  await using temporary = await withFile((file) => writeFile(file, 'Dear diary, '.repeat(100)))
  await expectRefused(temporary, 'not_a_database')
})

test('a folder in the place of the file is refused', async () => {
  await using temporary = await withFile(async (file) => {
    await mkdir(file)
  })
  await expectRefused(temporary, 'database_is_folder')
})

test('a file in the place of its folder is refused', async () => {
  await using temporary = await temporaryStore()
  await writeFile(join(temporary.root, '.waymark'), '')
  await expect(recordMission(temporary.store, 'm-1')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await rm(join(temporary.root, '.waymark'))
  await recordMission(temporary.store, 'm-1')
})

test('a database of a newer release is refused, also by a store that has it open', async () => {
  await using temporary = await temporaryStore()
  const { store, file, another } = temporary
  await recordMission(store, 'm-1')
  const newer = new Database(file)
  newer.pragma('user_version = 999')
  newer.close()
  for (const each of [store, another()]) {
    await expect(recordMission(each, 'm-2')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'schema_too_new',
      message: expect.stringContaining('999'),
    })
  }
})

test('a damaged database is told, and a restored one works again in the same store', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  await copyFile(file, `${file}.backup`)
  const whole = await readFile(file)
  await writeFile(file, Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100, 0xaa)]))
  const later = temporary.another()
  const damaged = {
    code: 'UNAVAILABLE',
    reason: expect.stringMatching(/^(?:database_damaged|not_a_database)$/),
  }
  await expect(recordMission(later, 'm-2')).rejects.toMatchObject(damaged)
  await expect(later.view((reads) => reads.missions.find('m-1'))).rejects.toMatchObject(damaged)
  await copyFile(`${file}.backup`, file)
  await recordMission(later, 'm-2')
  expect((await later.view((reads) => reads.missions.list({ limit: 5 }))).total).toBe(2)
})

test('a database that was deleted under an open store is refused; another process that knows of none begins one', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  await rm(dirname(file), { recursive: true })
  const gone = { code: 'UNAVAILABLE', reason: 'database_missing' }
  await expect(store.view((reads) => reads.missions.find('m-1'))).rejects.toMatchObject(gone)
  await expect(recordMission(store, 'm-2')).rejects.toMatchObject(gone)
  expect((await store.health()).exists).toBe(false)
  const other = temporary.another()
  await recordMission(other, 'm-2')
  expect((await other.view((reads) => reads.missions.list({ limit: 5 }))).total).toBe(1)
  await expect(recordMission(store, 'm-3')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    reason: 'database_replaced',
  })
})

const run = promisify(execFile)
const script = (name: string) => new URL(`./processes/${name}.ts`, import.meta.url).pathname
const writer = script('writer')
/** Rights bind nobody who is root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534 } : {}

test('a full disk fails clearly, loses nothing, and is over once there is room', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  await recordMission(store, 'm-1')
  // A limit on the size of files, in blocks of 1024 bytes, stands for the disk.
  const limited = `trap '' XFSZ; ulimit -f 2000; exec "$0" "$@"`
  const ended = run('bash', ['-c', limited, process.execPath, writer, root, file, 'm-x', '10000'])
  const failed = await ended.then(
    () => ({ stdout: '', stderr: 'it did not fail' }),
    (error: { stdout: string; stderr: string }) => error,
  )
  expect(failed.stderr).toContain('UNAVAILABLE')
  const acknowledged = failed.stdout.trimEnd().split('\n').at(-1) ?? ''
  const after = await store.view(async (reads) => ({
    last: await reads.missions.find(acknowledged),
    total: (await reads.missions.list({ limit: 1 })).total,
    check: await reads.eventLog.verify(),
  }))
  expect(after.last?.id).toBe(acknowledged)
  expect(after.check).toEqual({ events: after.total + 1, brokenAt: null })
  await recordMission(store, 'm-2')
})

test('a read-only folder fails clearly, and works once it is writable', async () => {
  await using temporary = await temporaryStore({ sandboxJournal: true })
  const { root, file, store } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  for (const path of [root, dirname(file), file, `${file}-journal`]) await chmod(path, 0o555)
  const failed = await run(process.execPath, [writer, root, file, 'm-x', '1'], unprivileged).then(
    () => 'it did not fail',
    (error: { stderr: string }) => error.stderr,
  )
  for (const path of [root, dirname(file), file, `${file}-journal`]) await chmod(path, 0o755)
  expect(failed).toMatch(/UNAVAILABLE/)
  expect(failed).toMatch(/cannot be written/)
  const later = temporary.another()
  await recordMission(later, 'm-2')
  expect((await later.view((reads) => reads.missions.list({ limit: 5 }))).total).toBe(2)
})

test('where no side file can be written the log is kept in memory, with a warning', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '')
  await chmod(root, 0o755)
  await chmod(dirname(file), 0o555)
  await chmod(file, 0o666)
  const { stdout } = await run(process.execPath, [script('health'), root, file, '3'], unprivileged)
  expect(JSON.parse(stdout)).toMatchObject({
    journalMode: 'memory',
    seq: 4,
    warnings: [expect.stringContaining('in memory')],
  })
  await chmod(dirname(file), 0o755)
  await recordMission(store, 'm-2')
  expect(await store.view((reads) => reads.eventLog.verify())).toEqual({ events: 5, brokenAt: null })
})
