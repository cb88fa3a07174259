import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { inputSchema } from '../../../src/kernel/operations/input/json-schema.ts'
import { flagsOf } from '../../../src/surfaces/cli/flags.ts'
import { exampleOf } from '../../../src/surfaces/cli/help.ts'
import { otherCommands } from '../../../src/surfaces/cli/other-commands.ts'
import { amount } from '../../support/amount.ts'
import { bin, type Ran, runAlone } from '../../support/program.ts'
import { openCommandLine, startWork } from './command-line.ts'

/** An example of every command line, as its help shows it. */
const examples: readonly (readonly string[])[] = [
  ...catalog
    .filter(({ screen }) => screen !== true)
    .map((operation) => wordsOf(exampleOf(operation, flagsOf(inputSchema(operation))))),
  ...otherCommands
    .filter(({ command }) => !['serve', 'open', 'mcp', 'demo'].includes(command))
    .map(({ command }) => command.split(' ')),
  ['doctor'],
  ['log', '--verify'],
  ['review', '--since'],
  ['review', 't-4k2m9x7c0vqa'],
  ['capture', 'status'],
  ['init', '--dry-run'],
  ['setup', 'claude', '--hooks', '--check'],
  ['drain', '--once'],
]

function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, plain]) => double ?? single ?? plain ?? '')
    .slice(1)
}

function expectSentence(ran: Ran, words: readonly string[]): void {
  const said = `waymark ${words.join(' ')} ended with ${ran.code}:\n${ran.error}${ran.out}`
  expect(said).not.toMatch(/\n\s+at .*:\d+|node:internal|UnhandledPromiseRejection/)
  expect([0, 1, 2], said).toContain(ran.code)
  if (ran.code !== 0 && ran.out === '') expect(ran.error, said).toMatch(/^(waymark|There is|A |This )/m)
}

test('no command prints a stack trace where the pages of the database are overwritten', () => {
  const project = openCommandLine()
  startWork(project)
  const file = join(project.folder, '.waymark', 'waymark.db')
  const good = readFileSync(file)
  const page = 4096
  const damaged = {
    'every page but the first': Buffer.concat([
      good.subarray(0, page),
      Buffer.alloc(good.length - page, 0x5a),
    ]),
    'the last half': Buffer.concat([
      good.subarray(0, good.length / 2),
      Buffer.alloc(good.length - good.length / 2, 0),
    ]),
    'the texts in its rows': Buffer.from(good.toString('latin1').replaceAll('"kind":"', '"kine":'), 'latin1'),
  }
  for (const [kind, bytes] of Object.values(damaged).entries()) {
    // In `npm test` every other command meets one kind of damage.
    for (const words of examples.filter((_, at) => (at + kind) % amount({ test: 6, soak: 1 }) === 0)) {
      rmSync(`${file}-wal`, { force: true })
      rmSync(`${file}-shm`, { force: true })
      writeFileSync(file, bytes)
      expectSentence(project.run(...words), words)
    }
  }
}, 300_000)

test('no command prints a stack trace where the project’s folder is missing', () => {
  const project = openCommandLine()
  const environment = { WAYMARK_PROJECT: join(project.home, 'missing') }
  for (const words of examples.filter((_, at) => at % amount({ test: 2, soak: 1 }) === 0))
    expectSentence(project.runWith({ environment }, ...words), words)
}, 120_000)

test('a reader that leaves early gets no error from any part of the program', () => {
  const { folder, environment } = openCommandLine()
  const commands = ['init --dry-run', 'help', 'capture status', '--version', 'completion bash', 'review']
  for (const words of commands.slice(0, amount({ test: 1, soak: 6 }))) {
    const { stderr } = spawnSync('sh', ['-c', `"$0" "$1" ${words} | true`, process.execPath, bin], {
      cwd: folder,
      env: { ...environment },
      encoding: 'utf8',
    })
    expect(stderr, words).toBe('')
  }
})

/** Throws as soon as the program has said what becomes of errors that nobody handles. */
const preload = `
process.on('newListener', (name) => {
  if (name === 'uncaughtException') queueMicrotask(() => { throw new Error('The disk caught fire') })
})
`

const catching = [
  ['mcp'],
  ['hook', 'pre-tool-use'],
  ['review'],
  ['status'],
  ['serve', '--port', '0'],
  ['drain', '--once'],
]

test.each(catching.slice(0, amount({ test: 3, soak: 6 })).map((words) => [words]))(
  'an error that nobody handles ends waymark %j with a sentence and a log',
  (words) => {
    const { home, folder, environment } = openCommandLine()
    writeFileSync(join(home, 'preload.cjs'), preload)
    const ran = runAlone(['--require', join(home, 'preload.cjs'), bin, ...words], {
      folder,
      environment: { ...environment, XDG_STATE_HOME: join(home, 'state') },
      input: '',
    })
    const log = join(home, 'state', 'waymark', 'errors.log')
    expect(ran).toEqual({
      code: 1,
      out: '',
      error: `waymark: An unexpected error ended "waymark ${words.slice(0, 2).join(' ').replace(/ --.*/, '')}": The disk caught fire. Details: ${log}\nCheck this project with: waymark doctor\n`,
    })
    expect(readFileSync(log, 'utf8')).toMatch(/The disk caught fire\n\s+at /)
    expect(statSync(log).mode & 0o777).toBe(0o600)
  },
)

test('capture, which clients run at each event, neither speaks nor fails', () => {
  const { home, folder, environment } = openCommandLine()
  writeFileSync(join(home, 'preload.cjs'), preload)
  const program = join(dirname(bin), 'waymark-capture.cjs')
  const ran = runAlone(['--require', join(home, 'preload.cjs'), program, 'claude', 'Stop'], {
    folder,
    environment,
    input: '{}',
  })
  expect(ran).toEqual({ code: 0, out: '', error: '' })
})

test('a program whose parts are damaged says how to get it whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-damaged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(bin), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(folder, 'dist'))
  for (const name of ['waymark.js', 'waymark-hook.cjs']) writeFileSync(join(folder, 'dist', name), 'const {')
  const environment = { XDG_CACHE_HOME: folder }
  for (const words of [['status'], ['hook', 'stop']]) {
    const { code, out, error } = runAlone([join(folder, 'bin', 'waymark.js'), ...words], {
      folder,
      environment,
    })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(error).toMatch(/^waymark: It cannot be loaded: .*\nInstall it again.*\n$/)
  }
})
