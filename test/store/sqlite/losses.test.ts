import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import type { MissionId } from '../../../src/kernel/id.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { Anchor, RecordWatch } from '../../../src/store/safety/rollback-detection.ts'
import { soakTest } from '../../support/amount.ts'
import { agent, aMission } from '../../support/entities.ts'
import { temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

const patient = { timeout: 30_000 }

/** A store with three missions whose anchor is kept outside its project. */
async function watchedStore() {
  const outside = await temporaryStore()
  const state = join(outside.root, 'state')
  mkdirSync(state)
  const temporary = await temporaryStore({ anchorFolder: state })
  for (const id of ['m-1', 'm-2', 'm-3']) await recordMission(temporary.store, id)
  const anchored = () => expect(readFileSync(join(state, 'anchor.json'), 'utf8')).toContain('"seq":4')
  await vi.waitFor(anchored, patient)
  return {
    ...temporary,
    state,
    anchor: () => JSON.parse(readFileSync(join(state, 'anchor.json'), 'utf8')),
    rescued: () => readdirSync(state).filter((name) => name.startsWith('rescued-')),
    async [Symbol.asyncDispose]() {
      await temporary[Symbol.asyncDispose]()
      await outside[Symbol.asyncDispose]()
    },
  }
}

const missions = (store: Store) =>
  store.view(async (reads) => (await reads.missions.list({ limit: 9 })).total)

const refused = (message: RegExp, hint = /waymark backup restore/) => ({
  code: 'UNAVAILABLE',
  message: expect.stringMatching(message),
  hint: expect.stringMatching(hint),
})

function removeSides(file: string): void {
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

function changed(file: string, sql: string): void {
  const database = new Database(file)
  database.pragma('foreign_keys = off')
  database.exec(sql)
  database.close()
}

test('the anchor says outside the database where the log had come to', async () => {
  await using watched = await watchedStore()
  const { store, anchor } = watched
  await store.close()
  const later = watched.another()
  const [last] = await later.view(({ eventLog: log }) => log.latest({ limit: 1 }))
  expect(anchor()).toMatchObject({ version: 1, point: { seq: 4, hash: last?.hash } })
  expect(await later.inspect()).toMatchObject({ anchor: { ok: true }, differing: 0 })
})

test('what another process wrote and anchored since somebody began to read is no loss', async () => {
  await using watched = await watchedStore()
  const { store, file, state, anchor } = watched
  const reading = new Database(file, { readonly: true })
  reading.exec('begin')
  expect(reading.prepare('select count(*) from project_event').pluck().get()).toBe(4)
  await recordMission(store, 'm-4')
  await vi.waitFor(() => expect(anchor().point.seq).toBe(5), patient)
  const begun = () => new RecordWatch(file, new Anchor(join(state, 'anchor.json')), state)
  expect(begun().assertIntact(reading)).toBe(false)
  reading.close()
  // Nor is one that was made since somebody found none.
  begun().assertNone()
  await store.close()
  rmSync(dirname(file), { recursive: true })
  expect(() => begun().assertNone()).toThrow('is gone or empty')
})

test('a database that vanishes under a running server is refused, and what the server held is saved', async () => {
  await using watched = await watchedStore()
  const { store, file, another, rescued } = watched
  rmSync(dirname(file), { recursive: true })
  await expect(recordMission(store, 'm-4')).rejects.toMatchObject(
    refused(
      /is gone or empty: its log held 4 log entries at 20\d\d-/,
      /rescued-.*\.db.*waymark backup restore/,
    ),
  )
  await expect(missions(store)).rejects.toMatchObject(refused(/is gone or empty/))
  expect(existsSync(file)).toBe(false)
  expect(rescued()).toHaveLength(1)
  const command = another()
  await expect(recordMission(command, 'm-5')).rejects.toMatchObject(refused(/is gone or empty/))
  const [saved = ''] = rescued()
  expect(await command.putBack(join(watched.state, saved), Date.now())).toMatchObject({
    events: 4,
    kept: null,
  })
  expect(await missions(store)).toBe(3)
  expect((await store.health()).journalMode).toBe('wal')
  await recordMission(store, 'm-6')
  expect(await missions(command)).toBe(4)
  expect(await store.inspect()).toMatchObject({ anchor: { ok: true }, differing: 0, brokenAt: null })
})

test('a call whose database is deleted while it decides is not acknowledged, and all is saved', async () => {
  await using watched = await watchedStore()
  const { store, file, rescued, state } = watched
  const lost = store.record({
    actor: agent,
    at: 5,
    decide: async () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
      return {
        events: [{ kind: 'mission.started', mission: aMission({ id: 'm-4' as MissionId }) }],
        answer: 1,
      }
    },
  })
  await expect(lost).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'database_missing' })
  const [copy = ''] = rescued()
  const saved = new Database(join(state, copy), { readonly: true })
  expect(saved.prepare('select count(*) from mission').pluck().get()).toBe(4)
  saved.close()
})

test('a person may begin a new record where one was, and a running server goes on with it', async () => {
  await using watched = await watchedStore()
  const { store, file, another } = watched
  rmSync(dirname(file), { recursive: true })
  await expect(recordMission(store, 'm-4')).rejects.toMatchObject(
    refused(/is gone/, /waymark doctor --trust/),
  )
  const command = another()
  expect(await command.inspect()).toMatchObject({
    anchor: { ok: false, says: expect.stringMatching(/is gone/) },
  })
  expect(await command.accept(Date.now())).toBe(0)
  await recordMission(store, 'm-5')
  expect(await missions(command)).toBe(1)
})

test('another database in its place is refused until a person decides', async () => {
  await using watched = await watchedStore()
  const { store, file, another } = watched
  await using foreign = await temporaryStore()
  await recordMission(foreign.store, 'm-9')
  await foreign.store.close()
  removeSides(file)
  renameSync(foreign.file, file)
  await expect(recordMission(store, 'm-4')).rejects.toMatchObject(
    refused(/was cut or replaced.* 4 log entries .*It has 2 now/),
  )
  await expect(missions(another())).rejects.toMatchObject(refused(/was cut or replaced/))
})

test('a tail that was cut is told by the anchor, though the chain of what is left holds', async () => {
  await using watched = await watchedStore()
  const { store, file, another } = watched
  await store.close()
  changed(
    file,
    `delete from mission where id = 'm-3'; delete from project_event where seq = 4;
     update project set seq = 3, head = (select hash from project_event where seq = 3)`,
  )
  const later = another()
  expect(await later.inspect()).toMatchObject({
    brokenAt: null,
    differing: 0,
    anchor: { ok: false, says: expect.stringMatching(/was cut or replaced: its log held 4 log entries/) },
  })
  await expect(recordMission(later, 'm-4')).rejects.toMatchObject(refused(/It has 3 now/))
})

test('a log that is removed while a server runs is told, nothing of it is lost, and the server goes on', async () => {
  await using watched = await watchedStore()
  const { store, file, rescued } = watched
  rmSync(`${file}-wal`)
  await expect(recordMission(store, 'm-4')).rejects.toMatchObject(
    refused(/log .*-wal was removed .*A copy of everything is in/, /Call again/),
  )
  expect(rescued()).toHaveLength(1)
  expect(await missions(store)).toBe(3)
  await recordMission(store, 'm-5')
  expect(await missions(watched.another())).toBe(4)
  expect(await store.inspect()).toMatchObject({
    damage: [],
    differing: 0,
    brokenAt: null,
    anchor: { ok: true },
  })
})

test('a file that is cut short or emptied in place is refused, and restored with the server running', async () => {
  await using watched = await watchedStore()
  const { store, file, another } = watched
  const backup = join(watched.state, 'backup.db')
  await store.backup(backup)
  for (const size of [0, 8192]) {
    await recordMission(store, `m-${size}`)
    const other = new Database(file)
    other.pragma('wal_checkpoint(truncate)')
    other.close()
    await missions(store)
    truncateSync(file, size)
    await expect(recordMission(store, 'm-x')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    const { kept } = await another().putBack(backup, Date.now() + size)
    expect(kept).toMatch(/replaced-/)
    expect(await missions(store)).toBe(3)
  }
  await recordMission(store, 'm-4')
  expect(await store.inspect()).toMatchObject({ damage: [], differing: 0, anchor: { ok: true } })
})

test('a backup is one whole file, made while a server writes, and never over another file', async () => {
  await using watched = await watchedStore()
  const { store, state, another } = watched
  const backup = join(state, 'backup.db')
  const writing = Promise.all(Array.from({ length: 30 }, (_, index) => recordMission(store, `m-w${index}`)))
  const made = await another().backup(backup)
  await writing
  expect(made).toMatchObject({ file: backup, events: expect.any(Number) })
  expect(readdirSync(state).filter((name) => name.startsWith('backup'))).toEqual(['backup.db'])
  const copy = another({ file: backup })
  expect(await copy.inspect()).toMatchObject({ damage: [], differing: 0, brokenAt: null })
  await expect(store.backup(backup)).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(store.backup(join(state, 'none', 'x.db'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an older backup takes the place of the record in one step; servers read it at once, and the rest is kept', async () => {
  await using watched = await watchedStore()
  const { store, file, state, another } = watched
  const server = another()
  const backup = join(state, 'backup.db')
  await store.backup(backup)
  for (const id of ['m-4', 'm-5']) await recordMission(server, id)
  const before = readFileSync(backup)
  const { events, kept } = await another().putBack(backup, Date.now())
  expect(events).toBe(4)
  expect(readFileSync(backup)).toEqual(before)
  expect(await missions(server)).toBe(3)
  await recordMission(server, 'm-6')
  expect(await missions(store)).toBe(4)
  expect(await missions(another({ file: kept ?? '', anchorFolder: join(state, 'kept') }))).toBe(5)
  await store.close()
  expect(await another().inspect()).toMatchObject({ anchor: { ok: true }, differing: 0, brokenAt: null })
  expect(readdirSync(dirname(file)).filter((name) => name.includes('restoring'))).toEqual([])
})

test.each([
  { what: 'no file', make: () => undefined, says: /There is no file/ },
  {
    what: 'text',
    make: (path: string) => writeFileSync(path, 'Dear diary, '.repeat(100)),
    says: /not a Waymark/,
  },
  {
    what: 'the database of another program',
    make: (path: string) => new Database(path).exec('create table recipes (id integer)').close(),
    says: /not a Waymark/,
  },
])('$what is not restored', async ({ make, says }) => {
  await using watched = await watchedStore()
  const path = join(watched.state, 'x.db')
  make(path)
  await expect(watched.store.putBack(path, 1)).rejects.toMatchObject({ message: expect.stringMatching(says) })
  await recordMission(watched.store, 'm-4')
  expect(await missions(watched.store)).toBe(4)
})

test('a backup whose journal is broken is not restored, and what is there stays', async () => {
  await using watched = await watchedStore()
  const { store, file, state } = watched
  const backup = join(state, 'backup.db')
  await store.backup(backup)
  changed(backup, "update project_event set body = replace(body, 'Auth', 'Math') where seq = 2")
  await expect(store.putBack(backup, 1)).rejects.toMatchObject({
    message: expect.stringMatching(/is damaged: its log is broken at log entry 2/),
  })
  await expect(store.putBack(file, 1)).rejects.toMatchObject({
    message: expect.stringMatching(/is the database itself/),
  })
  await recordMission(store, 'm-4')
  expect(await missions(store)).toBe(4)
})

test('a project that was copied or moved has its record where it is now, without an alarm', async () => {
  await using watched = await watchedStore()
  const { store, file, state, another } = watched
  await store.close()
  copyFileSync(file, `${file}.copy`)
  const copy = another({ file: `${file}.copy`, anchorFolder: join(state, 'copy') })
  await recordMission(copy, 'm-4')
  await recordMission(another(), 'm-5')
  await copy.close()
  expect(await another({ file: `${file}.copy`, anchorFolder: join(state, 'copy') }).inspect()).toMatchObject({
    anchor: { ok: true },
  })
  expect(await another().inspect()).toMatchObject({ differing: 0 })
})

test('an anchor that cannot be read or written is no reason to refuse a call', async () => {
  await using watched = await watchedStore()
  const { store, state, another } = watched
  await store.close()
  writeFileSync(join(state, 'anchor.json'), '{"version":1,"poi')
  await recordMission(another(), 'm-4')
  const blocked = another({ anchorFolder: join(state, 'anchor.json', 'below') })
  await recordMission(blocked, 'm-5')
  await blocked.close()
  expect(await missions(another())).toBe(5)
})

soakTest('who follows the log is told of what happens after an older backup was restored', async () => {
  await using watched = await watchedStore()
  const { store, state, another } = watched
  const backup = join(state, 'backup.db')
  await store.backup(backup)
  for (const id of ['m-4', 'm-5', 'm-6']) await recordMission(store, id)
  const ending = new AbortController()
  const following = store.follow(7, ending.signal)[Symbol.asyncIterator]()
  const next = following.next()
  await another().putBack(backup, Date.now())
  await vi.waitFor(async () => expect(await missions(store)).toBe(3), patient)
  // Who follows looks at the file itself every 25 turns of a timer, however long these take on a busy machine.
  for (let turn = 0; turn < 60; turn += 1) await sleep(10)
  await recordMission(store, 'm-7')
  expect((await next).value).toMatchObject([{ seq: 5, body: { kind: 'mission.started' } }])
  ending.abort()
  await following.next()
})
