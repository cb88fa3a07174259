import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database, { type Database as Connection } from 'better-sqlite3'
import type { IdKind } from '../domain/id.ts'
import type { SnapshotPlace } from '../domain/track/task.ts'
import type { GatheredCall } from '../operations/edge/port-calls.ts'
import type { EdgeCalling } from './edge-project.ts'

/** A call that waits for the server. */
export interface QueuedCall {
  /** Its name, by which the server knows it again. */
  readonly call: string
  readonly calling: EdgeCalling
  readonly gathered: readonly GatheredCall[]
  readonly promised: Readonly<Partial<Record<IdKind, string>>>
  /** Milliseconds since the epoch. */
  readonly doneAt: number
  /** The task that it is about, and what it came with in a few words. */
  readonly task: string | null
  readonly what: string
}

export interface Queue {
  readonly entries: number
  readonly oldest: number | null
}

/** Since when the server is away, why, and when it was last asked. Milliseconds since the epoch. */
export interface Away {
  readonly since: number
  readonly reason: string
  readonly tried: number
}

const schema = `
  create table if not exists waiting (
    n integer primary key autoincrement, call text not null unique, body text not null, done_at integer not null
  );
  create table if not exists attempt (task_id text primary key, attempt_id text not null, place text not null, at integer not null);
  create table if not exists copy (name text primary key, body text not null, at integer not null);
  create table if not exists state (name text primary key, body text not null);
`

const mostCopies = 200
const mostAttempts = 500

/** `.waymark/edge.db`: what waits for the server, and what is known of it here. What it says is kept is on disk. */
export class EdgeDatabase {
  readonly #file: string
  #connection: Connection | null = null

  constructor(root: string) {
    this.#file = join(root, '.waymark', 'edge.db')
  }

  get exists(): boolean {
    return existsSync(this.#file)
  }

  /** Removes the file with all that is in it. */
  removeAll(): void {
    this.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.#file}${end}`, { force: true })
  }

  /** The call that is being sent by this process. It waits until the server has answered it. */
  sending: string | null = null

  /** Adds a call at the end. It is on disk when this returns. */
  enqueue({ call, doneAt, ...body }: QueuedCall): void {
    this.#open
      .prepare('insert into waiting (call, body, done_at) values (?, ?, ?) on conflict (call) do nothing')
      .run(call, JSON.stringify(body), doneAt)
  }

  /** Those that wait, the oldest first. */
  waiting(after = 0): readonly (QueuedCall & { readonly n: number })[] {
    if (!this.exists) return []
    return this.#open
      .prepare<[number], { n: number; call: string; body: string; done_at: number }>(
        'select n, call, body, done_at from waiting where n > ? order by n limit 5000',
      )
      .all(after)
      .map(({ n, call, body, done_at }) => ({
        ...(JSON.parse(body) as Omit<QueuedCall, 'call' | 'doneAt'>), // as `enqueue` wrote it
        n,
        call,
        doneAt: done_at,
      }))
  }

  remove(ns: readonly number[]): void {
    const remove = this.#open.prepare('delete from waiting where n = ?')
    this.#open.transaction(() => {
      for (const n of ns) remove.run(n)
    })()
  }

  /** What waits, with the call that is being sent. */
  queue(): Queue {
    return this.#queueWithout('')
  }

  /** What the server is told of it: the call that is being sent has arrived when it is read there. */
  queueToTell(): Queue {
    return this.#queueWithout(this.sending ?? '')
  }

  #queueWithout(call: string): Queue {
    if (!this.exists) return { entries: 0, oldest: null }
    return this.#open
      .prepare<[string], Queue>(
        'select count(*) as entries, min(done_at) as oldest from waiting where call <> ?',
      )
      .get(call) as Queue // an aggregate answers one row
  }

  keepAttempt(task: string, attempt: string, { place, at }: { place: SnapshotPlace; at: number }): void {
    this.#open
      .prepare('insert or replace into attempt (task_id, attempt_id, place, at) values (?, ?, ?, ?)')
      .run(task, attempt, JSON.stringify(place), at)
    this.#open
      .prepare(
        'delete from attempt where task_id not in (select task_id from attempt order by at desc limit ?)',
      )
      .run(mostAttempts)
  }

  /** The attempt at a task that began on this machine. */
  attemptAt(
    task: string,
  ): { readonly attempt: string; readonly place: SnapshotPlace; readonly at: number } | null {
    if (!this.exists) return null
    const row = this.#open
      .prepare<[string], { attempt_id: string; place: string; at: number }>(
        'select attempt_id, place, at from attempt where task_id = ?',
      )
      .get(task)
    if (!row) return null
    return { attempt: row.attempt_id, place: JSON.parse(row.place) as SnapshotPlace, at: row.at }
  }

  placeOf(task: string): SnapshotPlace | null {
    return this.attemptAt(task)?.place ?? null
  }

  keepCopy(name: string, body: unknown, at: number): void {
    this.#open
      .prepare('insert or replace into copy (name, body, at) values (?, ?, ?)')
      .run(name, JSON.stringify(body), at)
    this.#open
      .prepare('delete from copy where name not in (select name from copy order by at desc limit ?)')
      .run(mostCopies)
  }

  copyOf(name: string): { readonly body: unknown; readonly at: number } | null {
    if (!this.exists) return null
    const row = this.#open
      .prepare<[string], { body: string; at: number }>('select body, at from copy where name = ?')
      .get(name)
    return row ? { body: JSON.parse(row.body), at: row.at } : null
  }

  /** Every copy, the newest first. */
  copies(): readonly unknown[] {
    if (!this.exists) return []
    return this.#open
      .prepare<[], { body: string }>('select body from copy order by at desc')
      .all()
      .map(({ body }) => JSON.parse(body) as unknown)
  }

  state<Value>(name: string): Value | null {
    if (!this.exists) return null
    const row = this.#open
      .prepare<[string], { body: string }>('select body from state where name = ?')
      .get(name)
    return row ? (JSON.parse(row.body) as Value) : null // as `setState` wrote it
  }

  setState(name: string, value: unknown): void {
    if (value === null) {
      if (this.exists) this.#open.prepare('delete from state where name = ?').run(name)
      return
    }
    this.#open
      .prepare('insert or replace into state (name, body) values (?, ?)')
      .run(name, JSON.stringify(value))
  }

  /** Whether this process may send what waits: one does at a time, and one that was killed loses it by itself. */
  takeSender(holder: string, { now, until }: { readonly now: number; readonly until: number }): boolean {
    return this.#open
      .transaction(() => {
        const held = this.state<{ holder: string; until: number }>('sender')
        if (held && held.holder !== holder && held.until > now) return false
        this.setState('sender', { holder, until })
        return true
      })
      .immediate()
  }

  releaseSender(holder: string): void {
    const held = this.state<{ holder: string }>('sender')
    if (held?.holder === holder) this.setState('sender', null)
  }

  close(): void {
    this.#connection?.close()
    this.#connection = null
  }

  get #open(): Connection {
    if (this.#connection) return this.#connection
    const folder = dirname(this.#file)
    mkdirSync(folder, { recursive: true })
    // Whoever may write here says what goes to the server in this user's name.
    if (!existsSync(this.#file)) {
      writeFileSync(this.#file, '', { mode: 0o600 })
      chmodSync(this.#file, 0o600)
    }
    const connection = new Database(this.#file, { timeout: 5_000 })
    connection.pragma('journal_mode = WAL')
    connection.pragma('synchronous = FULL')
    connection.exec(schema)
    this.#connection = connection
    return connection
  }
}
