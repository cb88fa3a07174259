import { chmodSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { environmentFault, withGitFaults } from '../../src/git/process.ts'
import { createWitness } from '../../src/git/witness.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { projectRepository, temporaryFolder } from '../support/git-repository.ts'
import { testWitness, watch } from './watch.ts'

test('a damaged index is told as one, with the way to make a new one', async () => {
  for (const damage of ['garbage', 'cut short']) {
    const repo = projectRepository()
    if (damage === 'garbage') repo.put('.git/index', 'no index at all, but long enough to look at\n')
    else truncateSync(repo.path('.git/index'), 100)
    const refusal = testWitness().snapshot({ folder: repo.top, name: 'start' })
    await expect(refusal).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining("the repository's index is damaged"),
      hint: expect.stringContaining('git reset'),
    })
  }
})

test('a folder for snapshots that cannot be written is told with its path', async () => {
  const repo = projectRepository()
  const stateFolder = join(temporaryFolder(), 'state')
  const witness = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  await witness.snapshot({ folder: repo.top, name: 'one' })
  await witness.settle()
  chmodSync(join(stateFolder, 'snapshots'), 0o500)
  try {
    // A superuser may write there all the same.
    if (process.getuid?.() === 0) return
    const refusal = witness.snapshot({ folder: repo.top, name: 'two' })
    await expect(refusal).rejects.toMatchObject({ code: 'REFUSED' })
  } finally {
    chmodSync(join(stateFolder, 'snapshots'), 0o700)
  }
})

const said = {
  'fatal: write error: No space left on device': 'the disk is full',
  "ENOSPC: no space left on device, write '/state/a'": 'the disk is full',
  "EROFS: read-only file system, mkdir '/state/a'": 'the file system is read-only',
  "EACCES: permission denied, open '/state/a'": 'permission is denied',
  'spawn git EMFILE': 'too many files are open',
  'fatal: out of memory, malloc failed': 'memory or processes ran out',
  'error: object file .git/objects/aa/bb is empty': 'the repository is damaged',
}

test.for(Object.entries(said))('"%s" is told as: %s', async ([text, words]) => {
  expect(environmentFault(text, '/project')?.message).toContain(`/project could not be measured: ${words}`)
  const failing = () => Promise.reject(Object.assign(new Error(text), { code: 'E' }))
  await expect(withGitFaults('/project', failing)).rejects.toBeInstanceOf(Failure)
})

test('what is no fault of the machine stays what it is', async () => {
  const failing = () => Promise.reject(new TypeError('x is not a function'))
  await expect(withGitFaults('/project', failing)).rejects.toBeInstanceOf(TypeError)
})

test('a file that is written all the time is uncertain, and the report says why', async () => {
  const repo = projectRepository()
  const { now } = Date
  // The witness looks at the clock between its two looks at a file: another process or a timer may be starved there.
  const clock = vi.spyOn(Date, 'now')
  try {
    const { report } = await watch(repo, () => {
      repo.put('busy.log', 'x\n')
      clock.mockImplementation(() => {
        repo.append('busy.log', 'x\n')
        return now()
      })
    })
    expect(report.changes).toMatchObject([{ path: 'busy.log', change: 'added' }])
    expect(report.status).toBe('partial')
    expect(report.doubts.join(' ')).toContain('went on changing while it was read')
  } finally {
    clock.mockRestore()
  }
})

test('a file that changed once while it was read is read again, and is certain', async () => {
  const repo = projectRepository()
  let written = Promise.resolve()
  const { report } = await watch(repo, () => {
    repo.put('once.log', 'x\n')
    written = pause(15).then(() => repo.append('once.log', 'y\n'))
  })
  await written
  expect(report.status).toBe('exact')
})
