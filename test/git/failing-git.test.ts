import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRepository, temporaryFolder } from '../support/git-repository.ts'
import { testWitness } from './watch.ts'

const says = 'fatal: unable to access x/.git: the folder is not there'

/** A witness whose git fails at a command so many times, as where a folder goes away while it reads. */
function failing(command: string) {
  const place = temporaryFolder()
  const folder = join(place, 'bin')
  const left = join(place, 'left')
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  mkdirSync(folder)
  writeFileSync(left, '')
  const script = [
    '#!/bin/sh',
    `case " $* " in *" ${command} "*)`,
    `  if [ -s '${left}' ]; then sed -i 1d '${left}'; echo '${says}' >&2; exit 128; fi;;`,
    'esac',
    `exec '${git}' "$@"`,
  ]
  writeFileSync(join(folder, 'git'), `${script.join('\n')}\n`)
  chmodSync(join(folder, 'git'), 0o755)
  return {
    witness: testWitness({ PATH: `${folder}:${process.env['PATH']}` }),
    /** The next so many calls fail. */
    times: (count: number) => writeFileSync(left, 'x\n'.repeat(count)),
    left: () => readFileSync(left, 'utf8').length / 2,
  }
}

const refusal = {
  code: 'UNAVAILABLE',
  reason: 'git_failed',
  message: expect.stringMatching(/could not be measured: git status failed twice \(unable to access x/),
  hint: expect.stringContaining('call again'),
}

test('a measurement in which git fails once is made again', async () => {
  const repo = projectRepository()
  const { witness, times, left } = failing('status')
  times(1)
  const { ref } = await witness.snapshot({ folder: repo.top, name: 'first' })
  expect(left()).toBe(0)
  repo.put('new.txt', 'new\n')
  times(1)
  const next = await witness.snapshot({ folder: repo.top, name: 'next' })
  expect(await witness.changes(ref, next.ref)).toMatchObject({
    status: 'exact',
    changes: [{ path: 'new.txt' }],
  })
  times(1)
  expect(await witness.treeHash(repo.top)).toMatch(/^\w+/)
})

test('a measurement in which git keeps failing is refused with what git says', async () => {
  const repo = projectRepository()
  const { witness, times } = failing('status')
  times(9)
  await expect(witness.snapshot({ folder: repo.top, name: 'first' })).rejects.toMatchObject(refusal)
  times(9)
  await expect(witness.treeHash(repo.top)).rejects.toMatchObject(refusal)
  times(0)
  expect(await witness.snapshot({ folder: repo.top, name: 'first' })).toBeDefined()
})

test.each(['log', 'diff-tree', 'rev-list', 'cat-file', 'ls-tree', 'merge-base', 'rev-parse'])(
  'what reads history answers or is refused where git %s fails',
  async (command) => {
    const repo = projectRepository()
    repo.put('lib/later.ts', 'export const later = 1\n')
    repo.commit('Later')
    const { witness, times } = failing(command)
    const questions = [
      () => witness.locate(repo.top),
      () => witness.others(repo.top),
      () => witness.branch({ folder: repo.top, base: 'HEAD~1' }),
      () => witness.history.commits(repo.top, 'HEAD~1..HEAD', 10),
      () => witness.history.files(repo.top, 'HEAD', ''),
    ]
    for (const question of questions) {
      times(99)
      const error = await question().then(
        () => null,
        (error: unknown) => error,
      )
      if (error !== null)
        expect(error).toMatchObject({ code: expect.any(String), reason: expect.any(String) })
    }
  },
)
