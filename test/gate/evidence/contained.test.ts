import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  containedPath,
  openContainedFile,
  reachedPath,
  readContained,
  removeContained,
  writeContained,
} from '../../../src/kernel/files/contained-file.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

function project(): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  folder.put('docs/plan.md', 'The plan.\n')
  folder.put('../elsewhere/private.txt', 'private')
  return folder
}

const maxBytes = 1000

describe('reading', () => {
  test('answers the real path and the content', async () => {
    const folder = project()
    folder.link('docs', 'd')
    const read = await readContained(folder.top, 'd/../d/plan.md', { maxBytes })
    expect(read).toMatchObject({ path: 'docs/plan.md', absolute: folder.path('docs/plan.md') })
    expect('content' in read && read.content.toString()).toBe('The plan.\n')
  })

  const refusals: readonly (readonly [string, string, (folder: WorkFolder) => void])[] = [
    ['outside', '../elsewhere/private.txt', () => undefined],
    ['outside', '/etc/passwd', () => undefined],
    ['outside', 'l', (folder) => folder.link('../elsewhere/private.txt', 'l')],
    ['outside', 'l/private.txt', (folder) => folder.link('../elsewhere', 'l')],
    ['git', '.git/config', (folder) => folder.put('.git/config', '')],
    ['git', 'l', (folder) => [folder.put('.git/config', ''), folder.link('.git/config', 'l')]],
    ['secret', '.env', (folder) => folder.put('.env', 'KEY=1')],
    ['secret', 'plain.txt', (folder) => [folder.put('.env', 'KEY=1'), folder.link('.env', 'plain.txt')]],
    ['secret', '.env', (folder) => folder.link('docs/plan.md', '.env')],
    ['folder', 'docs', () => undefined],
    ['special', 'pipe', (folder) => spawnSync('mkfifo', [folder.path('pipe')])],
    ['too_large', 'big', (folder) => folder.put('big', 'x'.repeat(1001))],
    ['missing', 'nothing', () => undefined],
    ['link', 'circle', (folder) => folder.link('circle', 'circle')],
    ['empty', '', () => undefined],
    ['invalid', 'docs/plan.md\0', () => undefined],
  ]

  test.each(refusals)('refuses as %s: %j', async (reason, path, prepare) => {
    const folder = project()
    prepare(folder)
    expect(await openContainedFile(folder.top, path, { maxBytes })).toMatchObject({ reason })
    expect(await readContained(folder.top, path, { maxBytes })).toMatchObject({ reason })
  })

  test('finds where a path leads before anything is there', () => {
    const folder = project()
    folder.link('../elsewhere', 'out')
    folder.link('none', 'dangling')
    expect(containedPath(folder.top, 'new/file.md', { missing: 'allowed' })).toMatchObject({
      path: 'new/file.md',
    })
    expect(containedPath(folder.top, 'out/new.md', { missing: 'allowed' })).toMatchObject({
      reason: 'outside',
    })
    expect(containedPath(folder.top, 'dangling', { missing: 'allowed' })).toMatchObject({ reason: 'link' })
    expect(reachedPath(folder.path('docs/new.md'))).toBe(folder.path('docs/new.md'))
  })
})

describe('writing', () => {
  test('writes a file with its folders, and removes it', () => {
    const { top } = project()
    expect(writeContained(top, 'a/b/c.txt', 'one')).toMatchObject({ path: 'a/b/c.txt' })
    expect(writeContained(top, 'a/b/c.txt', 'two')).toMatchObject({ path: 'a/b/c.txt' })
    expect(readFileSync(join(top, 'a/b/c.txt'), 'utf8')).toBe('two')
    expect(removeContained(top, 'a')).toMatchObject({ path: 'a' })
    expect(existsSync(join(top, 'a'))).toBe(false)
  })

  test('goes through no link: nothing outside is made, changed or removed', () => {
    const folder = project()
    folder.link('../elsewhere', 'out')
    for (const path of [
      'out/private.txt',
      'out/new/file.txt',
      '../elsewhere/private.txt',
      '/tmp/x',
      '.git/hooks/x',
    ]) {
      expect(writeContained(folder.top, path, 'overwritten')).toHaveProperty('reason')
      expect(removeContained(folder.top, path)).toHaveProperty('reason')
    }
    expect(writeContained(folder.top, 'out/new/file.txt', 'x')).toMatchObject({ reason: 'behind_link' })
    expect(readFileSync(folder.path('../elsewhere/private.txt'), 'utf8')).toBe('private')
    expect(existsSync(folder.path('../elsewhere/new'))).toBe(false)
  })

  test('replaces and removes a link itself, not what it leads to', () => {
    const folder = project()
    folder.link('../elsewhere/private.txt', 'l')
    folder.link('../elsewhere', 'm')
    expect(readlinkSync(folder.path('l'))).toContain('elsewhere')
    writeContained(folder.top, 'l', 'own')
    removeContained(folder.top, 'm')
    expect(existsSync(folder.path('m'))).toBe(false)
    expect(readFileSync(folder.path('l'), 'utf8')).toBe('own')
    expect(readFileSync(folder.path('../elsewhere/private.txt'), 'utf8')).toBe('private')
  })

  test('the base itself may be reached through a link', () => {
    const folder = project()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder.top, link)
    expect(writeContained(link, 'x/y.txt', 'here')).toMatchObject({ absolute: folder.path('x/y.txt') })
  })
})
