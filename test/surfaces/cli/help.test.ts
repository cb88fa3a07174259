import { expect, test } from 'vitest'
import waymark from '../../../package.json' with { type: 'json' }
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { inputSchema } from '../../../src/kernel/operations/input/json-schema.ts'
import { flagsIn, otherCommands } from '../../../src/surfaces/cli/other-commands.ts'
import { runCommandLine } from '../../../src/surfaces/cli/run.ts'
import { openCommandLine } from './command-line.ts'

const commands = catalog.filter(({ screen }) => screen !== true)

test('TM-078 help --all lists every command once, in 80 columns, and -h their words', () => {
  const { run } = openCommandLine({ git: false })
  const help = run('help', '--all')
  expect(help).toMatchObject({ code: 0, error: '' })
  const lines = help.out.split('\n')
  const program = otherCommands.filter(({ joins }) => !joins)
  const named = new Set(program.map(({ command }) => command))
  const expected = [...program, ...commands.filter(({ command }) => !named.has(command))]
  const isListed = ({ command, title }: { readonly command: string; readonly title: string }) =>
    lines.filter((line) => new RegExp(`^  ${command} {2,}`).test(line) && line.endsWith(`  ${title}`))
      .length === 1
  expect(expected.filter((entry) => !isListed(entry)).map(({ command }) => command)).toEqual([])
  const groups = lines.slice(0, lines.indexOf('Common flags'))
  expect(groups.filter((line) => line.startsWith('  '))).toHaveLength(expected.length)
  expect(groups.filter((line) => line.length > 80)).toEqual([])
  expect(run('--help', '--all')).toEqual(help)
  const short = run('-h').out
  for (const word of ['--help', 'help']) expect(run(word).out).toBe(short)
  expect(short.split('\n').length).toBeLessThan(lines.length / 2)
  expect(short).toContain('waymark help --all')
  for (const { command } of expected) expect(short).toMatch(new RegExp(`\\b${command.split(' ')[0]}\\b`))
})

test('TM-078 -v and --version print the version', () => {
  const { run } = openCommandLine({ git: false })
  for (const flag of ['-v', '--version']) {
    expect(run(flag)).toEqual({ code: 0, out: `${waymark.version}\n`, error: '' })
  }
})

test('TM-004 the help lists mcp', () => {
  const { run } = openCommandLine({ git: false })
  const text = 'MCP server (stdio): read JSON-RPC on stdin, write on stdout'
  expect(run('help', '--all').out).toMatch(new RegExp(`  mcp +${text.replace(/[()]/g, '\\$&')}`))
  expect(run('mcp', '--help').out).toContain(text)
})

test.each(commands.map((operation) => [operation.command, operation] as const))(
  'TM-078 waymark %s --help names every field of the contract',
  async (command, operation) => {
    const { code, out, error } = await shown(...command.split(' '), '--help')
    expect({ code, error }).toEqual({ code: 0, error: '' })
    expect(out.replace(/\s+/g, ' ')).toContain(operation.description)
    expect(out.slice(out.indexOf('\nExample\n'))).not.toContain('…')
    for (const [field, schema] of Object.entries(inputSchema(operation).properties ?? {})) {
      expect(out).toContain(`--${field.replace(/_/g, '-')}`)
      for (const choice of schema.enum ?? []) expect(out).toContain(choice)
    }
  },
)

test.each(otherCommands.map((other) => [other.command, other] as const))(
  'every flag of waymark %s is explained',
  (_, { usage, explained = [] }) => {
    const known = explained.map((row) => row.join(' ')).join(' ')
    const silent = flagsIn(usage).filter(({ name }) => !new RegExp(`--${name}\\b`).test(known))
    expect(silent.map(({ name }) => name)).toEqual([])
  },
)

test('a process says the same help as the command line in this one', async () => {
  const { run } = openCommandLine({ git: false })
  for (const words of [
    ['task', 'start', '--help'],
    ['plan', '--help'],
  ]) {
    expect(run(...words)).toEqual(await shown(...words))
  }
})

test('the help of a group has those of its commands that are no operations, too', () => {
  const { run } = openCommandLine({ git: false })
  expect(run('worktree', '--help').out).toMatch(/worktree add .*worktree list .*worktree start /s)
})

test('the example of a command needs no further field', () => {
  const { run } = openCommandLine()
  const example =
    /waymark mission start ".*--objective .*/.exec(run('mission', 'start', '--help').out)?.[0] ?? ''
  const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
  expect(run(...words.slice(1))).toMatchObject({ code: 0, error: '' })
})

test('common flags are listed once in the help, and each command points there', () => {
  const { run } = openCommandLine({ git: false })
  expect(run('help').out).toContain('--idempotency-key <text>')
  expect(run('help').out).toContain('docs/glossary.md')
  const { out } = run('task', 'start', '--help')
  expect(out).not.toContain('--idempotency-key')
  expect(out).toMatch(/^Common flags.*: waymark help$/m)
})

test('each flag is explained once, with the kind of its value', () => {
  const { run } = openCommandLine({ git: false })
  expect(run('task', 'add', '--help').out.match(/--format <choice>/g)).toHaveLength(1)
  expect(run('task', 'start', '--help').out).toContain('--phase <number>')
  expect(run('resolve', '--help').out).toMatch(/waymark resolve h-\w+ "Use cookies\."/)
})

test('a word that begins several commands lists them', () => {
  const { run } = openCommandLine({ git: false })
  const { code, out } = run('task')
  expect(code).toBe(0)
  expect(out).toContain('task start')
  expect(out).not.toContain('mission start')
})

test('commands that are no operations explain themselves too', () => {
  const { run } = openCommandLine({ git: false })
  for (const command of ['mcp', 'completion', 'help']) {
    const { code, out } = run(command, '--help')
    expect(code).toBe(0)
    expect(out).toContain(`Usage: waymark ${command}`)
    expect(run('help', command)).toEqual({ code, out, error: '' })
  }
  expect(run('help', 'task', 'start')).toEqual(run('task', 'start', '--help'))
})

/** What the command line says in this process: for the words of every operation, where a process for each takes long. */
async function shown(...words: readonly string[]) {
  let [out, error] = ['', '']
  const terminal = {
    interactive: false,
    width: 120,
    ink: (_: unknown, text: string) => text,
    write: (text: string) => {
      out += text
    },
    writeError: (text: string) => {
      error += text
    },
  }
  const open = () => {
    throw new Error('help opens no project')
  }
  const close = () => Promise.resolve()
  const code = await runCommandLine(words, {
    operations: async () => catalog,
    version: waymark.version,
    terminal,
    open,
    close,
  })
  return { code, out, error }
}
