import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { bin } from '../support/program.ts'
import { startProgram } from '../support/started-program.ts'
import { type CommandLineProject, openCommandLine } from '../surfaces/cli/command-line.ts'

const engines = ['sqlite', ...(isPostgresLeftOut ? [] : ['postgres'])]

interface Watching {
  /** The next line that is printed. */
  readonly line: () => Promise<string>
  readonly said: () => string
  readonly program: ReturnType<typeof startProgram>
}

function watching({ folder, environment }: CommandLineProject, ...words: readonly string[]): Watching {
  const program = startProgram(['watch', ...words], { folder, environment })
  onTestFinished(async () => {
    program.kill('SIGINT')
    await program.gone
  })
  const lines: string[] = []
  let wake = () => {}
  createInterface({ input: program.stdout }).on('line', (line) => {
    lines.push(line)
    wake()
  })
  let said = ''
  program.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  return {
    program,
    said: () => said,
    line: async () => {
      for (;;) {
        const line = lines.shift()
        if (line !== undefined) return line
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error(`no line came: ${said}`)), 30_000)
          wake = () => {
            clearTimeout(late)
            resolve()
          }
        })
      }
    },
  }
}

/** A project with an open task. Answers how an agent asks in it. */
async function openAsking(engine: string) {
  const project = openCommandLine()
  const url = engine === 'postgres' ? await sharedPostgres() : null
  const environment = { ...project.environment, ...(url !== null && { WAYMARK_DATABASE: url }) }
  const run = (...words: readonly string[]) => project.runWith({ environment }, ...words)
  const started = JSON.parse(run('task', 'start', '--name', 'Draw the map', '--goal', 'A map', '--json').out)
  const ask = (question: string) => {
    const words = ['--type', 'other', '--description', question, '--requires-human-review']
    const { code, error } = run('issue', 'log', '--task-id', started.task_id, ...words)
    if (code !== 0) throw new Error(error)
  }
  const items = () => JSON.parse(run('inbox', '--json').out).items
  return { ...project, environment, run, ask, items }
}

describe.each(engines.slice(0, amount({ test: 1, soak: 2 })))('on %s, waymark watch', (engine) => {
  test('begins with what waits, goes on with what comes, and says what was answered', async () => {
    const project = await openAsking(engine)
    project.ask('Which colour?')
    const { line, program, said } = watching(project, '--json')
    const first = JSON.parse(await line())
    expect(first).toMatchObject({
      event: 'waits',
      kind: 'blocker',
      what: 'An agent has a question',
      why: 'Which colour?',
      task_name: 'Draw the map',
      command: `waymark resolve ${first.item_id} "<answer>"`,
    })
    project.ask('And the frame?')
    const second = JSON.parse(await line())
    expect(second).toMatchObject({ event: 'waits', why: 'And the frame?', task_name: 'Draw the map' })
    project.run('resolve', first.item_id, 'Blue')
    expect(JSON.parse(await line())).toMatchObject({
      event: 'answered',
      item_id: first.item_id,
      outcome: 'answered',
      answer: 'Blue',
    })
    program.kill('SIGINT')
    await program.gone
    expect(said()).toBe('')
  })
})

test('waymark watch writes one line for each, in which the words of an agent steer nothing', async () => {
  const project = await openAsking('sqlite')
  const { line } = watching(project)
  project.ask('Which\ncolour? \u001b[2J\u001b]0;title\u0007\u202e')
  const text = await line()
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d {2}An agent has a question \(Draw the map\) {2}.*: Which colour\? \[2J\]0;title {2}→ waymark resolve h-\w+ "<answer>"$/,
  )
})

test('waymark watch --all says everything that happens', async () => {
  const project = await openAsking('sqlite')
  const { line, said } = watching(project, '--all')
  await expect.poll(said, { timeout: 30_000 }).toContain('Nothing needs you. Watching')
  project.ask('Which colour?')
  expect(await line()).toMatch(/logged an issue \(other\) in "Draw the map": Which colour\?$/)
  expect(await line()).toContain('An agent has a question')
})

test.skipIf(process.platform === 'win32')('Ctrl-C and a closed pipe end it without a word', async () => {
  const project = await openAsking('sqlite')
  project.ask('Which colour?')
  const interrupted = begun(project, process.execPath, bin, 'watch')
  await expect.poll(() => interrupted.said.error, { timeout: 30_000 }).toContain('Watching')
  interrupted.child.kill('SIGINT')
  expect(await interrupted.ended).toBe(0)
  expect(interrupted.said.out).toContain('Which colour?')
  expect(interrupted.said.error).toBe('1 item needs you. Watching; press Ctrl-C to stop.\n')

  const line = 'set -o pipefail; "$0" "$1" watch --all | head -1'
  const closed = begun(project, 'bash', '-c', line, process.execPath, bin)
  await expect.poll(() => closed.said.out, { timeout: 30_000 }).toContain('\n')
  // What is printed before `head` has ended is still taken.
  while (closed.child.exitCode === null) {
    project.ask('And the frame?')
    await Promise.race([closed.ended, sleep(200)])
  }
  expect(await closed.ended).toBe(0)
  expect(closed.said.out.split('\n')[0]).toContain('Which colour?')
  expect(closed.said.error.replace(/^1 item.*\n/, '')).toBe('')
})

/** Starts a program beside this process, and keeps what it says. */
function begun({ folder, environment }: CommandLineProject, program: string, ...words: readonly string[]) {
  const child = spawn(program, words, {
    cwd: folder,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.error += text
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, said, ended }
}
