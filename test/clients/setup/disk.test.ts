import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { applyPlan, Disk, type DiskWriter, type FileRecord, writer } from '../../../src/clients/setup/disk.ts'
import type { PlannedFile } from '../../../src/clients/setup/plan-setup.ts'
import { amount } from '../../support/amount.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

const change = { kind: 'text', part: 'rules', owners: ['me'], put: 'ours\n', instead: '' } as const

function threeFiles() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-disk-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  writeFileSync(path('a.md'), 'a\n')
  writeFileSync(path('c.md'), 'c\n')
  const planned = (file: string, before: string | null): PlannedFile => ({
    file,
    before,
    without: before,
    text: `${before ?? ''}ours\n`,
    changes: [change],
    executable: false,
  })
  const files = [
    planned(path('a.md'), 'a\n'),
    planned(path('deep/er/b.md'), null),
    planned(path('c.md'), 'c\n'),
  ]
  const kept = new Map<string, FileRecord>()
  const apply = (failing: Partial<DiskWriter> = {}, disk = new Disk()) =>
    applyPlan(files, {
      disk,
      project: folder,
      writer: { ...writer, ...failing },
      recordOf: (file) => kept.get(file) ?? null,
      keep: (records, forgotten) => {
        for (const record of records) kept.set(record.file, record)
        for (const file of forgotten) kept.delete(file)
      },
    })
  const state = () =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')]),
    )
  return { folder, path, files, kept, apply, state }
}

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

test('three files are written, with a record of each', () => {
  const { apply, state, kept, path } = threeFiles()
  apply()
  expect(state()).toEqual({ 'a.md': 'a\nours\n', 'b.md': 'ours\n', 'c.md': 'c\nours\n' })
  expect(kept.get(path('deep/er/b.md'))).toMatchObject({
    before: null,
    folders: [path('deep/er'), path('deep')],
  })
})

test.each(['write', 'rename'] as const)(
  'the disk is full at the second %s: all files are as before',
  (step) => {
    const { apply, state, kept, folder } = threeFiles()
    let count = 0
    const failing: DiskWriter = {
      write: (path, bytes, mode) => {
        if (step === 'write' && ++count === 2) throw full
        writer.write(path, bytes, mode)
      },
      rename: (from, to) => {
        if (step === 'rename' && ++count === 2) throw full
        writer.rename(from, to)
      },
    }
    expect(() => apply(failing)).toThrow(
      'The files could not be written: ENOSPC: no space left on device, write. Nothing was changed.',
    )
    expect(state()).toEqual({ 'a.md': 'a\n', 'c.md': 'c\n' })
    expect(existsSync(join(folder, 'deep'))).toBe(false)
    expect(kept.size).toBe(0)
  },
)

test('a file that changed since it was read is not written, nor is any other', () => {
  const { apply, state, path, files, kept } = threeFiles()
  const disk = new Disk()
  for (const { file } of files) disk.read(file)
  writeFileSync(path('c.md'), 'somebody was here\n')
  expect(() => apply({}, disk)).toThrow(`${path('c.md')} changed meanwhile. Nothing was written.`)
  expect(state()).toEqual({ 'a.md': 'a\n', 'c.md': 'somebody was here\n' })
  expect(kept.size).toBe(0)
})

test('a file that changes between the writing and the renames is not written either', () => {
  const { apply, state, path, kept } = threeFiles()
  const meddling: DiskWriter = {
    ...writer,
    rename: (from, to) => {
      writer.rename(from, to)
      if (to === path('a.md')) writeFileSync(path('c.md'), 'just now\n')
    },
  }
  expect(() => apply(meddling)).toThrow('changed meanwhile')
  expect(state()).toEqual({ 'a.md': 'a\n', 'c.md': 'just now\n' })
  expect(kept.size).toBe(0)
})

test.each([2, 1, 3].slice(0, amount({ test: 1, soak: 3 })))(
  'kill -9 before rename %i: undo restores every byte, and leaves no file of ours',
  async (at) => {
    const project = openCommandLine()
    const { home, folder, environment, run } = project
    writeFileSync(join(folder, '.mcp.json'), '{\n  "mcpServers": { "other": { "command": "x" } }\n}\n')
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(home, '.claude', 'settings.json'), '{ "model": "opus" }\n')
    const before = filesBelow(home)
    const child = fork(join(import.meta.dirname, 'killed-setup.ts'), [folder, home, String(at)], {
      env: { ...environment },
      stdio: 'inherit',
    })
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
    expect(Object.keys(filesBelow(home)).length).toBeGreaterThan(Object.keys(before).length)
    const undone = run('setup', 'claude', '--undo', '--yes')
    expect(undone).toMatchObject({ code: 0, error: '' })
    expect(filesBelow(home)).toEqual(before)
    expect(existsSync(join(folder, '.claude'))).toBe(false)
  },
)

function filesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/\.git\/|\/\.cache\/|\.lock$/.test(path))
  return Object.fromEntries(files.map((path) => [path, readFileSync(path, 'latin1')]))
}

test('writes nothing through a link that a folder became meanwhile', () => {
  const { apply, path, kept, state } = threeFiles()
  const outside = path('outside')
  mkdirSync(outside)
  const failing: Partial<DiskWriter> = {
    write: (temporary, bytes, mode) => {
      if (temporary.includes('b.md')) {
        rmSync(path('deep/er'), { recursive: true })
        symlinkSync(outside, path('deep/er'))
      }
      writer.write(temporary, bytes, mode)
    },
  }
  expect(() => apply(failing)).toThrow('changed meanwhile. Nothing was written')
  expect(readdirSync(outside)).toEqual([])
  expect(state()).toEqual({ 'a.md': 'a\n', 'c.md': 'c\n' })
  expect([...kept.keys()]).toEqual([])
})
