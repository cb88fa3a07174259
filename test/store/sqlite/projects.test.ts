import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryStore } from '../../support/store.ts'
import { happened } from '../events.ts'
import { aClaim, planTask, t } from '../plan-events.ts'
import { recordMission } from './processes/store-of.ts'

/** A folder that holds several projects and the database that they share. */
async function shared() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'waymark-shared-')))
  const temporary = await temporaryStore({ file: join(folder, 'team', 'all.db'), shared: true })
  const at = async (name: string) => {
    const root = join(folder, name)
    await mkdir(root, { recursive: true })
    return temporary.another({ root })
  }
  return {
    folder,
    at,
    async [Symbol.asyncDispose]() {
      await temporary[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('reading a fresh project leaves no file', async () => {
  await using temporary = await temporaryStore()
  const { store, root } = temporary
  await store.view((reads) => reads.missions.list({ limit: 5 }))
  await store.replay({ key: 'k', owner: 'ada', connection: null, operation: 'o', inputHash: 'h' })
  expect(await store.health()).toMatchObject({ exists: false, seq: 0, warnings: [] })
  expect(await readdir(root)).toEqual([])
})

test('a reader that began without a database notices when another process makes one', async () => {
  await using temporary = await temporaryStore()
  const { store, another } = temporary
  expect(await store.view((reads) => reads.eventLog.head())).toBe(0)
  await recordMission(another(), 'm-1')
  expect(await store.view((reads) => reads.eventLog.head())).toBe(2)
})

test('the first write makes the database for its owner alone, and keeps its folder out of git', async () => {
  await using temporary = await temporaryStore()
  const { store, root, file } = temporary
  await recordMission(store, 'm-1')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(join(root, '.waymark', '.gitignore'), 'utf8')).toBe(
    '*\n!/processes/\n!/processes/**\n',
  )
})

test('a .gitignore that somebody wrote is left as it is', async () => {
  await using temporary = await temporaryStore()
  const { store, root } = temporary
  await mkdir(join(root, '.waymark'))
  await writeFile(join(root, '.waymark', '.gitignore'), 'mine\n')
  await recordMission(store, 'm-1')
  expect(await readFile(join(root, '.waymark', '.gitignore'), 'utf8')).toBe('mine\n')
})

test('a moved project that has its own database stays the same project', async () => {
  await using temporary = await temporaryStore()
  const { store, root, file, another } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  const moved = join(root, 'moved')
  await rename(dirname(file), moved)
  const later = another({ root: moved, file: join(moved, 'waymark.db') })
  await recordMission(later, 'm-2')
  expect((await later.view((reads) => reads.missions.list({ limit: 5 }))).total).toBe(2)
})

test('projects that share a database do not see each other', async () => {
  await using place = await shared()
  const [one, two] = [await place.at('one'), await place.at('two')]
  await recordMission(one, 'm-1')
  await recordMission(two, 'm-1')
  await recordMission(two, 'm-2')
  expect(await one.view((reads) => reads.eventLog.head())).toBe(2)
  expect(await two.view((reads) => reads.eventLog.head())).toBe(3)
  const three = await place.at('three')
  expect(await three.view((reads) => reads.missions.find('m-1'))).toBeNull()
  expect(await readdir(join(place.folder, 'three'))).toEqual([])
})

test('a moved project is found again in a shared database; a copy of it is another project', async () => {
  await using place = await shared()
  await recordMission(await place.at('one'), 'm-1')
  const id = await readFile(join(place.folder, 'one', '.waymark', 'project-id'), 'utf8')
  expect(id).toMatch(/^p-[0-9a-z]{12}\n$/)
  await rename(join(place.folder, 'one'), join(place.folder, 'moved'))
  const moved = await place.at('moved')
  expect(await moved.view((reads) => reads.missions.find('m-1'))).not.toBeNull()
  await recordMission(moved, 'm-2')
  await cp(join(place.folder, 'moved'), join(place.folder, 'copy'), { recursive: true })
  const copy = await place.at('copy')
  expect(await copy.view((reads) => reads.missions.find('m-1'))).toBeNull()
  await recordMission(copy, 'm-9')
  expect(await copy.view((reads) => reads.eventLog.head())).toBe(2)
  expect(await readFile(join(place.folder, 'copy', '.waymark', 'project-id'), 'utf8')).not.toBe(id)
  expect(await moved.view((reads) => reads.eventLog.head())).toBe(3)
})

test('a new folder where a moved project was is a project of its own', async () => {
  await using place = await shared()
  await recordMission(await place.at('one'), 'm-1')
  await rename(join(place.folder, 'one'), join(place.folder, 'moved'))
  const moved = await place.at('moved')
  await recordMission(moved, 'm-2')
  const fresh = await place.at('one')
  expect(await fresh.view((reads) => reads.eventLog.head())).toBe(0)
  await recordMission(fresh, 'm-1')
  expect(await fresh.view((reads) => reads.eventLog.head())).toBe(2)
  expect(await moved.view((reads) => reads.eventLog.head())).toBe(3)
})

test('a folder whose .waymark was removed is still its project in a shared database', async () => {
  await using place = await shared()
  await recordMission(await place.at('one'), 'm-1')
  await rm(join(place.folder, 'one', '.waymark'), { recursive: true })
  const later = await place.at('one')
  await recordMission(later, 'm-2')
  expect(await later.view((reads) => reads.eventLog.head())).toBe(3)
  expect(await readdir(join(place.folder, 'one', '.waymark'))).toEqual(['.gitignore', 'project-id'])
})

test('two plans in one database share nothing, also when their ids are the same', async () => {
  await using team = await shared()
  const [one, other] = [await team.at('one'), await team.at('other')]
  for (const store of [one, other]) {
    await happened(
      store,
      1,
      { kind: 'task.planned', task: planTask(1) },
      { kind: 'task.planned', task: planTask(2) },
      { kind: 'dependency.added', taskId: t(2), dependsOnId: t(1) },
    )
  }
  await happened(
    one,
    2,
    { kind: 'dependency.removed', taskId: t(2), dependsOnId: t(1) },
    { kind: 'dependency.added', taskId: t(1), dependsOnId: t(2) },
    { kind: 'task.claimed', taskId: t(2), claim: aClaim({ expiresAt: 50 }) },
  )
  await happened(one, 3, { kind: 'role.declared', role: 'zoologist' })
  const next = async (store: typeof one) => (await store.view(({ plan }) => plan.next({ now: 9 })))?.task.id
  expect([await next(one), await next(other)]).toEqual([undefined, t(1)])
  await happened(one, 4, { kind: 'task.marked', taskId: t(2), status: 'done' })
  expect([await next(one), await next(other)]).toEqual([t(1), t(1)])
  await other.view(async ({ plan }) => {
    expect(await plan.task('t-2')).toMatchObject({ blocked: true, dependsOn: [t(1)], claim: null })
    expect(await plan.roles()).toEqual([])
    expect(await plan.expiredClaims(100)).toEqual([])
    expect((await plan.tasks({ now: 9, owner: null }, { limit: 9 })).total).toBe(2)
  })
})
