import { existsSync, readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../../app/screen.ts'
import { type CommandLineProject, openCommandLine } from './command-line.ts'

/** A completed task whose file was lost. */
function lostWork(): CommandLineProject & { readonly id: string; readonly read: () => string } {
  const project = openCommandLine()
  const { folder, json, write, git } = project
  const { task_id: id } = json('task', 'start', 'Change it', '--goal', 'g')
  write('src/app.ts', 'export const app = 2\n')
  write('src/new.ts', 'new\n')
  json('task', 'complete', id, '--status', 'success', '--outcome.summary', 's')
  git('checkout', '--', '.')
  unlinkSync(join(folder, 'src/new.ts'))
  return { ...project, id, read: () => readFileSync(join(folder, 'src/app.ts'), 'utf8') }
}

test('without a terminal, restore writes only with --yes, and says which command does', () => {
  const { id, run, read, refused } = lostWork()
  const { code, error } = run('restore', id, 'src')
  expect(code).toBe(2)
  expect(error).toContain(`waymark restore ${id} src --yes`)
  expect(refused('restore', id)).toMatchObject({ reason: 'confirmation_needed' })
  const shown = run('restore', id, '--dry-run')
  expect(shown.code).toBe(0)
  expect(shown.out).toContain('+export const app = 2')
  expect(read()).toBe('export const app = 1\n')
})

test('restore with newer content says beforehand that it writes nothing, and how to go on', async () => {
  const project = lostWork()
  const { id, run, refused, read, write, folder } = project
  write('src/app.ts', 'export const app = 3\n')
  const others = `waymark restore ${id} src/new.ts`
  const all = `waymark restore ${id} --force`
  for (const words of [['--dry-run'], []]) {
    const { code, out } = run('restore', id, ...words)
    expect(code).toBe(1)
    for (const text of ['Nothing was written.', others, all]) expect(out).toContain(text)
  }
  expect(refused('restore', id, '--yes')).toMatchObject({
    reason: 'newer_content',
    hint: expect.stringContaining(`${others}. `),
  })
  if (hasPty) {
    const screen = openScreen(project, ['restore', id], { columns: 150, rows: 60 })
    expect(await screen.ended).toBe(1)
    await screen.shows('Nothing was written.')
  }
  expect(existsSync(join(folder, 'src/new.ts'))).toBe(false)
  expect(run('restore', id, 'src/new.ts', 'src/app.ts', '--yes').code).toBe(0)
  expect(run('restore', id, 'src/app.ts', '--dry-run').code).toBe(1)
  expect(read()).toBe('export const app = 3\n')
  expect(run('restore', id, '--force', '--yes').code).toBe(0)
  expect(read()).toBe('export const app = 2\n')
})

test('restore takes files by position, from the folder one is in', () => {
  const { id, runWith, folder, read, json } = lostWork()
  const { code } = runWith({ folder: join(folder, 'src') }, 'restore', id, 'app.ts', '--yes')
  expect([code, read()]).toEqual([0, 'export const app = 2\n'])
  const { restorable } = json('restore', '--list')
  const [written, task] = restorable
  expect([written.what, task.id]).toEqual(['restore', id])
  expect(json('restore', written.id, '--yes')).toMatchObject({
    files: [{ path: 'src/app.ts', action: 'changed' }],
  })
  expect(read()).toBe('export const app = 1\n')
})

test('restore is refused in an agent’s shell', () => {
  const { id, runWith, read } = lostWork()
  const { code, error } = runWith({ environment: { CLAUDECODE: '1' } }, 'restore', id, '--yes')
  expect([code, read()]).toEqual([1, 'export const app = 1\n'])
  expect(error).toContain('waymark restore')
})

test('a backup where restore expects an id is led to waymark backup restore', () => {
  const { run } = openCommandLine()
  const { code, error } = run('restore', 'copy.db', '--yes')
  expect(code).not.toBe(0)
  expect(error).toContain('waymark backup restore copy.db')
})
