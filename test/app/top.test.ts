import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { soakTest } from '../support/amount.ts'
import { type CommandLineProject, openCommandLine } from '../surfaces/cli/command-line.ts'
import { type FullScreen, hasPty, openScreen } from './screen.ts'

interface Asking extends CommandLineProject {
  ask(question: string): string
  closed(): any[]
}

/** A project with a mission, and an open task in it. */
function openAsking(): Asking {
  const project = openCommandLine()
  const { json } = project
  const { mission_id } = json(
    'mission',
    'start',
    '--name',
    'Atlas',
    '--objective',
    'A map',
    '--profile',
    'simple',
  )
  const { task_id } = json(
    'task',
    'start',
    '--name',
    'Draw the map',
    '--goal',
    'A map',
    '--mission-id',
    mission_id,
  )
  return {
    ...project,
    ask: (question) => {
      const words = ['--type', 'other', '--description', question, '--requires-human-review']
      return json('issue', 'log', '--task-id', task_id, ...words).issue_id
    },
    closed: () => json('inbox', '--closed').items,
  }
}

/** What was written comes in parts, and a moment after it was. */
function lastLine(screen: FullScreen) {
  return expect.poll(() => screen.lines().at(-1), { timeout: 30_000 })
}

function state(screen: FullScreen) {
  return expect.poll(() => [screen.isAlternate(), screen.isCursorShown()], { timeout: 30_000 })
}

describe.skipIf(!hasPty)('waymark top, in a real pseudo-terminal', () => {
  test('shows what waits, who works and the missions at 80 by 24, live, and leaves nothing behind', async () => {
    const project = openAsking()
    const screen = openScreen(project, ['top'])
    await screen.shows('Nothing needs you.')
    await screen.shows(/^waymark top · project · 0 need you · 1 active · 1 mission · \d\d:\d\d:\d\d/)
    await screen.shows('· Draw the map (last call')
    await screen.shows('Atlas · phase')
    expect(screen.isAlternate()).toBe(true)
    project.ask('Which colour?')
    await screen.shows(/› \d+ s +question +Draw the map · Which colour\?/)
    await lastLine(screen).toBe('j k move · e answer · d dismiss · q quit')
    expect(screen.lines()).toHaveLength(24)
    screen.type('q')
    expect(await screen.ended).toBe(0)
    await state(screen).toEqual([false, true])
    expect(screen.text()).toBe('')
  })

  test('answers, moves and dismisses by keys, as the dashboard does', async () => {
    const project = openAsking()
    const [first, second] = [project.ask('Which colour?'), project.ask('Which frame?')]
    const screen = openScreen(project, ['top'])
    await screen.shows('Which frame?')
    screen.type('j')
    await screen.shows(/› .*Which frame\?/)
    screen.type('d')
    await screen.shows('dismiss: Draw the map')
    // Said before the list is read again.
    await screen.shows(' · 1 needs you · ')
    screen.type('e')
    await screen.shows('The answer: █')
    screen.type('Bluee')
    await screen.shows('The answer: Bluee█')
    screen.type('\u007f')
    await screen.shows('The answer: Blue█')
    screen.type('\r')
    await screen.shows('Nothing needs you.')
    const byId = new Map(project.closed().map((item) => [item.issue_id, [item.status, item.answer]]))
    expect([byId.get(first), byId.get(second)]).toEqual([
      ['resolved', 'Blue'],
      ['dismissed', null],
    ])
    screen.type('\u0003')
    expect(await screen.ended).toBe(0)
  })

  test('fits itself to another size, also to a small one, and no text of an agent steers it', async () => {
    const project = openAsking()
    for (const at of [1, 2, 3, 4, 5, 6]) project.ask(`Question ${at}?`)
    const screen = openScreen(project, ['top'], { columns: 120, rows: 40 })
    await screen.shows('Question 6?')
    screen.resize(80, 24)
    await screen.shows(/\bMISSIONS\n.*Atlas/)
    screen.resize(50, 10)
    await screen.shows(/and \d more/)
    await lastLine(screen).toBe('j k move · e answer · d dismiss · q quit')
    await screen.shows(/^waymark top · project/)
    screen.resize(100, 30)
    await screen.shows('Question 6?')
    // No text of an agent steers it.
    project.ask('\u001b[2J\u001b[1;1HGONE\u001b]0;t\u0007\u009b5A\u202eevil\r\n\tnext 漢字漢字 👩‍👩‍👧')
    await screen.shows('next 漢字漢字')
    await screen.shows(/^waymark top · project · 7 need you/)
    await screen.shows('[2J[1;1HGONE]0;t5Aevil next')
    await lastLine(screen).toContain('q quit')
  })

  test('decides nothing in the shell of an agent, and gives the terminal back at a signal', async () => {
    const project = openAsking()
    project.ask('Which colour?')
    const environment = { ...project.environment, CLAUDECODE: '1' }
    const screen = openScreen({ ...project, environment }, ['top'])
    await screen.shows('Which colour?')
    screen.type('d')
    await screen.shows('Only people can call resolve. claude-code is an agent.')
    expect(project.json('inbox').items).toHaveLength(1)
    screen.process.kill('SIGTERM')
    await screen.ended
    await state(screen).toEqual([false, true])
  })

  soakTest('a crash gives the terminal back, and is told', async () => {
    const project = openAsking()
    const sign = join(project.home, 'break')
    const crash = encodeURIComponent(`import { existsSync } from 'node:fs'
      const look = () => { if (existsSync(${JSON.stringify(sign)})) throw new Error('broken on purpose') }
      setInterval(look, 50).unref()`)
    const environment = { ...project.environment, NODE_OPTIONS: `--import=data:text/javascript,${crash}` }
    const screen = openScreen({ ...project, environment }, ['top'])
    await screen.shows('Nothing needs you.')
    writeFileSync(sign, '')
    expect(await screen.ended).not.toBe(0)
    await screen.shows('broken on purpose')
    await state(screen).toEqual([false, true])
  })

  soakTest.skipIf(process.platform === 'win32')(
    'Ctrl-Z gives the terminal back until it goes on',
    async () => {
      const project = openAsking()
      const screen = openScreen(project, ['--norc', '--noprofile', '-i'], { program: 'bash' })
      screen.type(`PS1='$ '; '${process.execPath}' '${import.meta.dirname}/../../bin/waymark.js' top\r`)
      await screen.shows('Nothing needs you.')
      expect(screen.isAlternate()).toBe(true)
      screen.type('\u001a')
      await screen.shows('Stopped')
      await state(screen).toEqual([false, true])
      screen.type('echo the shell is $((40 + 2))\r')
      await screen.shows('the shell is 42')
      screen.type('fg\r')
      await screen.shows('Nothing needs you.')
      expect(screen.isAlternate()).toBe(true)
      screen.type('q')
      await expect.poll(() => screen.isAlternate(), { timeout: 30_000 }).toBe(false)
    },
  )
})

test('without a terminal it says so, and names what to use instead', () => {
  const { code, error } = openCommandLine().run('top')
  expect(code).toBe(1)
  expect(error).toContain('waymark top needs a terminal.')
  expect(error).toContain('waymark status')
})
