import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import {
  clonedProject,
  emptyRepository,
  projectRepository,
  type WorkFolder,
} from '../support/git-repository.ts'
import { watch } from './watch.ts'

/** Someone else's commit on `upstream`. */
function others(repo: WorkFolder): void {
  repo.put('theirs.ts', 'theirs\n')
  repo.append('src/app.ts', 'theirs\n')
  repo.commit('Theirs')
}

/** A repository on `main` with a branch `topic` that has someone else's commit. */
function withTopic(): WorkFolder {
  const repo = projectRepository()
  repo.git('checkout', '-qb', 'topic')
  others(repo)
  repo.git('checkout', '-q', 'main')
  return repo
}

test('case 32: amend of the start commit', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.git('commit', '-qa', '--amend', '-m', 'Second, better')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report).toMatchObject({ status: 'exact', notes: [] })
})

test('case 33: reset --hard to older commit', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => void repo.git('reset', '-q', '--hard', 'HEAD~1'))
  expect(changes).toEqual(['M README.md (imported)'])
  expect(report.headMoves).toMatchObject([{ action: 'reset' }])
})

test('case 34: rebase onto upstream during task (+ own edit)', async () => {
  const repo = withTopic()
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Own')
    repo.git('rebase', '-q', 'topic')
  })
  expect(changes).toEqual(['M lib/util.ts', 'M src/app.ts (imported)', 'A theirs.ts (imported)'])
  expect(report.notes).toEqual([])
})

test("case 35: merge brings other people's changes (+ own edit)", async () => {
  const repo = withTopic()
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Own')
    repo.git('merge', '-q', '--no-edit', 'topic')
  })
  expect(changes).toEqual(['M lib/util.ts', 'M src/app.ts (imported)', 'A theirs.ts (imported)'])
})

test('case 36: merge with conflict resolved by the task', async () => {
  const repo = withTopic()
  const { changes } = await watch(repo, () => {
    repo.append('src/app.ts', 'mine\n')
    repo.commit('Own')
    repo.gitFails('merge', '-q', '--no-edit', 'topic')
    repo.put('src/app.ts', 'resolved\n')
    repo.commit('Merge')
  })
  expect(changes).toEqual(['M src/app.ts (mixed)', 'A theirs.ts (imported)'])
})

test('case 37: merge conflict left unresolved at completion', async () => {
  const repo = withTopic()
  const { changes, report } = await watch(repo, () => {
    repo.append('src/app.ts', 'mine\n')
    repo.commit('Own')
    repo.gitFails('merge', '-q', '--no-edit', 'topic')
  })
  expect(changes).toEqual(['M src/app.ts (mixed)', 'A theirs.ts (imported)'])
  expect(report.notes).toEqual(['A merge is in progress.', 'Unresolved conflicts: src/app.ts.'])
})

test('case 38: git pull (fast-forward) during task', async () => {
  const { upstream, clone } = clonedProject()
  const { changes, report } = await watch(clone, () => {
    others(upstream)
    clone.git('pull', '-q')
  })
  expect(changes).toEqual(['M src/app.ts (imported)', 'A theirs.ts (imported)'])
  expect(report.headMoves).toMatchObject([{ action: 'pull', origin: 'imported' }])
})

test('case 38, with rebase: own commits on top of what a pull brings', async () => {
  const { upstream, clone } = clonedProject()
  const { changes } = await watch(clone, () => {
    others(upstream)
    clone.append('lib/util.ts')
    clone.commit('Own')
    clone.git('pull', '-q', '--rebase')
  })
  expect(changes).toEqual(['M lib/util.ts', 'M src/app.ts (imported)', 'A theirs.ts (imported)'])
})

test('case 39: branch switch during task', async () => {
  const repo = withTopic()
  const { changes } = await watch(repo, () => {
    repo.git('checkout', '-q', 'topic')
    repo.append('theirs.ts', 'mine\n')
  })
  expect(changes).toEqual(['M src/app.ts (imported)', 'A theirs.ts (mixed)'])
})

test('case 40: task creates branch and commits there', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.git('checkout', '-qb', 't/1')
    repo.append('lib/util.ts')
    repo.commit('Own')
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 41: task commits on a branch, then switches back', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.git('checkout', '-qb', 't/1')
    repo.append('lib/util.ts')
    repo.commit('Own')
    repo.git('checkout', '-q', 'main')
  })
  expect(changes).toEqual([])
  expect(report.notes).toEqual([
    expect.stringMatching(
      /^Commit [0-9a-f]{12} on branch t\/1 is no longer in the history of the work tree\.$/,
    ),
  ])
})

test("case 42: cherry-pick of someone's commit", async () => {
  const repo = withTopic()
  const { changes } = await watch(repo, () => void repo.git('cherry-pick', 'topic'))
  expect(changes).toEqual(['M src/app.ts', 'A theirs.ts'])
})

test('case 43: detached HEAD', async () => {
  const repo = projectRepository()
  repo.git('checkout', '-q', '--detach')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Detached')
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 44: no commits yet; task adds and commits', async () => {
  const repo = emptyRepository()
  const { changes, start } = await watch(repo, () => {
    repo.put('n.ts', 'new\n')
    repo.commit('First')
  })
  expect(start.ref.id).toBe('unborn')
  expect(changes).toEqual(['A n.ts'])
})

test('case 45: no commits yet; pre-existing file edited', async () => {
  const repo = emptyRepository()
  repo.put('pre.ts', 'pre\n')
  const { changes } = await watch(repo, () => repo.append('pre.ts'))
  expect(changes).toEqual(['M pre.ts'])
})

function prune(repo: WorkFolder): void {
  repo.git('reflog', 'expire', '--expire=now', '--all')
  repo.git('gc', '-q', '--prune=now')
}

test('case 46: start commit amended away and pruned (gc --prune=now)', async () => {
  const repo = projectRepository()
  const { changes, report, start } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.append('README.md', 'More.\n')
    repo.git('commit', '-qa', '--amend', '-m', 'Second, better')
    prune(repo)
  })
  repo.gitFails('cat-file', '-e', start.ref.id)
  expect(changes).toEqual(['M README.md', 'M lib/util.ts'])
  expect(report.changes).toMatchObject([
    { path: 'README.md', addedLines: null },
    { path: 'lib/util.ts', addedLines: 1 },
  ])
  expect(report.notes).toEqual([expect.stringMatching(/their lines are not counted/)])
})

test('a start commit that was pruned, and a file that was committed and put back', async () => {
  const repo = projectRepository()
  const before = repo.read('lib/util.ts')
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.append('src/app.ts')
    repo.git('commit', '-qa', '--amend', '-m', 'Second, better')
    repo.put('lib/util.ts', before)
    prune(repo)
  })
  expect(changes).toEqual(['M src/app.ts'])
  expect(report.status).not.toBe('unknown')
})

test('case 47: same, with dirty + untracked files at start', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts', 'dirty\n')
  repo.put('notes.txt', 'note\n')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.git('commit', '-qa', '--amend', '-m', 'Second, better')
    prune(repo)
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 48: history replaced (orphan branch + deleted main)', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.git('checkout', '-q', '--orphan', 'fresh')
    repo.commit('Fresh start')
    repo.git('branch', '-qD', 'main')
    prune(repo)
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 49: linked work tree as project', async () => {
  const repo = projectRepository()
  const linked = repo.in('../linked')
  repo.git('worktree', 'add', '-q', linked.top)
  const { changes, witness, start } = await watch(linked, () => {
    linked.append('lib/util.ts')
    linked.commit('Own')
    linked.put('n.ts', 'new\n')
  })
  expect(changes).toEqual(['M lib/util.ts', 'A n.ts'])
  expect(start.ref.top).toBe(linked.git('rev-parse', '--show-toplevel').trim())
  expect(await witness.locate(linked.top)).toMatchObject({ engine: 'git', mainTop: repo.top })
})

test('case 50: other work tree commits meanwhile', async () => {
  const repo = projectRepository()
  const linked = repo.in('../linked')
  repo.git('worktree', 'add', '-q', linked.top)
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    linked.append('README.md')
    linked.commit('Elsewhere')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.headMoves).toEqual([])
})

test('case 96: core.logAllRefUpdates=false, own commit', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.logAllRefUpdates', 'false')
  repo.git('reflog', 'delete', '--rewrite', 'HEAD@{0}')
  repo.remove('.git/logs')
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Own')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.doubts).toEqual([expect.stringMatching(/no reflog tells how/)])
})

test('case 97: git replace used during the task', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => void repo.git('replace', 'HEAD', 'HEAD~1'))
  expect(changes).toEqual([])
})

test('case 103: empty commits only', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.git('commit', '-q', '--allow-empty', '-m', 'Nothing')
  })
  expect(changes).toEqual([])
  expect(report.headMoves).toHaveLength(1)
})

test('work that was done in another work tree alone is hinted at, wherever the task was started', async () => {
  const repo = projectRepository()
  const linked = repo.in('../linked')
  repo.git('worktree', 'add', '-q', linked.top)
  const fromMain = await watch(repo, () => linked.append('README.md'))
  expect(fromMain.changes).toEqual([])
  expect(fromMain.report.notes.join()).toContain(`another work tree of this repository did: ${linked.top}`)
  const fromLinked = await watch(linked, () => repo.append('lib/util.ts'))
  expect(fromLinked.report.notes.join()).toContain(`another work tree of this repository did: ${repo.top}`)
  const nowhere = await watch(repo, () => undefined)
  expect(nowhere.report.notes).toEqual([])
})

describe('a commit of the task’s own is never somebody else’s, whatever the reflog calls it', () => {
  test('a commit that says it is a pull', async () => {
    const repo = projectRepository()
    const { changes } = await watch(repo, () => {
      repo.append('lib/util.ts')
      repo.git('add', '.')
      execFileSync('git', ['commit', '-qm', 'x'], {
        cwd: repo.top,
        env: { ...process.env, GIT_REFLOG_ACTION: 'pull' },
      })
    })
    expect(changes).toEqual(['M lib/util.ts (mixed)'])
  })

  test('a commit made in another work tree and merged', async () => {
    const repo = projectRepository()
    const linked = repo.in('../linked')
    repo.git('worktree', 'add', '-q', '-b', 'side', linked.top)
    const { changes } = await watch(repo, () => {
      linked.append('lib/util.ts')
      linked.commit('Elsewhere')
      repo.git('merge', '-q', 'side')
    })
    expect(changes).toEqual(['M lib/util.ts (mixed)'])
  })

  test('a commit made by hand and reset to', async () => {
    const repo = projectRepository()
    const { changes } = await watch(repo, () => {
      repo.append('lib/util.ts')
      repo.git('add', '.')
      const tree = repo.git('write-tree').trim()
      const commit = repo.git('commit-tree', tree, '-p', 'HEAD', '-m', 'x').trim()
      repo.git('reset', '-q', '--hard', commit)
    })
    expect(changes).toEqual(['M lib/util.ts (mixed)'])
  })
})
