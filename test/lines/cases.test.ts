import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { openProject } from '../support/project.ts'
import { shared } from '../support/shared.ts'
import { lines, openStory, type Story } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const y = (...numbers: number[]) => lines('y', ...numbers)
const z = (...numbers: number[]) => lines('z', ...numbers)
const p = (...numbers: number[]) => lines('p', ...numbers)
const u = (...numbers: number[]) => lines('u', ...numbers)

const allX = { x1: 'a1', x2: 'a1', x3: 'a1' }

describe('of one attempt whose lines a person committed', () => {
  const story = shared(async () => {
    const made = await openStory()
    await made.attempt('a1', () => made.put('f', x(1, 2, 3)))
    made.commit()
    return { made, committed: made.git('rev-parse', 'HEAD').trim() }
  })
  let s: Story

  // What git does afterwards is taken back: nothing of it is recorded.
  beforeEach(async () => {
    const { made, committed } = await story()
    s = made
    s.git('checkout', '-qf', '-B', 'main', committed)
    s.git('clean', '-qfd')
  })

  /** Puts the commit on a branch of its own, `work`, and `main` before it. */
  function putAside(): void {
    s.git('checkout', '-qB', 'work')
    s.git('checkout', '-qB', 'main', 'HEAD~1')
  }

  test('1 an attempt, committed by a person', async () => {
    expect((await s.whose('f')).slice(-3)).toEqual(['x1 a1 exact', 'x2 a1 exact', 'x3 a1 exact'])
    expect((await s.whose('f'))[0]).toBe('base author git')
  })

  test('2 not committed', async () => {
    s.git('reset', '-q', 'HEAD~1')
    expect((await s.whose('f')).slice(-3)).toEqual(['x1 a1 exact', 'x2 a1 exact', 'x3 a1 exact'])
  })

  test('5 amended, the message and with lines of the person', async () => {
    s.git('commit', '-q', '--amend', '-m', 'better words')
    expect(await s.owners('f')).toEqual(allX)
    s.put('f', p(1), 'base line two')
    s.git('commit', '-qa', '--amend', '-m', 'with more')
    expect(await s.owners('f')).toEqual({ ...allX, p1: 'author' })
  })

  test('6 rebased onto a moved branch', async () => {
    putAside()
    s.put('f', u(1, 2), 'base line one')
    s.commit('upstream')
    const main = s.git('rev-parse', 'HEAD').trim()
    s.git('checkout', '-q', 'work')
    s.git('rebase', '-q', main)
    expect(await s.whose('f')).toContain('x2 a1 matched')
    expect(await s.owners('f')).toEqual({ ...allX, u1: 'author', u2: 'author' })
  })

  test('7 rebased with a conflict that a person resolves', async () => {
    putAside()
    s.put('f', u(1, 2))
    s.commit('upstream')
    const main = s.git('rev-parse', 'HEAD').trim()
    s.git('checkout', '-q', 'work')
    expect(() => s.git('rebase', '-q', main)).toThrow()
    s.take('f', '<<<<', '====', '>>>>')
    s.swap('f', 'x2', 'r2 is what the person made of it')
    s.git('add', '-A')
    s.git('-c', 'core.editor=true', 'rebase', '--continue')
    expect(await s.owners('f')).toEqual({ x1: 'a1', r2: 'author', x3: 'a1', u1: 'author', u2: 'author' })
  })

  test('10 cherry-picked to a branch that moved', async () => {
    putAside()
    s.put('f', u(1), 'base line one')
    s.commit('upstream')
    s.git('cherry-pick', 'work')
    expect(await s.owners('f')).toEqual({ ...allX, u1: 'author' })
  })

  test('13 a person renames and edits', async () => {
    s.git('mv', 'f', 'h')
    s.put('h', p(1))
    expect(await s.owners('h')).toEqual({ ...allX, p1: 'uncommitted' })
    s.commit()
    expect(await s.owners('h')).toEqual({ ...allX, p1: 'author' })
  })

  test('14 a person moves three lines to another file', async () => {
    s.take('f', 'x')
    s.put('g', x(1, 2, 3))
    s.commit()
    expect(await s.owners('g')).toEqual(allX)
  })

  test('17 reverted twice', async () => {
    s.git('revert', '--no-edit', 'HEAD')
    s.git('revert', '--no-edit', 'HEAD')
    expect(await s.owners('f')).toEqual(allX)
  })

  test('18 stashed and popped', async () => {
    s.git('reset', '-q', 'HEAD~1')
    s.git('stash', '-q')
    s.git('stash', 'pop', '-q')
    expect(await s.owners('f')).toEqual(allX)
  })

  test('21 the history is rewritten', async () => {
    s.put('g', p(1))
    s.commit()
    vi.stubEnv('FILTER_BRANCH_SQUELCH_WARNING', '1')
    s.git('filter-branch', '-f', '--msg-filter', 'sed s/^/again-/', 'HEAD')
    expect(await s.owners('f')).toEqual(allX)
  })

  test('25 an orphan branch with one commit', async () => {
    s.git('checkout', '-q', '--orphan', 'fresh')
    s.commit('all anew')
    expect(await s.owners('f')).toEqual(allX)
  })
})

test('3 a person adds above, before and after the next snapshot', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.put('f', p(1, 2), 'base line one')
  expect(await s.owners('f')).toEqual({ ...allX, p1: 'uncommitted', p2: 'uncommitted' })
  await s.attempt('a2', () => s.put('g', y(1)))
  expect(await s.owners('f')).toEqual({ ...allX, p1: 'outside', p2: 'outside' })
})

test('4 another attempt changes one of three lines', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  await s.attempt('a2', () => s.swap('f', 'x2', y(2)[0] ?? ''))
  s.commit()
  expect(await s.owners('f')).toEqual({ x1: 'a1', y2: 'a2', x3: 'a1' })
})

test('8 three attempts, commits squashed by a soft reset', async () => {
  const s = await openStory()
  const start = s.git('rev-parse', 'HEAD').trim()
  await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  await s.attempt('a2', () => s.put('f', y(1, 2), 'base line two'))
  s.commit()
  await s.attempt('a3', () => s.put('f', z(1), 'base line one'))
  s.commit()
  s.git('reset', '-q', '--soft', start)
  s.commit('all')
  expect(await s.whose('f')).toContain('y1 a2 exact')
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1', y1: 'a2', y2: 'a2', z1: 'a3' })
})

test('9 a squash merge onto a main that moved', async () => {
  const s = await openStory()
  const main = s.git('branch', '--show-current').trim()
  s.git('checkout', '-qb', 'work')
  await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  await s.attempt('a2', () => s.put('f', y(1, 2), 'base line two'))
  s.commit()
  s.git('checkout', '-q', main)
  s.put('f', u(1), 'base line one')
  s.commit('upstream')
  s.git('merge', '-q', '--squash', 'work')
  s.commit('squashed')
  expect(await s.whose('f')).toContain('y1 a2 matched')
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1', y1: 'a2', y2: 'a2', u1: 'author' })
})

test('11 two commits in another order', async () => {
  const s = await openStory()
  const start = s.git('rev-parse', 'HEAD').trim()
  await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  const first = s.git('rev-parse', 'HEAD').trim()
  await s.attempt('a2', () => s.put('f', y(1, 2), 'base line two'))
  s.commit()
  const second = s.git('rev-parse', 'HEAD').trim()
  s.git('reset', '-q', '--hard', start)
  s.git('cherry-pick', second)
  s.git('cherry-pick', first)
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1', y1: 'a2', y2: 'a2' })
})

test('12 one of two hunks is committed', async () => {
  const s = await openStory()
  await s.attempt('a1', () => {
    s.put('f', x(1))
    s.put('f', x(2), 'base line one')
  })
  const whole = s.read('f')
  s.take('f', 'x2')
  s.commit()
  s.write('f', whole)
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1' })
  expect(await s.owners('f', { rev: 'HEAD' })).toEqual({ x1: 'a1' })
})

test('15 an attempt moves them', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  const second = await s.attempt('a2', () => {
    s.take('f', 'x')
    s.put('g', [...x(1, 2, 3), ...y(1)])
  })
  s.commit()
  expect(await s.owners('g')).toEqual({ ...allX, y1: 'a2' })
  const { ranges } = await s.call('blame', { file: 'g' })
  expect(ranges.find(({ agent }: { agent: string }) => agent === 'a1').moved_by).toEqual([second.attempt_id])
})

test('16 a person indents the file anew', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.write('f', s.read('f').replaceAll(/^/gm, '    ').trimEnd())
  await s.attempt('a2', () => s.put('g', y(1)))
  expect(await s.owners('f')).toEqual(allX)
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.find(({ agent }: { agent: string }) => agent === 'a1').reformatted_by).toEqual([])
  s.commit()
  expect(await s.owners('f')).toEqual(allX)
})

test('19 two branches are merged', async () => {
  const s = await openStory()
  const main = s.git('branch', '--show-current').trim()
  s.git('checkout', '-qb', 'one')
  await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  s.git('checkout', '-q', main)
  s.git('checkout', '-qb', 'two')
  await s.attempt('a2', () => s.put('f', y(1, 2), 'base line one'))
  s.commit()
  s.git('merge', '-q', '--no-edit', 'one')
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1', y1: 'a2', y2: 'a2' })
})

for (const inside of [false, true]) {
  const number = inside ? 29 : 20
  test(`${number} a conflict of two agents' branches, ${inside ? 'merged and ' : ''}resolved by a third`, async () => {
    const s = await openStory()
    const main = s.git('branch', '--show-current').trim()
    s.git('checkout', '-qb', 'one')
    await s.attempt('a1', () => s.put('f', x(1, 2)))
    s.commit()
    s.git('checkout', '-q', main)
    s.git('checkout', '-qb', 'two')
    await s.attempt('a2', () => s.put('f', y(1, 2)))
    s.commit()
    s.git('checkout', '-q', 'one')
    const merge = () => expect(() => s.git('merge', '-q', '--no-edit', 'two')).toThrow()
    if (!inside) merge()
    await s.attempt('a3', () => {
      if (inside) merge()
      s.take('f', '<<<<', '====', '>>>>')
      s.swap('f', 'y2', z(2)[0] ?? '')
      s.git('add', '-A')
      s.git('commit', '-qm', 'merged')
    })
    expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a1', y1: 'a2', z2: 'a3' })
  })
}

test('22 an attempt commits in the middle', async () => {
  const s = await openStory()
  await s.attempt('a1', () => {
    s.put('f', x(1, 2))
    s.commit()
    s.put('f', x(3))
  })
  s.commit()
  expect(await s.owners('f')).toEqual(allX)
})

test('23 an attempt copies lines of another below', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  await s.attempt('a2', () => s.put('f', ['between the two', ...x(1, 2, 3)]))
  s.commit()
  const found = (await s.whose('f')).slice(4).map((row) => row.split(' ').slice(0, 2).join(' '))
  expect(found).toEqual(['x1 a1', 'x2 a1', 'x3 a1', 'between a2', 'x1 a2', 'x2 a2', 'x3 a2'])
})

test('24 a person deletes a line and restores exactly that state', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  const whole = s.read('f')
  s.take('f', 'x2')
  await s.attempt('a2', () => s.put('g', y(1)))
  s.write('f', whole)
  await s.attempt('a3', () => s.put('g', z(1)))
  expect(await s.owners('f')).toEqual(allX)
})

test('26 an attempt only deletes', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.take('f', 'base line two'))
  s.commit()
  expect(await s.owners('f')).toEqual({})
  expect((await s.whose('f')).length).toBe(3)
})

async function upstreamOf(s: Awaited<ReturnType<typeof openStory>>) {
  const main = s.git('branch', '--show-current').trim()
  s.git('checkout', '-qb', 'upstream')
  s.put('f', u(1, 2), 'base line one')
  s.commit('upstream')
  s.git('checkout', '-q', main)
}

test('27 an attempt pulls, then edits', async () => {
  const s = await openStory()
  await upstreamOf(s)
  await s.attempt('a1', () => {
    s.git('pull', '-q', '.', 'upstream')
    s.put('f', x(1, 2, 3))
  })
  s.commit()
  expect(await s.owners('f')).toEqual({ ...allX, u1: 'author', u2: 'author' })
})

test('28 an attempt commits, rebases and edits on', async () => {
  const s = await openStory()
  await upstreamOf(s)
  await s.attempt('a1', () => {
    s.put('f', x(1, 2))
    s.commit()
    s.git('rebase', '-q', 'upstream')
    s.put('f', x(3))
  })
  s.commit()
  expect(await s.owners('f')).toEqual({ ...allX, u1: 'author', u2: 'author' })
})

async function branchOfFirst(s: Awaited<ReturnType<typeof openStory>>) {
  const main = s.git('branch', '--show-current').trim()
  s.git('checkout', '-qb', 'first')
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.git('checkout', '-q', main)
}

test('30 an attempt squash-merges another one’s branch and changes a line', async () => {
  const s = await openStory()
  await branchOfFirst(s)
  await s.attempt('a2', () => {
    s.git('merge', '-q', '--squash', 'first')
    s.swap('f', 'x2', y(2)[0] ?? '')
    s.commit()
  })
  expect(await s.owners('f')).toEqual({ x1: 'a1', y2: 'a2', x3: 'a1' })
})

test('31 an attempt cherry-picks another one’s commit and edits', async () => {
  const s = await openStory()
  await branchOfFirst(s)
  await s.attempt('a2', () => {
    s.put('g', y(1))
    s.commit()
    s.git('cherry-pick', 'first')
    s.put('f', y(2), 'base line one')
  })
  expect(await s.owners('f')).toEqual({ ...allX, y2: 'a2' })
})

test('32 an attempt checks the file out of another one’s branch', async () => {
  const s = await openStory()
  await branchOfFirst(s)
  await s.attempt('a2', () => {
    s.git('checkout', 'first', '--', 'f')
  })
  expect(await s.owners('f')).toEqual(allX)
})

test('33 stashed by a person, popped by another attempt', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.git('stash', '-q')
  await s.attempt('a2', () => {
    s.git('stash', 'pop', '-q')
    s.put('g', y(1))
  })
  expect(await s.owners('f')).toEqual(allX)
  expect(await s.owners('g')).toEqual({ y1: 'a2' })
})

test('34 an attempt switches to another one’s branch and edits', async () => {
  const s = await openStory()
  await branchOfFirst(s)
  await s.attempt('a2', () => {
    s.git('checkout', '-q', 'first')
    s.put('f', y(1))
  })
  s.commit()
  expect(await s.owners('f')).toEqual({ ...allX, y1: 'a2' })
})

test('35 an attempt amends its commit', async () => {
  const s = await openStory()
  await s.attempt('a1', () => {
    s.put('f', x(1, 2))
    s.commit()
    s.put('f', x(3))
    s.git('commit', '-qa', '--amend', '-m', 'all of it')
  })
  expect(await s.owners('f')).toEqual(allX)
})

test('36 an attempt switches away and back', async () => {
  const s = await openStory()
  const main = s.git('branch', '--show-current').trim()
  s.git('branch', 'elsewhere')
  await s.attempt('a1', () => {
    s.put('f', x(1, 2))
    s.commit()
    s.git('checkout', '-q', 'elsewhere')
    s.git('checkout', '-q', main)
    s.put('f', x(3))
  })
  expect(await s.owners('f')).toEqual(allX)
})

test('37 an attempt merges another one’s branch and changes a line', async () => {
  const s = await openStory()
  await branchOfFirst(s)
  await s.attempt('a2', () => {
    s.put('g', y(1))
    s.commit()
    s.git('merge', '-q', '--no-edit', 'first')
    s.swap('f', 'x2', y(2)[0] ?? '')
    s.commit()
  })
  expect(await s.owners('f')).toEqual({ x1: 'a1', y2: 'a2', x3: 'a1' })
})

test('38 the work of one is discarded, another writes two of the lines again', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.git('checkout', '-q', '--', 'f')
  await s.attempt('a2', () => s.put('f', x(1, 3)))
  s.commit()
  expect(await s.owners('f')).toEqual({ x1: 'a2', x3: 'a2' })
})

test('39 an attempt resets another one’s commit away and edits', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  await s.attempt('a2', () => {
    s.git('reset', '-q', '--hard', 'HEAD~1')
    s.put('f', y(1))
  })
  s.commit()
  expect(await s.owners('f')).toEqual({ y1: 'a2' })
})

test('40 a person deletes a line and types it again together with others', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.take('f', 'x2')
  await s.attempt('a2', () => s.put('g', y(1)))
  s.put('f', [...x(2), ...p(1)], 'x3')
  await s.attempt('a3', () => s.put('g', z(1)))
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'outside', p1: 'outside', x3: 'a1' })
})

test('41 stashed, two attempts work and commit, popped', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.git('stash', '-q')
  await s.attempt('a2', () => {
    s.put('g', y(1))
    s.commit()
  })
  await s.attempt('a3', () => {
    s.put('f', z(1), 'base line one')
    s.commit()
  })
  s.git('stash', 'pop', '-q')
  await s.attempt('a4', () => s.put('g', y(2)))
  expect(await s.owners('f')).toEqual({ ...allX, z1: 'a3' })
})

test('what is behind a link, of git itself, ignored or named like a secret is read for nobody', async () => {
  const s = await openStory()
  const elsewhere = mkdtempSync(join(tmpdir(), 'waymark-elsewhere-'))
  writeFileSync(join(elsewhere, 'key.txt'), 'of another folder\n')
  symlinkSync(elsewhere, join(s.folder, 'link'))
  s.write('.gitignore', 'local/\n')
  s.write('local/settings.txt', 'ignored\n')
  s.write('.env', 'TOKEN=1\n')
  await expect(s.call('blame', { file: 'link/key.txt' })).rejects.toMatchObject({
    reason: 'path_behind_link',
  })
  await expect(s.call('blame', { file: '.git/config' })).rejects.toMatchObject({ reason: 'path_of_git' })
  for (const file of ['local/settings.txt', '.env']) {
    const { lines: count, notes } = await s.call('blame', { file })
    expect([count, notes]).toEqual([0, [expect.stringContaining(file)]])
  }
  s.git('add', '-f', '.env')
  s.git('commit', '-qm', 'for all to see')
  // Also of a committed one.
  const committed = await s.call('blame', { file: '.env' })
  expect(JSON.stringify(committed)).not.toContain('TOKEN=1')
  expect(committed).toMatchObject({ lines: 0, ranges: [] })
})

test('a line of before Waymark names the agent of its commit', async () => {
  const project = await openProject()
  project.write('old.ts', 'export const a = 1\n')
  project.git('add', '-A')
  project.git('commit', '-q', '-m', 'Add a', '-m', 'Co-Authored-By: Claude <noreply@anthropic.com>')
  const { ranges } = await project.call('blame', { file: 'old.ts' })
  expect(ranges).toMatchObject([{ kind: 'before', committed_with: 'Claude' }])
  project.git('commit', '-q', '--amend', '-m', 'Add a')
  const again = await project.call('blame', { file: 'old.ts' })
  expect(again.ranges[0]).toMatchObject({ kind: 'before' })
  expect(again.ranges[0]).not.toHaveProperty('committed_with')
})
