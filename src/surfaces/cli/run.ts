import { Failure } from '../../kernel/failure.ts'
import type { OperationName } from '../../kernel/operations/catalog.ts'
import { type InvokeOptions, invokeParsing } from '../../kernel/operations/invoke.ts'
import type { Answer, Context, Operation } from '../../kernel/operations/operation.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { assertProject } from '../../people/operations/team.ts'
import { readAnswerSupplement } from './answer-supplement.ts'
import { readArguments } from './arguments.ts'
import { commandGroup, findCommand, unknownCommand } from './commands.ts'
import { completionScript, completionsOf } from './completion.ts'
import { reportFailure, withFlagNames, withoutMissingGuards } from './failures.ts'
import { commandHelp, groupUsage, usage } from './help.ts'
import { type OtherCommand, otherCommands } from './other-commands.ts'
import { type OutputFormat, render } from './render/render.ts'
import { twoColumns } from './render/table.ts'
import { type ExitCode, exitCodeOf, isJsonWanted, printableJson, type Terminal } from './terminal.ts'
import { type AskProject, completeInput } from './typed-input.ts'

/** The parts of the program that the command line needs. */
export interface CommandLineHost {
  /** Loads every operation, which takes long. */
  readonly operations: () => Promise<readonly Operation[]>
  /** Loads a frequent command alone, by its only word. */
  readonly frequent?: Readonly<Record<string, () => Promise<Operation>>>
  readonly version: string
  readonly terminal: Terminal
  /** The default format. */
  readonly format?: OutputFormat
  /** Opens the project that `--project` names, or the one of the working directory. */
  readonly open: (project: string | undefined) => Context | Promise<Context>
  readonly close: (context: Context) => Promise<void>
  /** Makes a typed path relative to the project's folder. */
  readonly locate?: (path: string, project: string | undefined) => string
  /** Asks the person at the terminal; absent where no one can answer. */
  readonly confirm?: (question: string) => Promise<boolean>
  /** What to say to an agent first, if a client is set up in the project. */
  readonly firstPrompt?: (project: string | undefined) => Promise<string | undefined>
  /** Opens the project at its server. Null for a local project. */
  elsewhere?(project: string | undefined): Promise<ServerInvoker | null>
}

/** Calls a project. */
export interface ServerInvoker {
  /** The project's address at its server; absent for a local project. */
  readonly address?: string
  readonly ask: (operation: Operation, input: Answer, options: InvokeOptions) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Runs one command line. Prints failures on stderr; throws only for bugs. */
export async function runCommandLine(words: readonly string[], host: CommandLineHost): Promise<ExitCode> {
  try {
    const ordered = moveGeneralOptionsLast(words)
    const frequent = await frequentOperation(ordered, host)
    const found = frequent && findCommand([frequent], ordered)
    if (found) return await perform(found, host)
    return await run(ordered, { ...host, operations: await commandOperations(host) })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const operations = await commandOperations(host)
    const json = isJsonWanted(words, host.format)
    reportFailure(error, { terminal: host.terminal, operations, json, project: projectIn(words) })
    return exitCodeOf(error)
  }
}

/** The operations that are commands. */
async function commandOperations({ operations }: CommandLineHost): Promise<readonly Operation[]> {
  return (await operations()).filter(({ screen }) => screen !== true)
}

/** The operation of a frequent command, unless its help is asked for. */
async function frequentOperation(
  [first = '', ...rest]: readonly string[],
  { frequent = {} }: CommandLineHost,
): Promise<Operation | null> {
  const load = Object.hasOwn(frequent, first) ? frequent[first] : undefined
  return load === undefined || rest.some(isHelpFlag) ? null : load()
}

/** The parts with the operations loaded. */
interface LoadedHost extends Omit<CommandLineHost, 'operations'> {
  readonly operations: readonly Operation[]
}

async function run(words: readonly string[], host: LoadedHost): Promise<ExitCode> {
  const { operations, terminal } = host
  const [first = '', ...rest] = words
  if (isHelpFlag(first)) return writeLine(usage(operations, terminal, rest[0] === '--all'), host)
  if (first === '--version' || first === '-v') return writeLine(`${host.version}\n`, host)
  if (first === 'help' || (isOther(first) && rest.some(isHelpFlag))) return help(helpWords(words), host)
  const other = otherCommands.find(({ command }) => hasPrefix(words, command))
  const named = findCommand(operations, words)
  if (other && rest.some(isHelpFlag) && !isLongerCommand(named, other))
    return writeLine(otherHelp(other, named, host), host)
  if (first === 'completion') return writeLine(completionScript(rest[0]), host)
  if (first === '__complete') return writeLine(await completeWords(rest, host), host)
  if (named) return perform(named, { ...host, operations: async () => operations })
  if (isOther(first)) return help([first], host)
  const group = commandGroup(operations, first)
  if (group.length > 0 && (rest.length === 0 || rest[0]?.startsWith('-'))) {
    return writeLine(groupUsage(first, group, terminal), host)
  }
  throw unknownCommand(operations, words)
}

async function perform(
  found: { readonly operation: Operation; readonly rest: readonly string[] },
  host: CommandLineHost,
): Promise<ExitCode> {
  const { terminal } = host
  const { input: typed, options } = readArguments(found.operation, found.rest)
  const operation = await operationFor(found.operation, typed, host)
  if (options.help)
    return writeLine(commandHelp(operation, terminal, { operations: await commandOperations(host) }), host)
  const placed = withPaths(operation, typed, (path) => host.locate?.(path, options.project) ?? path)
  const { idempotencyKey } = options
  const project = (await host.elsewhere?.(options.project)) ?? (await openLocalProject(options.project, host))
  const ask: AskProject = async (name, question) => {
    const asked = await operationNamed(name, host)
    // A server of another version may answer otherwise.
    const read = asked.output.safeParse(await project.ask(asked, question, {}))
    if (read.success) return read.data as never // as it declares
    throw new Failure('UNAVAILABLE', `Cannot read the answer to ${name}.`, { reason: 'answer_unreadable' })
  }
  try {
    const isText = (options.format ?? host.format) !== 'json'
    const input = await completeInput(operation, placed, { ask, interactive: terminal.interactive, isText })
    if (operation.confirm && !host.confirm && input['yes'] !== true && input['dry_run'] !== true) {
      // A command that cannot work says so first.
      const dry = await project.ask(operation, { ...input, dry_run: true }, {})
      if (dry['success'] !== false) throw confirmationFailure(operation, found.rest)
    }
    const wanted = options.format ?? (input['format'] === undefined ? host.format : formatIn(input))
    const text = textOutput(terminal)
    const invokeOptions = {
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(wanted !== 'json' && { writeText: text.write }),
    }
    let answer = await project.ask(operation, input, invokeOptions)
    if (text.isWritten()) {
      terminal.write('\n')
      return 0
    }
    let isAsked = false
    const show = async (shown: Answer) => {
      const firstPrompt = async () => host.firstPrompt?.(options.project)
      const context =
        wanted === 'json' ? {} : await readAnswerSupplement(operation, shown, { ask, firstPrompt })
      terminal.write(
        render(
          operation,
          {
            answer: shown,
            input,
            wanted,
            typed: found.rest,
            context: { ...context, address: project.address, project: options.project, isAsked },
          },
          terminal,
        ),
      )
    }
    const question = input['dry_run'] === true ? null : (operation.confirm?.(answer) ?? null)
    isAsked = question !== null && host.confirm !== undefined
    await show(answer)
    const isConfirmed = question !== null && (await host.confirm?.(question)) === true
    if (question !== null && !isConfirmed) terminal.write('Nothing was written.\n')
    if (isConfirmed) {
      answer = await project.ask(
        operation,
        { ...input, yes: true, content: answer['content'] },
        invokeOptions,
      )
      await show(answer)
    }
    // `waymark doctor`, `waymark verify` and a dry run in a script must be able to fail.
    return ['healthy', 'passed', 'success'].some((key) => answer[key] === false) ? 1 : 0
  } catch (error) {
    throw error instanceof Failure ? withFlagNames(withoutMissingGuards(error), operation) : error
  } finally {
    await project.close()
  }
}

/** Prints the text of an answer part by part, as fast as it is read. */
function textOutput(terminal: Terminal) {
  let isWritten = false
  const write = async (part: string) => {
    isWritten = true
    terminal.write(printableJson(part))
    await terminal.waitForDrain?.()
  }
  return { write, isWritten: () => isWritten }
}

/** Where no one can be asked, the command itself has to say that it may write. */
function confirmationFailure(operation: Operation, typed: readonly string[]): Failure {
  const words = ['waymark', operation.command, ...typed.map(quoteShellWord)].join(' ')
  return new Failure('INVALID_INPUT', `Without a terminal, ${operation.command} writes only with --yes.`, {
    reason: 'confirmation_needed',
    hint: `${words} --dry-run shows the difference. To write it: ${words} --yes`,
  })
}

/** `waymark changes m-…` lists the files of a mission. */
async function operationFor(operation: Operation, { id }: Answer, host: CommandLineHost): Promise<Operation> {
  const isMissions = operation.name === 'changes' && typeof id === 'string' && /^[mw]-/.test(id)
  return isMissions ? operationNamed('mission_changes', host) : operation
}

async function operationNamed(name: OperationName, host: CommandLineHost): Promise<Operation> {
  const operation = (await commandOperations(host)).find((one) => one.name === name)
  if (operation) return operation
  throw new Failure('INTERNAL', `This version of Waymark has no operation ${name}.`, {
    reason: 'operation_unknown',
  })
}

function withPaths({ paths = {} }: Operation, input: Answer, placed: (path: string) => string): Answer {
  const given = Object.entries(paths).flatMap(
    ([field, words = []]): readonly (readonly [string, unknown])[] => {
      const path = input[field]
      if (Array.isArray(path)) return [[field, path.map((one) => placed(String(one)))]]
      return typeof path === 'string' && !words.includes(path) ? [[field, placed(path)]] : []
    },
  )
  return { ...input, ...Object.fromEntries(given) }
}

async function openLocalProject(project: string | undefined, host: CommandLineHost): Promise<ServerInvoker> {
  const { terminal } = host
  const context = await host.open(project)
  return {
    ask: async (operation, input, options) => {
      if (operation.ofMembers) await assertProject(context, project)
      const { answer, notice } = await invokeParsing(operation, context, input, options)
      if (notice !== null) terminal.writeError(`${notice}\n`)
      return answer
    },
    close: () => host.close(context),
  }
}

/** Some operations take a format themselves. */
function formatIn({ format }: Readonly<Record<string, unknown>>): OutputFormat {
  return format === 'json' || format === 'text' ? format : undefined
}

/** `token create` is an operation, and `token` alone is not. */
function isLongerCommand(found: { readonly operation: Operation } | null, other: OtherCommand): boolean {
  return found !== null && found.operation.command.split(' ').length > other.command.split(' ').length
}

function isHelpFlag(word: string): boolean {
  return word === '--help' || word === '-h'
}

function isOther(word: string): boolean {
  return otherCommands.some(({ command }) => command === word)
}

/** The command of a help request: `help task start` or `completion --help`. */
function helpWords([first = '', ...rest]: readonly string[]): readonly string[] {
  const words = rest.filter((word) => !isHelpFlag(word))
  return first === 'help' && (words.length > 0 || words.length === rest.length) ? words : [first, ...words]
}

function help(words: readonly string[], host: LoadedHost): ExitCode {
  const { operations, terminal } = host
  const [only = '--all'] = words
  if (words.length < 2 && only === '--all')
    return writeLine(usage(operations, terminal, words.length === 1), host)
  const other = otherCommands.find(({ command }) => hasPrefix(words, command))
  const found = findCommand(operations, words)
  if (other && !isLongerCommand(found, other)) {
    return writeLine(otherHelp(other, found, host), host)
  }
  if (found) return writeLine(commandHelp(found.operation, terminal, { operations }), host)
  const group = commandGroup(operations, words[0] ?? '')
  if (group.length > 0) return writeLine(groupUsage(words[0] ?? '', group, terminal), host)
  throw unknownCommand(operations, words)
}

async function completeWords(words: readonly string[], host: LoadedHost): Promise<string> {
  const context = await host.open(undefined)
  try {
    const found = await completionsOf(words, host.operations, context)
    return found.map((candidate) => `${candidate}\n`).join('')
  } finally {
    await host.close(context)
  }
}

function projectIn(words: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => word === '--project' || word.startsWith('--project='))
  return words[at] === '--project' ? words[at + 1] : words[at]?.slice('--project='.length)
}

/** `waymark --format json status` is `waymark status --format json`. */
function moveGeneralOptionsLast(words: readonly string[]): readonly string[] {
  const taking = ['--format', '--project', '--idempotency-key']
  const [first = '', second = '', ...rest] = words
  if (first === '--json' && words.length > 1) return [...moveGeneralOptionsLast(words.slice(1)), first]
  if (taking.includes(first) && rest.length > 0) return [...moveGeneralOptionsLast(rest), first, second]
  if (taking.some((flag) => first.startsWith(`${flag}=`)))
    return [...moveGeneralOptionsLast(words.slice(1)), first]
  return words
}

function hasPrefix(words: readonly string[], command: string): boolean {
  return command.split(' ').every((word, at) => word === words[at])
}

/** The help of a program command, with that of the operation that it extends. */
function otherHelp(
  other: OtherCommand,
  found: { readonly operation: Operation } | null,
  { operations, terminal }: LoadedHost,
): string {
  if (other.joins && found) return commandHelp(found.operation, terminal, { operations, added: other })
  const { title, usage: line, otherwise, explained: flags = [] } = other
  const explained = flags.length === 0 ? '' : `\n${twoColumns(flags, terminal)}\n`
  const further = found && otherwise ? `\n${otherwise}\n${found.operation.description}\n` : ''
  return `${title}\n\nUsage: ${line}\n${explained}${further}`
}

function writeLine(text: string, { terminal }: Pick<CommandLineHost, 'terminal'>): ExitCode {
  terminal.write(text)
  return 0
}
