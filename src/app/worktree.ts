import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { z } from 'zod'
import { programPaths } from '../clients/setup/detect.ts'
import { setupClients as allClients } from '../clients/setup/setup-clients.ts'
import { Failure } from '../kernel/failure.ts'
import { processEnd } from '../kernel/process-end.ts'
import { quoteShellWord, shellCommand } from '../kernel/shell-word.ts'
import { isJsonWanted, print, printError, processTerminal } from '../surfaces/cli/terminal.ts'
import { answerAsJson } from './command-line.ts'
import { withoutInterrupt } from './process.ts'
import { commandLineActor } from './settings/actor.ts'
import { type Environment, userName } from './settings/environment.ts'
import { hasWaymark } from './setup/health.ts'

/** A program that agents work in, with its terminal command. */
interface TerminalClient {
  readonly id: string
  readonly title: string
  readonly program: string
}

const clients: readonly TerminalClient[] = [
  ...allClients.flatMap(({ id, title, terminal: program }) => (program ? [{ id, title, program }] : [])),
  // Setup does not support it.
  { id: 'qwen', title: 'Qwen Code', program: 'qwen' },
]

interface WorkTreeArguments {
  /** The task, and what `worktree add` takes besides. */
  readonly words: readonly string[]
  readonly client: string | undefined
  readonly starts: boolean
}

/** Whether the words after `waymark worktree` start a client in the tree. */
export function asksForClient([verb, ...rest]: readonly string[]): boolean {
  if (verb === 'start') return true
  return verb === 'add' && rest.some((word) => word === '--start' || /^--client(=|$)/.test(word))
}

/** Makes the work tree of a task if needed, then starts a client there or prints its command. Returns the exit code. */
export async function startInWorkTree([verb = '', ...rest]: readonly string[]): Promise<number> {
  const wanted = parseWorkTreeWords(verb, rest)
  const { starts } = wanted
  const client = terminalClientFor(wanted, process.env)
  if (starts) assertPerson(client, process.env)
  const tree = await treeOf(wanted.words)
  if (typeof tree === 'number') return tree
  for (const note of tree.notes) printError(`${note}\n`)
  if (hasWaymark(client.id, tree.path, process.env) === false) {
    printError(
      `${client.title} is not set up in ${tree.path}, because the files of setup are not committed. Commit them, or run waymark setup ${client.id} --user.\n`,
    )
  }
  const line = commandIn(tree.path, client.program)
  if (!starts) {
    print(`${line}\n`)
    return 0
  }
  if (!isInstalled(client, process.env)) throw notInstalled(client, line)
  printError(`${line}\n`)
  return run(client, tree.path)
}

function parseWorkTreeWords(verb: string, words: readonly string[]): WorkTreeArguments {
  const kept: string[] = []
  let client: string | undefined
  let starts = verb === 'start'
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--start') starts = true
    else if (word === '--print' && verb === 'start') starts = false
    else if (word.startsWith('--client=')) client = word.slice('--client='.length)
    else if (word === '--client') {
      at += 1
      client = words[at] ?? ''
    } else kept.push(word)
  }
  const [task = ''] = kept
  if (task === '' || task.startsWith('-')) {
    throw new Failure('INVALID_INPUT', `waymark worktree ${verb} needs a task, before its flags.`, {
      reason: 'task_missing',
      hint: `Example: waymark worktree ${verb} t-4k2m9x7c0vqa${verb === 'start' ? '' : ' --client claude'}`,
    })
  }
  return { words: kept, client, starts }
}

function terminalClientFor({ client, words }: WorkTreeArguments, environment: Environment): TerminalClient {
  if (client !== undefined) {
    const chosen = clients.find(({ id, program }) => id === client || program === client)
    if (chosen) return chosen
    throw new Failure('INVALID_INPUT', `There is no terminal client "${client}".`, {
      reason: 'client_unknown',
      hint: `Choose one of ${clients.map(({ id }) => id).join(', ')}. Or create the tree with waymark worktree add, and start your client there.`,
    })
  }
  const installed = clients.filter((each) => isInstalled(each, environment))
  const [only] = installed
  if (only && installed.length === 1) return only
  const command = shellCommand`waymark worktree start ${words[0] ?? '<task>'} --client ${only?.id ?? 'claude'}`
  throw new Failure(
    'INVALID_INPUT',
    installed.length === 0
      ? `No terminal client is on the PATH: ${clients.map(({ program }) => program).join(', ')}.`
      : `Several clients are installed: ${installed.map(({ id }) => id).join(', ')}.`,
    {
      reason: installed.length === 0 ? 'client_not_installed' : 'client_ambiguous',
      hint: installed.length === 0 ? `Print its command instead: ${command} --print` : `Name one: ${command}`,
    },
  )
}

/** A client takes over a person's terminal and acts for them. */
function assertPerson({ title, id }: TerminalClient, environment: Environment): void {
  const actor = commandLineActor(environment, userName())
  if (actor.kind !== 'person') {
    throw new Failure(
      'FORBIDDEN',
      `Only a person can start ${title}, in a terminal. ${actor.name} is an agent.`,
      {
        reason: 'person_needed',
        hint: 'Create the tree with waymark worktree add; start_task { planned_task_id } works there.',
      },
    )
  }
  if (process.stdin.isTTY === true && processTerminal().interactive) return
  throw new Failure('UNAVAILABLE', `${title} needs a terminal.`, {
    reason: 'terminal_needed',
    hint: `Print the command instead: waymark worktree start <task> --client ${id} --print`,
  })
}

const Listed = z.object({
  work_trees: z.array(z.object({ task_id: z.string().nullable(), path: z.string() })),
})
const Added = z.object({ path: z.string(), notes: z.array(z.string()) })

/** The tree of the task, else a new one; an exit code if that failed, with a printed message. */
async function treeOf(
  words: readonly string[],
): Promise<{ readonly path: string; readonly notes: readonly string[] } | number> {
  const [task = ''] = words
  const json = isJsonWanted(words, process.env['WAYMARK_FORMAT'])
  const listed = await answerOf(['worktree', 'list', ...projectIn(words)], json)
  if (typeof listed === 'number') return listed
  const own = Listed.parse(listed).work_trees.filter(({ task_id }) => task_id?.startsWith(task))
  const [only] = own
  if (only && own.length === 1) return { path: only.path, notes: [] }
  const added = await answerOf(['worktree', 'add', ...words], json)
  return typeof added === 'number' ? added : Added.parse(added)
}

/** Passes `--project` on. */
function projectIn(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => /^--project(=|$)/.test(word))
  if (at < 0) return []
  return words[at] === '--project' ? words.slice(at, at + 2) : words.slice(at, at + 1)
}

/** The answer of a command; its exit code if it failed and printed why. */
async function answerOf(words: readonly string[], json: boolean): Promise<unknown> {
  const { code, output, refusal } = await answerAsJson(words)
  if (json) print(refusal)
  return code === 0 ? JSON.parse(output) : code
}

function isInstalled({ program }: TerminalClient, environment: Environment): boolean {
  return programPaths(program, { platform: process.platform, environment }).some(
    (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
  )
}

function notInstalled({ title, program }: TerminalClient, line: string): Failure {
  return new Failure('UNAVAILABLE', `${title} is not installed: ${program} is not on the PATH.`, {
    reason: 'client_not_installed',
    hint: `The work tree exists. Once it is installed, run: ${line}`,
  })
}

/** For the shell of this system, whatever is in the path. */
function commandIn(path: string, program: string): string {
  if (process.platform === 'win32') return `cd /d "${path}" && ${program}`
  return `cd ${quoteShellWord(path)} && ${program}`
}

async function run({ program }: TerminalClient, path: string): Promise<number> {
  return withoutInterrupt(async () => {
    const options = { cwd: path, stdio: 'inherit', shell: process.platform === 'win32' } as const
    const child = spawn(program, [], { ...options, signal: processEnd })
    const [code] = await once(child, 'exit')
    return typeof code === 'number' ? code : 1
  })
}
