import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWitness } from '../../src/git/witness.ts'
import { projectRepository, temporaryFolder } from '../support/git-repository.ts'
import { testWitness, watch } from './watch.ts'

test('a private directory is closed to others', async () => {
  const { start } = await watch(projectRepository(), () => undefined)
  expect(statSync(start.ref.directory).mode & 0o777).toBe(0o700)
})

test('a state folder that cannot be written is refused in a sentence', async () => {
  const repo = projectRepository()
  const stateFolder = join(temporaryFolder(), 'a-file')
  writeFileSync(stateFolder, '')
  const witness = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  const snapshot = witness.snapshot({ folder: repo.top, name: 'one' })
  await expect(snapshot).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringMatching(/Cannot keep snapshots: .*a-file/),
  })
})

test('the sweep removes what nobody names once it is a day old', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  let now = Date.now()
  const witness = createWitness({ stateFolder, clock: { now: () => now } })
  const kept = await witness.snapshot({ folder: repo.top, name: 'kept' })
  const dropped = await witness.snapshot({ folder: repo.top, name: 'dropped' })
  await witness.settle()
  expect(await witness.sweep([kept.ref])).toBe(0)
  now += 25 * 60 * 60 * 1000
  expect(await witness.sweep([kept.ref])).toBe(1)
  expect(existsSync(kept.ref.directory)).toBe(true)
  expect(existsSync(dropped.ref.directory)).toBe(false)
})

test('another process compares what one recorded', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  const options = { stateFolder, clock: { now: () => Date.now() } }
  const one = createWitness(options)
  const start = await one.snapshot({ folder: repo.top, name: 'start' })
  await one.settle()
  repo.append('lib/util.ts')
  const two = createWitness(options)
  const end = await two.snapshot({ folder: repo.top, name: 'end', engine: start.ref.engine })
  repo.append('lib/util.ts', 'later than the end\n')
  expect((await createWitness(options).changes(start.ref, end.ref)).changes).toMatchObject([
    { path: 'lib/util.ts', addedLines: 1 },
  ])
  await two.settle()
})

test('the unified diff is of one path, by its old or its new name, or of all', async () => {
  const repo = projectRepository()
  const { witness, start, end } = await watch(repo, () => {
    repo.git('mv', 'lib/util.ts', 'lib/tools.ts')
    repo.append('lib/tools.ts', 'edited\n')
    repo.put('n.ts', 'new\n')
  })
  const whole = (await witness.unifiedDiff(start.ref, end.ref))?.text
  expect(whole).toContain('rename from lib/util.ts\nrename to lib/tools.ts')
  expect(whole).toContain('+new')
  for (const name of ['lib/util.ts', 'lib/tools.ts']) {
    const one = (await witness.unifiedDiff(start.ref, end.ref, [name]))?.text
    expect(one).toContain('rename from lib/util.ts')
    expect(one).toContain('+edited')
    expect(one).not.toContain('+new')
  }
  expect((await witness.unifiedDiff(start.ref, end.ref, ['README.md']))?.text).toBe('')
  await witness.settle()
})

test('workspace packages are found by the names in their manifests', async () => {
  const repo = projectRepository()
  repo.put('package.json', '{"name":"root"}')
  repo.put('packages/one/package.json', '{"name":"@scope/one"}')
  repo.put('packages/broken/package.json', '{')
  repo.commit('Packages')
  const witness = testWitness()
  const { ref } = await witness.snapshot({ folder: repo.top, name: 'start' })
  expect([...(await witness.packages(ref))]).toEqual([['@scope/one', 'packages/one']])
  await witness.settle()
})

test('a state folder inside the work tree is no part of it', async () => {
  const repo = projectRepository()
  const stateFolder = join(repo.top, 'var/state')
  mkdirSync(stateFolder, { recursive: true })
  const witness = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  const { changes } = await watch(repo, () => repo.append('README.md'), witness)
  expect(changes).toEqual(['M README.md'])
})
