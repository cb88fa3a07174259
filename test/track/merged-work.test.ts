import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, openProject, type ProjectOptions, person } from '../support/project.ts'

const ended = { status: 'success', outcome: { summary: 'Did it.' } }
const manifest = (fields: object) => `${JSON.stringify({ name: 'x', ...fields })}\n`

/** A task on README.md in the main folder, and a linked work tree on a branch. */
async function openBeside(options: ProjectOptions = {}) {
  const project = await openProject(options)
  const { call, git } = project
  project.write('src/auth.test.ts', "test('signs in', () => signIn())\n")
  project.write('package.json', manifest({}))
  git('add', '-A')
  git('commit', '-qm', 'Test')
  const side = join(temporaryFolder(), 'side')
  git('worktree', 'add', '-q', '-b', 'side', side)
  const { task_id: docs } = await call('start_task', { name: 'Stock docs', areas: ['README.md'] })
  return {
    ...project,
    docs,
    start: async (more: object = {}) =>
      (await call('start_task', { name: 'Checkout', work_tree: side, ...more })).task_id as string,
    end: (task_id: string): Promise<Answer> => call('complete_task', { task_id, ...ended }),
    /** A new file, a weakened test and a script, committed in the linked work tree. */
    work: () => {
      writeFileSync(join(side, 'src/checkout.ts'), 'export const total = 1\nexport const tax = 2\n')
      writeFileSync(join(side, 'src/auth.test.ts'), "test.skip('signs in', () => signIn())\n")
      writeFileSync(join(side, 'package.json'), manifest({ scripts: { postinstall: 'sh x' } }))
      git('-C', side, 'add', '-A')
      git('-C', side, 'commit', '-qm', 'Checkout')
    },
    merge: () => git('merge', '-q', '--no-ff', '-m', 'Merge', 'side'),
    asked: async () =>
      (await call('inbox')).items
        .filter(({ task_id }: Answer) => task_id === docs)
        .map(({ kind }: Answer) => kind),
  }
}

const counted = { unexpected_files: ['package.json', 'src/checkout.ts'], scope_match: false }

describe('a branch that is merged while a task is open', () => {
  test.each([{ isOnMachine: false }, { isOnMachine: true }])(
    'has the work of another task that ended, and none of this one ($isOnMachine)',
    async (options) => {
      const { start, work, end, merge, docs, write, asked } = await openBeside(options)
      const other = await start()
      work()
      await end(other)
      merge()
      write('README.md', 'Stock.\n')
      const { details, verification, verdict } = await end(docs)
      expect(verification).toMatchObject({ unexpected_files: [], scope_match: true })
      expect(details.map(({ path, scope }: Answer) => [path, scope])).toEqual([
        ['README.md', 'in'],
        ['package.json', 'imported'],
        ['src/auth.test.ts', 'imported'],
        ['src/checkout.ts', 'imported'],
      ])
      expect(verdict.is).toBe('unproven')
      expect(await asked()).toEqual([])
    },
  )

  test.each(['open', 'failed'])('counts if that task is %s', async (status) => {
    const { call, start, work, end, merge, docs } = await openBeside()
    const task_id = await start()
    work()
    if (status === 'failed') await call('complete_task', { task_id, ...ended, status })
    merge()
    expect((await end(docs)).verification).toMatchObject(counted)
  })

  test('counts if a person sent that task back', async () => {
    const { call, start, work, end, merge, docs } = await openBeside()
    const task_id = await start({ areas: ['src/auth.ts'] })
    work()
    await end(task_id)
    const [item] = (await call('inbox', { kind: 'scope' })).items
    await call('reject', { id: item.item_id, reason: 'Not these.' }, { actor: person })
    merge()
    expect((await end(docs)).verification).toMatchObject(counted)
  })

  test('counts if no task made it', async () => {
    const { work, end, merge, docs } = await openBeside()
    work()
    merge()
    expect((await end(docs)).verification).toMatchObject(counted)
  })

  test('counts if the task itself or a subtask made it', async () => {
    const { start, work, end, merge, docs } = await openBeside()
    const part = await start({ parent_task_id: docs, areas: ['lib'] })
    work()
    await end(part)
    merge()
    expect((await end(docs)).verification).toMatchObject(counted)
  })

  test('counts what was changed after it was merged', async () => {
    const { start, work, end, merge, docs, write, asked } = await openBeside()
    const other = await start()
    work()
    await end(other)
    merge()
    write('src/checkout.ts', 'export const total = 1\nexport const tax = 3\n')
    expect((await end(docs)).verification).toMatchObject({ unexpected_files: ['src/checkout.ts'] })
    expect(await asked()).toEqual(['scope'])
  })
})
