import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeContext, openContext } from '../../../src/app/open-context.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

function opened(folder: string, home: string) {
  return openContext({
    actor: { name: 'Tess', kind: 'person', role: null, channel: 'cli' },
    environment: { PATH: process.env.PATH, HOME: home },
    workingFolder: folder,
  })
}

test('approvals are kept for the user, outside the project, whoever opens it', async () => {
  const [folder, home] = [temporaryFolder(), temporaryFolder()]
  const context = opened(folder, home)
  const run = { run: 'npm test', folder }
  const hash = await context.commandApprovals.hashOf({ ...run, pinned: [] })
  expect(await context.commandApprovals.isApproved(hash)).toBe(false)
  await context.commandApprovals.approve({ ...run, hash, author: 'Tess', createdAt: 1 })
  expect(await opened(folder, home).commandApprovals.isApproved(hash)).toBe(true)
  expect(readdirSync(folder)).toEqual([])
})

test('an approval in the project is none, also where the state folder cannot be written', async () => {
  const [folder, home] = [new WorkFolder(temporaryFolder()), new WorkFolder(temporaryFolder())]
  home.put('.local/state', 'a file in its place')
  const { commandApprovals } = opened(folder.top, home.top)
  const run = { run: 'npm test', folder: folder.top }
  const hash = await commandApprovals.hashOf({ ...run, pinned: [] })
  folder.put(
    `.waymark/state/approved-commands/${hash}.json`,
    JSON.stringify({ ...run, hash, by: 'x', at: 1 }),
  )
  expect(await commandApprovals.isApproved(hash)).toBe(false)
  await expect(
    commandApprovals.approve({ ...run, hash, author: 'Tess', createdAt: 1 }),
  ).rejects.toMatchObject({
    code: 'REFUSED',
  })
})

test('closing ends the commands that run', async () => {
  const folder = temporaryFolder()
  const context = opened(folder, temporaryFolder())
  const end = context.commandRunner.start({ run: 'touch begun; sleep 1000', folder, timeout: 60_000 })
  while (!existsSync(join(folder, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 10))
  await closeContext(context)
  expect(await end).toMatchObject({ status: 'stopped' })
})

test('evidence is read in the folder that is named', async () => {
  const folder = new WorkFolder(temporaryFolder())
  folder.put('a.json', '[]')
  const { evidenceFiles } = opened(folder.top, temporaryFolder())
  const files = await evidenceFiles.read(folder.top, ['./a.json'])
  expect(files).toMatchObject([{ path: 'a.json', content: [] }])
  expect(await evidenceFiles.freshness(folder.top, files)).toEqual(['current'])
})
