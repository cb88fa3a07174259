import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CommandLineProject, openCommandLine } from '../cli/command-line.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { runAlone } from '../support/program.ts'
import { startProgram } from '../support/started-program.ts'

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
    program.kill()
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
          const late = setTimeout(() => reject(new Error(`no line came: ${said}`)), 20_000)
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
  const started = JSON.parse(run('task', 'start', '--name', 'Draw the map', '--goal', 'A map').out)
  const ask = (question: string) => {
    const words = ['--type', 'other', '--description', question, '--requires-human-review']
    const { code, error } = run('issue', 'log', '--task-id', started.task_id, ...words)
    if (code !== 0) throw new Error(error)
  }
  const holds = () => JSON.parse(run('inbox').out).holds
  return { ...project, environment, run, ask, holds }
}

describe.each(engines)('on %s, waymark watch', (engine) => {
  test('begins with what waits, goes on with what comes, and says what was answered', async () => {
    const project = await openAsking(engine)
    project.ask('Which colour?')
    const { line, program, said } = watching(project, '--json')
    const first = JSON.parse(await line())
    expect(first).toMatchObject({
      event: 'waits',
      kind: 'blocker',
      what: 'A question waits for you',
      why: 'Which colour?',
      task_name: 'Draw the map',
      command: `waymark resolve ${first.hold_id} "<answer>"`,
    })
    project.ask('And the frame?')
    const second = JSON.parse(await line())
    expect(second).toMatchObject({ event: 'waits', why: 'And the frame?', task_name: 'Draw the map' })
    project.run('resolve', first.hold_id, 'Blue')
    expect(JSON.parse(await line())).toMatchObject({
      event: 'answered',
      hold_id: first.hold_id,
      status: 'resolved',
      answer: 'Blue',
    })
    program.kill()
    await program.gone
    expect(said()).toBe('')
  })

  test('writes one line for each, in which the words of an agent steer nothing', async () => {
    const project = await openAsking(engine)
    const { line } = watching(project)
    project.ask('Which\ncolour? \u001b[2J\u001b]0;title\u0007\u202e')
    const text = await line()
    expect(text).toMatch(
      /^\d\d:\d\d:\d\d {2}A question waits for you \(Draw the map\) {2}.*: Which colour\? \[2J\]0;title {2}→ waymark resolve h-\w+ "<answer>"$/,
    )
  })

  test('with --all says everything that happens', async () => {
    const project = await openAsking(engine)
    const { line, said } = watching(project, '--all')
    await expect.poll(said, { timeout: 20_000 }).toContain('Nothing waits for you. Watching')
    project.ask('Which colour?')
    expect(await line()).toMatch(/met an issue \(other\) in task t-\w+: Which colour\?$/)
    expect(await line()).toContain('A question waits for you')
  })
})

test.skipIf(process.platform === 'win32')(
  'Ctrl-C and a closed pipe end it without a word',
  async () => {
    const project = await openAsking('sqlite')
    project.ask('Which colour?')
    const { folder, environment } = project
    const script = (end: string) => {
      const bin = `${import.meta.dirname}/../../bin/waymark.js`
      const command =
        end === 'pipe'
          ? `node "${bin}" watch --all | head -1`
          : `timeout --preserve-status -s INT 3 node "${bin}" watch`
      return `const { spawnSync } = require('node:child_process')
      const { status, stdout, stderr } = spawnSync('bash', ['-c', ${JSON.stringify(`set -o pipefail; ${command}`)}], { encoding: 'utf8', timeout: 20_000 })
      console.log(JSON.stringify({ status, stdout, stderr }))`
    }
    const interrupted = JSON.parse(runAlone(['-e', script('signal')], { folder, environment }).out)
    expect(interrupted.stdout).toContain('Which colour?')
    expect(interrupted.stderr).toBe('1 card waits for you. Watching; Ctrl-C ends it.\n')
    expect(interrupted.status).toBe(0)
    const asking = setTimeout(() => project.ask('And the frame?'), 4_000)
    const closed = startPipe(script('pipe'), project)
    const said = JSON.parse(await closed)
    clearTimeout(asking)
    expect(said.stdout.split('\n')[0]).toContain('Which colour?')
    expect([said.status, said.stderr.replace(/^1 card.*\n/, '')]).toEqual([0, ''])
  },
  60_000,
)

async function startPipe(script: string, { folder, environment }: CommandLineProject): Promise<string> {
  const child = spawn(process.execPath, ['-e', script], { cwd: folder, env: { ...environment } })
  let out = ''
  for await (const chunk of child.stdout) out += String(chunk)
  return out
}
