import { expect, test } from 'vitest'
import { figuresOf } from '../../src/review/operations/measure-files.ts'
import { testWitness } from '../git/watch.ts'
import { countedGit } from '../support/counted-git.ts'
import { projectRepository, temporaryFolder } from '../support/git-repository.ts'

/** A repository with this many committed files, and a witness whose git writes down how it is called. */
function committed(files: number) {
  const repo = projectRepository()
  for (let number = 0; number < files; number += 1) repo.put(`many/file-${number}.ts`, `one ${number}\ntwo\n`)
  repo.git('add', '-A')
  repo.git('commit', '-qm', 'many')
  const home = temporaryFolder()
  const { folder: programs, started } = countedGit(home)
  const witness = testWitness({
    HOME: home,
    XDG_CONFIG_HOME: home,
    PATH: `${programs}:${process.env['PATH']}`,
  })
  const paths = Array.from({ length: files }, (_, number) => `:/many/file-${number}.ts`)
  return { repo, witness, started, paths }
}

test('the lines of many files of a commit are read with as few processes as those of two', async () => {
  async function processes(files: number) {
    const { repo, witness, started, paths } = committed(files)
    const read = () =>
      Promise.all(
        paths.map((path) =>
          witness.history.file({ folder: repo.top, path, rev: 'HEAD', salt: 's', text: true }),
        ),
      )
    await read()
    started()
    const found = await read()
    expect(found.map(({ text }) => text?.[0])).toEqual(paths.map((_, number) => `one ${number}`))
    const reading = started().sort()
    const [{ commit } = { commit: null }] = found
    const blamed = await Promise.all(
      found.map(({ path, oid }) =>
        witness.history.blame({ folder: repo.top, path, commit, oid, copies: false }),
      ),
    )
    expect(blamed.map(({ contents }) => contents[0]?.[2])).toEqual(found.map(({ oid }) => oid))
    return { reading, blaming: started().filter((command) => command !== '-c') }
  }
  expect(await processes(30)).toEqual(await processes(2))
})

test('a file that is not there fails alone', async () => {
  const { repo, witness, paths } = committed(2)
  const read = (path: string) =>
    witness.history.file({ folder: repo.top, path, rev: 'HEAD', salt: 's', text: false })
  const [first, missing, last] = await Promise.allSettled(
    [paths[0], ':/gone.ts', paths[1]].map((path) => read(path ?? '')),
  )
  expect([first?.status, last?.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(missing).toMatchObject({ status: 'rejected', reason: { reason: 'path_not_in_commit' } })
})

test('small contents of many files are read at once, large ones within a budget', async () => {
  const size = (number: number) => (number % 500 === 0 ? 1_500_000 : 100)
  const files = Array.from({ length: 20_000 }, (_, number) => {
    return { path: `f-${number}`, before: null, after: { id: `id-${number}`, mode: '100644' } }
  })
  const asked: number[] = []
  const figures = await figuresOf(files, async (ids, most) => {
    const bytesOf = (id: string) => size(Number(id.slice(3)))
    const whole = ids.filter((id) => bytesOf(id) <= most)
    asked.push(whole.reduce((sum, id) => sum + bytesOf(id), 0))
    return new Map(
      ids.map((id) => [id, { size: bytesOf(id), bytes: bytesOf(id) <= most ? Buffer.from('a\n') : null }]),
    )
  })
  expect(figures.every(({ added, error }) => added === 1 && error === null)).toBe(true)
  expect(asked.length).toBeLessThanOrEqual(20)
  expect(Math.max(...asked)).toBeLessThan(50_000_000)
})

test('git blames a file again only after a commit changed it', async () => {
  const { repo, witness, started } = committed(1)
  const path = 'many/file-0.ts'
  const blamed = async () => {
    const folder = repo.top
    const file = await witness.history.file({
      folder,
      path: `:/${path}`,
      rev: 'HEAD',
      salt: 's',
      text: false,
    })
    started()
    const { oid, commit } = file
    const { lines } = await witness.history.blame({ folder, path, commit, oid, copies: false })
    return {
      blames: started().filter((command) => command === '-c').length,
      commits: new Set(lines.map((line) => line.commit)).size,
    }
  }
  // Where nothing was recorded yet, nothing is kept.
  await witness.snapshot({ folder: repo.top, name: 'first' })
  await witness.settle()
  expect(await blamed()).toEqual({ blames: 1, commits: 1 })
  expect(await blamed()).toEqual({ blames: 0, commits: 1 })
  repo.put('other.ts', 'other\n')
  repo.commit('other')
  expect(await blamed()).toEqual({ blames: 0, commits: 1 })
  repo.put(path, 'one 0\nthree\n')
  repo.commit('changed')
  expect(await blamed()).toEqual({ blames: 1, commits: 2 })
  // The same content as before, but a later commit wrote it.
  repo.put(path, 'one 0\ntwo\n')
  repo.commit('changed back')
  expect(await blamed()).toEqual({ blames: 1, commits: 2 })
  repo.git('reset', '-q', '--hard', 'HEAD~2')
  expect(await blamed()).toEqual({ blames: 1, commits: 1 })
})
