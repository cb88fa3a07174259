import { expect, test } from 'vitest'
import { projectRepository } from '../../test/support/git-repository.ts'
import { parsePackedRefs, readRefTips } from './ref-tips.ts'

const one = '1'.repeat(40)
const two = '2'.repeat(40)

test('packed refs, with what their tags lead to, and without the header', () => {
  const text = `# pack-refs with: peeled fully-peeled sorted\n${one} refs/heads/main\n${two} refs/tags/v1\n^${one}\n`
  expect(parsePackedRefs(text)).toEqual([
    { name: 'refs/heads/main', tip: one },
    { name: 'refs/tags/v1', tip: two },
    { name: '', tip: one },
  ])
})

test('loose and packed refs of a repository; remote-tracking ones apart', async () => {
  const repo = projectRepository()
  const head = repo.git('rev-parse', 'HEAD').trim()
  const before = repo.git('rev-parse', 'HEAD~1').trim()
  repo.git('update-ref', 'refs/remotes/origin/main', before)
  expect(await readRefTips(repo.path('.git'))).toEqual({
    all: expect.arrayContaining([head, before]),
    remote: [before],
  })
  repo.git('pack-refs', '--all')
  expect(await readRefTips(repo.path('.git'))).toEqual({
    all: expect.arrayContaining([head, before]),
    remote: [before],
  })
})
