import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewProjectEvent } from '../../../src/events/domain/project-event.ts'
import type { TaskId } from '../../../src/kernel/id.ts'
import { memoryLog } from '../../../src/store/ports/record-rows.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { remakeTaskSearch, searchText } from '../../../src/store/tables/search.ts'
import type { Task } from '../../../src/track/domain/task.ts'
import { amount, soakTest } from '../../support/amount.ts'
import { temporaryStore } from '../../support/store.ts'
import { happened } from '../events.ts'
import { planTask, t } from '../plan-events.ts'

// Few letters, so that words repeat; some are written in several ways, or mean something to SQLite or its index.
const letters = [
  ...Array.from('aaabbcC"%_\\* \n'),
  '\0',
  '\ud800',
  'é',
  'e\u0301',
  'ß',
  'ﬁ',
  'İ',
  '\u{1f600}',
]
const text = fc.array(fc.constantFrom(...letters), { maxLength: 30 }).map((some) => some.join(''))
const changes = fc.oneof(fc.record({ name: text }), fc.record({ goal: fc.option(text) }))
const ids = fc.constantFrom('t-', 'T-', 'aB-', 'abc', '')
const task = fc.record({
  id: ids,
  name: text,
  goal: fc.option(text),
  edits: fc.array(changes, { maxLength: 2 }),
})

interface Texts {
  readonly id: TaskId
  readonly name: string
  readonly goal: string | null
}

const wordsOf = (search: string) => search.split(/\s+/).filter((one) => one !== '')

const textOf = ({ name, goal }: Texts) => searchText(name, goal).toWellFormed()

/** What the list finds, page by page. */
async function listed(store: Store, search: string): Promise<readonly string[]> {
  return store.view(async ({ plan }) => {
    const found: string[] = []
    for (;;) {
      const after = found.at(-1) as TaskId // a brand
      const page = await plan.tasks({ search, now: 1 }, { limit: 2, ...(found.length > 0 && { after }) })
      if (page.tasks.length === 0) return found
      found.push(...page.tasks.map(({ task: { id } }) => id))
      expect(page.total).toBeGreaterThanOrEqual(found.length)
    }
  })
}

function newest(store: Store, words: readonly string[], limit: number): Promise<readonly string[]> {
  return store.view(async ({ plan }) => (await plan.newest({ words, limit, now: 1 })).map(({ id }) => id))
}

const planned = (one: Partial<Task>): NewProjectEvent => ({ kind: 'task.planned', task: planTask(0, one) })

/** More than are added to the index together, with a word that no other has. */
const others = Array.from(
  { length: 128 },
  (_, number) => planned({ id: `x-${number}` as TaskId, name: 'xxxx' }), // a brand
)

/** The groups of the index, each with the `seq` of its task; `isRemade`: of an index that is made anew from the tasks. */
function groupsIn(file: string, isRemade = false): readonly string[] {
  const database = new Database(file)
  try {
    database.exec('begin')
    if (isRemade) database.exec(remakeTaskSearch.join(';'))
    database.exec("create virtual table temp.groups using fts5vocab (main, 'task_search', 'instance')")
    const groups = database
      .prepare<[], string>("select distinct doc || ' ' || term from temp.groups")
      .pluck()
      .all()
    database.exec('rollback')
    return groups.toSorted()
  } finally {
    database.close()
  }
}

soakTest(
  'finds what a comparison of each text finds, after any events, an import, a restored backup and a repair',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { minLength: 1, maxLength: 12 }),
        fc.array(text, { minLength: 4 }),
        async (tasks, given) => {
          await using original = await temporaryStore()
          await using copy = await temporaryStore()
          await using restored = await temporaryStore({ root: original.root })
          const { store } = original
          const made = tasks.map(({ id, ...more }, number) => ({ ...more, id: `${id}${number}` as TaskId })) // a brand
          const half = Math.ceil(made.length / 2)
          // The first half is in the index before its edits, the second is not.
          await happened(store, 1, ...made.slice(0, half).map(planned))
          await happened(store, 1, ...others)
          await happened(store, 1, ...made.slice(half).map(planned))
          for (const { id: taskId, edits } of made)
            for (const change of edits)
              await happened(store, 1, { kind: 'task.edited', taskId, changes: change })
          const texts: Texts[] = made.map(({ edits, ...one }) => Object.assign({ ...one }, ...edits))
          const events = await store.view(({ eventLog: log }) => log.since(0, 1000))
          await copy.store.restore(memoryLog(events))
          const backup = join(original.root, 'backup.db')
          await store.backup(backup)
          await restored.store.restore(memoryLog(events.slice(0, 3)))
          await restored.store.putBack(backup, 1)
          expect(groupsIn(original.file).length).toBeGreaterThan(0)
          expect(groupsIn(copy.file)).toEqual(groupsIn(copy.file, true))
          expect(groupsIn(restored.file)).toEqual(groupsIn(original.file, true))
          const parts = texts.map(({ name, id }) => `${name.slice(1, 7)} ${id.slice(0, 4)}`)
          const searches = [...given, ...parts, ...parts.flatMap(wordsOf)].filter((one) => one.trim() !== '')
          const check = async (asked: Store) => {
            for (const search of searches) {
              const words = wordsOf(search)
              const has = (one: Texts, found: string) =>
                textOf(one).includes(searchText(found).toWellFormed())
              const inText = texts.filter((one) => words.every((found) => has(one, found)))
              expect(await listed(asked, search)).toEqual(inText.map(({ id }) => id))
              const lower = search.toLowerCase().split(/\s+/).filter(Boolean)
              const startsWith = ({ id }: Texts, found: string) => id.toLowerCase().startsWith(found)
              const either = texts.filter((one) =>
                lower.every((found) => has(one, found) || startsWith(one, found)),
              )
              expect(await newest(asked, lower, 5000)).toEqual(either.map(({ id }) => id).toReversed())
              const last = new Set(texts.slice(half).slice(-3))
              expect(await newest(asked, lower, 3)).toEqual(
                either
                  .filter((one) => last.has(one))
                  .map(({ id }) => id)
                  .toReversed(),
              )
            }
          }
          await check(store)
          await check(copy.store)
          await check(restored.store)
          await store.repair(1)
          expect(groupsIn(original.file)).toEqual(groupsIn(original.file, true))
          await check(store)
        },
      ),
      { numRuns: amount({ test: 5, soak: 200 }) },
    )
  },
)

test('a word of more tasks than the index selects is found in the order of the list', async () => {
  await using temporary = await temporaryStore()
  const { store } = temporary
  const tasks = Array.from({ length: 400 }, (_, number) =>
    planTask(number, { name: number % 100 === 7 ? 'rare thing' : 'common thing', sortOrder: 400 - number }),
  )
  await happened(store, 1, ...tasks.map(planned))
  const inOrder = tasks.map(({ id }) => id).toReversed()
  const rare = [t(307), t(207), t(107), t(7)]
  expect(await listed(store, 'thing')).toEqual(inOrder)
  expect(await listed(store, 'common')).toEqual(inOrder.filter((id) => !rare.includes(id)))
  expect(await listed(store, 'RARE th')).toEqual(rare)
  expect(await newest(store, ['rare', 't-1'], 5000)).toEqual([t(107)])
  expect(await newest(store, ['rare'], 100)).toEqual([t(307)])
})

test('finds the tasks of one project in a file of several, whose log entries have the same numbers', async () => {
  await using temporary = await temporaryStore({ shared: true })
  const other = temporary.another({ root: `${temporary.root}/other` })
  await happened(temporary.store, 1, planned({ id: t(1), name: 'first project' }), ...others)
  await happened(other, 1, planned({ id: t(2), name: 'second project' }), ...others)
  for (const search of ['project', 'first', 'second']) {
    expect(await listed(temporary.store, search)).toEqual(search === 'second' ? [] : [t(1)])
    expect(await listed(other, search)).toEqual(search === 'first' ? [] : [t(2)])
  }
})

test('stores of one file index the tasks of each other, and find them before that', async () => {
  await using temporary = await temporaryStore()
  const stores = [temporary.store, temporary.another({ root: temporary.root })] as const
  for (const number of Array.from({ length: 130 }, (_, at) => at)) {
    await happened(
      stores[number % 2 === 0 ? 0 : 1],
      1,
      planned({ id: t(number), name: `part ${1000 + number}` }),
    )
    if (number === 125) expect(groupsIn(temporary.file)).toEqual([])
    if (number === 126) expect(groupsIn(temporary.file)).toEqual(groupsIn(temporary.file, true))
  }
  await happened(stores[0], 1, { kind: 'task.edited', taskId: t(3), changes: { name: 'another name' } })
  for (const store of stores) {
    expect(await listed(store, 'part 1003')).toEqual([])
    expect(await listed(store, 'part 1004')).toEqual([t(4)])
    expect(await listed(store, 'another')).toEqual([t(3)])
    expect(await listed(store, '1129')).toEqual([t(129)])
  }
})

test('a damaged index stops no write, is found by SQLite, and made again', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await happened(store, 1, planned({ id: t(1), name: 'a damaged thing' }), ...others)
  const database = new Database(file)
  database.unsafeMode(true)
  database.exec("update task_search_data set block = x'ff00ff' where id > 10")
  database.close()
  const more = Array.from({ length: 128 }, (_, number) => planned({ id: t(number + 2), name: 'more' }))
  await happened(store, 1, ...more)
  expect((await store.inspect()).damage).not.toEqual([])
  await store.repair(1)
  expect((await store.inspect()).damage).toEqual([])
  expect(await listed(store, 'damaged')).toEqual([t(1)])
})
