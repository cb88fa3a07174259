import { join } from 'node:path'
import { openStage, type Player, type Stage } from '../sessions/driver.ts'
import { type Day, lines } from './day.ts'

export interface SessionDay extends Stage {
  /** Of the session that is still at work. */
  readonly cursor: Player
}

/** A session of two turns, of which a subagent did a part of the second, and a session that is at work. */
export async function recordSessions(day: Day): Promise<SessionDay> {
  const stage = openStage(day.context, join(day.folder, '..', 'spool'))
  const claude = stage.session('recorded-by-hooks', { model: 'claude-opus-4-8' })
  claude.start()
  claude.prompt({ text: 'Count the rules, and say how many there are in the notes.' })
  await stage.drain()
  claude.edit(
    'src/counting/rules.ts',
    lines(14, (at) => `export const rule${at} = ${at}`),
  )
  claude.shell(() => stage.write('notes/rules.md', 'There are 14 rules.\n'), { program: 'npm' })
  day.pass(4)
  claude.stop()
  await stage.drain()

  day.pass(10)
  claude.prompt({ text: 'Now test them.' })
  await stage.drain()
  const tester = claude.agent('a1', 'test-writer')
  tester.agentStart()
  await stage.drain()
  tester.edit(
    'test/counting/a-long-folder-name-that-does-not-fit-a-phone/rules.test.ts',
    lines(9, (at) => `// case ${at}`),
  )
  day.pass(3)
  tester.agentStop()
  claude.edit(
    'src/counting/rules.ts',
    lines(15, (at) => `export const rule${at} = ${at}`),
  )
  claude.stop()
  await stage.drain()
  claude.end()
  await stage.drain()

  day.pass(10)
  const cursor = stage.session('at-work', { client: 'cursor' })
  cursor.start()
  cursor.prompt()
  await stage.drain()
  return { ...stage, cursor }
}
