import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { projectRepository } from '../support/git-repository.ts'
import { testWitness } from './watch.ts'

test.for(['a work tree inside it', 'the work tree itself'])(
  'a measurement ends with an answer or a refusal while %s comes and goes',
  async (what) => {
    const repo = projectRepository()
    const witness = testWitness()
    const first = await witness.snapshot({ folder: repo.top, name: 'first' })
    const steps =
      what === 'the work tree itself'
        ? 'mv project aside; sleep 0.01; mv aside project; sleep 0.03'
        : 'cd project; git worktree add -q x -b x; git worktree move x y; git worktree remove -f y; git branch -qD x; cd ..'
    const moving = spawn('sh', ['-c', `while :; do ${steps}; done`], {
      cwd: dirname(repo.top),
      stdio: 'ignore',
      detached: true,
    })
    const ended = once(moving, 'exit')
    try {
      for (let at = 0; at < 60; at += 1) {
        const measured = async () => {
          const next = await witness.snapshot({ folder: repo.top, name: `next-${at}` })
          await witness.treeHash(repo.top)
          return witness.changes(first.ref, next.ref)
        }
        const refused = await measured().then(
          () => null,
          (error: unknown) => error,
        )
        if (refused !== null)
          expect(refused).toMatchObject({
            code: 'UNAVAILABLE',
            reason: expect.stringMatching(/^(folder_not_found|git_failed)$/),
          })
      }
    } finally {
      if (moving.pid !== undefined) process.kill(-moving.pid, 'SIGKILL')
      await ended
    }
  },
)
