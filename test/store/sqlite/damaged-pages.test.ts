import { closeSync, copyFileSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { Failure } from '../../../src/kernel/failure.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { inspectRecord } from '../../../src/store/safety/inspection.ts'
import { openStore } from '../../../src/store/store.ts'
import { amount } from '../../support/amount.ts'
import { type Answer, openProject, person, type TestProject } from '../../support/project.ts'
import { plantRecordedDay } from '../../support/recorded-day.ts'

const page = 4096

type Damage = (file: number, at: number) => void

/** Bytes that look like nothing of SQLite's, the same in every run. */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed + 1
  for (let at = 0; at < length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    bytes[at] = (state >> 16) & 0xff
  }
  return bytes
}

const damages: Readonly<Record<string, Damage>> = {
  'a page of noise': (file, at) => void writeSync(file, noise(page, at), 0, page, at),
  'a page of zeros': (file, at) => void writeSync(file, Buffer.alloc(page), 0, page, at),
  'noise inside a page': (file, at) => void writeSync(file, noise(600, at), 0, 600, at + 1_500),
  'text inside a page': (file, at) =>
    void writeSync(file, Buffer.alloc(300, '}{"\u00e9'), 0, 300, at + 3_000),
}

/** A recorded day in a file that no process has open. */
async function recordedDay(project: TestProject): Promise<{ readonly file: string; readonly ids: Answer }> {
  const file = join(project.folder, 'day', 'waymark.db')
  await plantRecordedDay(file)
  const store = storeAt(project, file)
  try {
    const ids = await store.view(async ({ missions, plan }) => ({
      mission: (await missions.list({ limit: 5 })).items[0]?.item.id,
      task: (await plan.tasks({ now: 0 }, { limit: 5 })).tasks[0]?.task.id,
    }))
    return { file, ids }
  } finally {
    await store.close()
  }
}

function storeAt({ folder }: TestProject, file: string) {
  return openStore({ file, shared: false, root: folder, sandboxJournal: false, ids: randomIds })
}

function readsOf({ mission, task }: Answer): readonly (readonly [string, object])[] {
  const plain = ['status', 'list_missions', 'taskman_task_list', 'taskman_phase_list', 'stats', 'report']
  const lists = ['inbox', 'sessions', 'board', 'plan_show', 'plan_graph', 'plan_export']
  const others = ['state_gate_list_runs', 'state_gate_list_events', 'setting_list', 'export']
  return [
    ...[...plain, ...lists, ...others].map((name) => [name, {}] as const),
    ['get_context', { mission_id: mission, include: ['tasks', 'decisions', 'issues'] }],
    ['show', { id: task }],
    ['show', { id: mission }],
    ['mission_timeline', { id: mission }],
    ['mission_changes', { id: mission }],
    ['changes', { id: task }],
    ['taskman_task_get', { id: task }],
    ['review_comments', {}],
    ['log', { limit: 1000 }],
  ]
}

/** Reads of the whole record, and of all processes, which take longer than all others together. */
const wholeReads = [
  ['process_list', {}],
  ['command_list', {}],
  ['log', { verify: true }],
  ['doctor', {}],
] as const

/** The pages that are damaged, by their places: in `npm test` the first one, and one of entries that a read of the log reads. */
function damagedPages(file: string): readonly number[] {
  const database = new Database(file, { readonly: true })
  try {
    const entries = database
      .prepare<[], number>("select pageno from dbstat where name = 'project_event' and pagetype = 'leaf'")
      .pluck()
      .all()
    const pages = Array.from({ length: readFileSync(file).length / page }, (_, number) => number)
    return pages.filter((number) => isSoak || number === 0 || number + 1 === entries[0])
  } finally {
    database.close()
  }
}

const isSoak = amount({ test: 0, soak: 1 }) === 1

test.each(Object.entries(damages).slice(0, amount({ test: 2, soak: 4 })))(
  'every read of a database with %s is answered or refused',
  async (_, damage) => {
    const project = await openProject({ git: false, database: false, isOnMachine: false })
    const { file, ids } = await recordedDay(project)
    const thrown: string[] = []
    const refused = new Set<string>()
    for (const number of damagedPages(file)) {
      const copy = join(project.folder, `damaged-${number}`, 'waymark.db')
      mkdirSync(dirname(copy))
      copyFileSync(file, copy)
      const opened = openSync(copy, 'r+')
      expect(fstatSync(opened).size).toBeGreaterThan(number * page)
      damage(opened, number * page)
      closeSync(opened)
      const store = storeAt(project, copy)
      const context = { ...project.context, store }
      for (const [name, input] of [...readsOf(ids), ...(isSoak || number > 0 ? wholeReads : [])]) {
        try {
          await project.call(name, input, { actor: person, context })
        } catch (error) {
          if (!(error instanceof Failure)) thrown.push(`page ${number}, ${name}: ${String(error)}`)
          else if (error.code === 'UNAVAILABLE') {
            refused.add(error.code)
            if (!/waymark doctor/.test(error.hint ?? ''))
              thrown.push(`page ${number}, ${name}: ${error.hint}`)
          }
        }
      }
      await store.close()
    }
    expect(thrown).toEqual([])
    expect([...refused]).toEqual(['UNAVAILABLE'])
  },
  120_000,
)

test('a record that is too large to be checked at once is checked as well, in a thread', async () => {
  const project = await openProject({ git: false, database: false, isOnMachine: false })
  const { file } = await recordedDay(project)
  expect((await inspectRecord(file, null)).damage).toEqual([])
  const database = new Database(file)
  database.exec('create table ballast (content blob); insert into ballast values (zeroblob(5 * 1024 * 1024))')
  const root = database.prepare("select rootpage from sqlite_schema where name = 'ballast'").pluck().get()
  database.close()
  expect((await inspectRecord(file, null)).damage).toEqual([])
  const open = openSync(file, 'r+')
  damages['a page of noise']?.(open, page * (Number(root) - 1))
  closeSync(open)
  expect((await inspectRecord(file, null)).damage).not.toEqual([])
})
