import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../../app/screen.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

test.skipIf(!hasPty)(
  'at a terminal a person says which clients, whether they are allowed, and whether to write',
  async () => {
    const project = openCommandLine()
    const { folder, home } = project
    mkdirSync(join(folder, '.cursor'))
    mkdirSync(join(home, '.codex'))
    const environment = { ...project.environment, PATH: '/nowhere' }
    const open = (...words: readonly string[]) =>
      openScreen({ folder, environment }, words, { columns: 120, rows: 50 })

    const first = open('init')
    await first.shows(/\[x\] Cursor .*\n\[x\] Codex .*\nSet these up\? Enter for all, n for none, or names/)
    first.type('codex\r')
    await first.shows(
      /Setup writes these, and shows them first:[^?]*config\.toml \(new\)[^?]*hooks of the clients[^?]*\?\s+In .*hooks\.json \[y\/N\]/s,
    )
    first.type('\r')
    await first.shows(
      /May agents call Waymark’s own tools without asking each time\?\s+In .*config\.toml \[y\/N\]/,
    )
    first.type('y\r')
    const shown = await first.shows('Write 2 files? [y/N]')
    expect(shown).toContain('+default_tools_approval_mode = "approve"')
    expect(existsSync(join(folder, '.codex'))).toBe(false)
    first.type('\r')
    await first.shows('Nothing was written.')
    expect([await first.ended, existsSync(join(folder, '.codex'))]).toEqual([0, false])

    const second = open('setup', 'codex')
    await second.shows(/hooks\.json \[y\/N\]/)
    second.type('y\r')
    await second.shows(/without asking each time\?\s+In .*config\.toml \[y\/N\]/)
    second.type('n\r')
    await second.shows('Write 3 files? [y/N]')
    second.type('y\r')
    await second.shows('3 files written. waymark setup codex --undo takes them back.')
    expect(await second.ended).toBe(0)
    const config = join(folder, '.codex', 'config.toml')
    expect(readFileSync(config, 'utf8')).not.toContain('approve')

    const back = open('setup', 'codex', '--undo')
    await back.shows('Remove 3 files? [y/N]')
    back.type('y\r')
    await back.shows('3 files removed.')
    expect([await back.ended, existsSync(config)]).toEqual([0, false])
  },
)
