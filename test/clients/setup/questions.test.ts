import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../../app/screen.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

test.skipIf(!hasPty)('at a terminal a person sees every change and is asked once', async () => {
  const project = openCommandLine()
  const { folder, home } = project
  mkdirSync(join(folder, '.cursor'))
  mkdirSync(join(home, '.codex'))
  const environment = { ...project.environment, PATH: '/nowhere' }
  const open = (...words: readonly string[]) =>
    openScreen({ folder, environment }, words, { columns: 120, rows: 80 })

  const first = open('init')
  const shown = await first.shows(/Write \d files\? \[y\/N\]/)
  expect(shown).toMatch(/Cursor was found .*\n[\s\S]*Codex was found /)
  expect(shown).toContain('[mcp_servers.waymark]')
  expect(existsSync(join(folder, '.codex'))).toBe(false)
  first.type('\r')
  await first.shows('Nothing was written.')
  expect([await first.ended, existsSync(join(folder, '.codex'))]).toEqual([0, false])

  const second = open('setup', 'codex', '--hooks')
  await second.shows('Write 3 files? [y/N]')
  second.type('y\r')
  await second.shows('3 files written. Undo: waymark setup codex --undo')
  await second.shows('Then say to your agent: Start a Waymark mission for this and work in tasks.')
  expect(await second.ended).toBe(0)

  const back = open('setup', 'codex', '--undo')
  await back.shows('Remove 3 files? [y/N]')
  back.type('y\r')
  await back.shows('3 files removed.')
  expect([await back.ended, existsSync(join(folder, '.codex', 'config.toml'))]).toEqual([0, false])
})
