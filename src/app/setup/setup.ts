import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isatty } from 'node:tty'
import type { Client } from '../../clients/setup/client.ts'
import { shellLine } from '../../clients/setup/commands.ts'
import { detectClients } from '../../clients/setup/detect.ts'
import {
  applyPlan,
  Disk,
  type FileRecord,
  firstFileObstacle,
  refuseObstacle,
  utf8Text,
  writer,
} from '../../clients/setup/disk.ts'
import { fileHash } from '../../clients/setup/edit/edit-file.ts'
import { differences, type PreviewLine } from '../../clients/setup/file-difference.ts'
import { hasServerEntry } from '../../clients/setup/health.ts'
import {
  isForProject,
  type PlannedFile,
  planSetup,
  planSetupUndo,
  type SetupPlan,
  type SetupRequest,
  scopeOf,
  setupSummary,
} from '../../clients/setup/plan-setup.ts'
import { setupClients as allClients, clientNamed } from '../../clients/setup/setup-clients.ts'
import type { SetupContext } from '../../clients/setup/setup-context.ts'
import { Failure } from '../../kernel/failure.ts'
import { isWithin, removeContained } from '../../kernel/files/contained-file.ts'
import { canWrite } from '../../kernel/files/state-folder.ts'
import { nearestWord } from '../../kernel/nearest-word.ts'
import { processEnd } from '../../kernel/process-end.ts'
import { formatCount, joinNames } from '../../kernel/text.ts'
import { writeIgnore } from '../../store/record/project.ts'
import { wrap } from '../../surfaces/cli/render/table.ts'
import { print, processTerminal, type Terminal, type TextStyle } from '../../surfaces/cli/terminal.ts'
import { canSwitch, enableRecordingUnlessOff, restoreRecordingSwitch } from '../capture/capture-command.ts'
import { databaseNamed } from '../open-context.ts'
import { recordAddress } from '../remote/remote-project-location.ts'
import { commandLineActor } from '../settings/actor.ts'
import { type Environment, userName } from '../settings/environment.ts'
import { type CommandArguments, isJsonRequested, readWords } from '../settings/flags.ts'
import { enclosingTree, missingFolder, rootWithoutGit, unusableFolder } from '../settings/project-location.ts'
import { refuseForeign } from '../settings/regular-paths.ts'
import { committedFiles, excludeFromGit, includeInGit } from './git-exclude.ts'
import { isFromRegistry, setupContextOf, setupResources, stateFolderOf } from './read-setup-context.ts'
import { SetupRecords } from './records.ts'

/** What a person says to an agent to begin. */
export const firstPrompt = 'Start a Waymark mission for this and work in tasks.'

/** Where a setup runs, and its terminal for prompts. */
interface SetupHost {
  readonly environment: Environment
  readonly terminal: Terminal
  /** Output for programs: one object at the end, no prompts. */
  readonly isJson: boolean
  readonly context: SetupContext
  readonly records: SetupRecords
  readonly disk: Disk
  /** The server or the database of the record; null if it is in the project's folder. */
  readonly elsewhere: string | null
}

/** `waymark setup <client>`: shows what it would write, asks, and writes it. */
export async function setup(words: readonly string[]): Promise<void> {
  const flags = readWords('setup', words)
  const [name, odd] = flags.positionals
  if (name === undefined) throw flags.flagFailure(`setup needs a client: ${idsOf(allClients)}.`)
  if (odd !== undefined)
    throw flags.flagFailure(
      `setup takes one client; it was also given ${odd}. `,
      'waymark init sets up several. ',
    )
  await run([knownClient(name)], flags, { command: ['setup', name], host: hostOf(flags) })
}

/** `waymark init`: sets up every client that is found here together, and makes the record. */
export async function initCommand(words: readonly string[]): Promise<void> {
  const flags = readWords('init', words)
  const [odd] = flags.positionals
  if (odd !== undefined) throw flags.flagFailure(`init does not take ${odd}.`)
  const named = flags.text('clients')
  if (named === undefined && flags.has('clients'))
    throw flags.flagFailure('--clients needs the name of a client. ', `It knows ${idsOf(allClients)}. `)
  const host = hostOf(flags)
  const { terminal, context, disk } = host
  const clients = named?.split(',').map((name) => knownClient(name.trim()))
  if (flags.has('undo')) {
    await run(clients ?? configuredClients(host), flags, { command: ['init'], host })
    return
  }
  const found = clients ? [] : detectClients(context, disk.exists)
  for (const { client, sign } of found) say(terminal, `${client.title} was found (${sign}).`)
  const chosen = clients ?? found.map(({ client }) => client)
  if (chosen.length === 0) {
    if (flags.has('yes') && !isReadOnlyRun(flags) && lacksRecord(host)) makeRecord(context, host)
    else say(terminal, `Nothing was written. ${recordText(context)}`)
    say(terminal, 'No client was found. A client is the program your agent runs in.')
    say(terminal, `Waymark knows ${titlesOf(allClients)}.`)
    say(terminal, `\nInstall one and run this again, or choose one now: ${withoutClientSteps[0]}`)
    say(terminal, `To plan and track your own work, no client is needed: ${withoutClientSteps[1]}`)
    report(host, { state: 'nothing_to_write', clients: [], files: [], next: withoutClientSteps })
    return
  }
  await run(chosen, flags, { command: ['init', '--clients', idsOf(chosen, ',')], host, makesRecord: true })
}

/** The first prompt, if a client of this project has Waymark. */
export function firstPromptHere(environment: Environment, project: string | undefined): string | undefined {
  const context = setupContextOf(environment, project)
  const { read } = new Disk()
  return allClients.some((client) => hasServerEntry(client, { context, read })) ? firstPrompt : undefined
}

/** Where the record is, or will be. */
function recordText(context: SetupContext): string {
  const folder = dirname(ignoreOf(context))
  const elsewhere = recordElsewhere(context)
  if (elsewhere !== null) return `The record is at ${elsewhere}.`
  return `${existsSync(folder) ? 'The record is in' : 'The first task creates the record in'} ${folder}.`
}

/** The server or the database of the record, if it is not in the project's folder. */
function recordElsewhere({ folder }: SetupContext): string | null {
  const [environment, workingFolder] = [process.env, process.cwd()]
  try {
    const address = recordAddress({ project: folder, environment, workingFolder })
    if (address !== null) return address
  } catch (error) {
    // A setup does not need the server: a wrong address is refused by what does.
    if (!(error instanceof Failure)) throw error
  }
  return databaseNamed(environment, workingFolder)
}

/** Whether a server keeps the record of this folder. */
export function isAtServer(): boolean {
  return recordAddress({ environment: process.env, workingFolder: process.cwd() }) !== null
}

/** What taskman's `init` leaves to do: it makes the record, and sets up no client. */
export function clientSteps(): string {
  const context = setupContextOf(process.env, undefined)
  const { exists, read } = new Disk()
  const record = `${recordText(context)} No client was set up.`
  const found = detectClients(context, exists).map(({ client }) => client)
  const [setup, plan] = withoutClientSteps
  if (found.length === 0)
    return `${record} None was found. Choose one: ${setup}\nOr plan your own work: ${plan}\n`
  const missing = found.filter((client) => !hasServerEntry(client, { context, read }))
  return missing.length === 0
    ? `${recordText(context)} Already set up: ${titlesOf(found)}. Say to your agent: ${firstPrompt}\n`
    : `${record} Found: ${titlesOf(missing)}.\nShow what would be written: waymark init --dry-run\nWrite it: waymark init --yes\n`
}

const withoutClientSteps = ['waymark setup claude', 'waymark task add "<title>"'] as const

/** The clients that are set up, in this project or for all projects. */
function configuredClients({ records, context }: SetupHost): readonly Client[] {
  const owners = records.all().flatMap(({ changes }) => changes.flatMap((change) => change.owners))
  return allClients.filter(({ id }) =>
    owners.some((owner) => owner === id || owner === `${id} ${context.folder}`),
  )
}

interface SetupCommand {
  readonly command: readonly string[]
  readonly host: SetupHost
  /** It also makes the folder of the record, which git ignores. */
  readonly makesRecord?: true
}

async function run(
  clients: readonly Client[],
  flags: CommandArguments,
  setupCommand: SetupCommand,
): Promise<void> {
  const { host } = setupCommand
  const { context, terminal } = host
  if (!isReadOnlyRun(flags)) {
    refuseAgent(setupCommand, flags, host.environment)
    refuseUnrecordable(host)
  }
  if (flags.has('undo')) return undo(clients, flags, setupCommand)
  refuseNoProject(clients, context, readSetupOptions(flags))
  const request = readSetupOptions(flags)
  const plan = planFor(clients, request, host)
  const changed = changedFiles(plan.files)
  const isRefused = plan.findings.some(({ state }) => state === 'refused')
  const obstacle = firstFileObstacle(plan.files, context.folder)
  if (!isReadOnlyRun(flags)) refuseObstacle(obstacle)
  show(plan, flags, host)
  const repository = { folder: context.folder, environment: host.environment }
  const hidden = filesToExclude(changed, request, host)
  const committed = request.shared ? [] : await committedFiles(filesOf(changed), repository)
  if (committed.length > 0) {
    say(
      terminal,
      `- ${joinNames(committed)} ${committed.length === 1 ? 'is' : 'are'} in the repository. Commit the change only if your team uses Waymark: for others the server cannot start. Or use --user.`,
    )
  }
  if (hidden.length > 0) {
    say(
      terminal,
      '- Git ignores the new files (.git/info/exclude). To commit them for everybody, use --shared.',
    )
  }
  if (obstacle) say(terminal, `${obstacle.says}.`)
  const record = dirname(ignoreOf(context))
  const isNothingToDo = changed.length === 0 && isRefused
  const makesRecord = lacksRecord(host) && setupCommand.makesRecord === true && !isNothingToDo
  const about = { clients, files: changed, plan }
  if (isReadOnlyRun(flags)) {
    const isDone = changed.length === 0 && !isRefused
    if (flags.has('check')) {
      say(terminal, `${titlesOf(clients)}: ${isDone ? 'already set up' : setupSummary(plan)}.`)
      process.exitCode = isDone ? 0 : 1
    } else {
      const also = makesRecord && changed.length > 0 ? `, and ${record}` : ''
      say(terminal, `Nothing was written: ${setupSummary(plan)}${also}.`)
      process.exitCode = 0
    }
    showSkipped(plan, host)
    report(host, { ...about, state: isDone ? 'already_set_up' : 'not_written' })
    return
  }
  if (isRefused) process.exitCode = 1
  if (makesRecord && !flags.has('yes')) say(terminal, `Waymark would keep its records in ${record}.`)
  const question =
    changed.length > 0 ? `Write ${formatCount(changed.length, 'file')}?` : 'Create this folder?'
  if ((changed.length > 0 || makesRecord) && !(await confirmSetup(question, flags, host))) {
    terminal.write('Nothing was written.\n')
    return
  }
  write(plan.files, host)
  if (request.shared) await includeInGit(filesOf(plan.files), repository)
  else if (hidden.length > 0 && (await excludeFromGit(hidden, repository)) === null)
    say(terminal, '- The new files could not be added to .git/info/exclude. Git shows them as untracked.')
  if (request.hooks && request.capture) recordSessions(clients, host)
  if (makesRecord) makeRecord(context, host)
  else if (setupCommand.makesRecord && host.elsewhere !== null) say(terminal, recordText(context))
  if (changed.length === 0) {
    say(terminal, isRefused ? 'Nothing was written.' : `${titlesOf(clients)}: already set up.`)
    if (!isRefused && setupCommand.makesRecord) say(terminal, `Say to your agent: ${firstPrompt}`)
    showSkipped(plan, host)
    report(host, { ...about, state: isRefused ? 'not_written' : 'already_set_up' })
    return
  }
  const undoCommand = undoLine(setupCommand, flags)
  terminal.write(`\n${formatCount(changed.length, 'file')} written. Undo: ${undoCommand}\n`)
  writeList('Not done', plan.skipped, terminal)
  writeList(
    'Notes',
    [
      ...plan.notes,
      ...(request.allow
        ? []
        : ['Clients ask before they call Waymark’s tools; --allow permits these calls.']),
    ],
    terminal,
  )
  writeList('Left for you', plan.afterwards, terminal)
  terminal.write(`\nThen say to your agent: ${firstPrompt}\n`)
  report(host, { ...about, state: 'written', undo: undoCommand })
}

function writeList(title: string, lines: readonly string[], terminal: Terminal): void {
  if (lines.length === 0) return
  terminal.write(`\n${terminal.ink('bold', title)}\n`)
  for (const line of lines) say(terminal, `- ${line}`)
}

/** Writes a paragraph, wrapped on a screen. */
function say(terminal: Terminal, text: string): void {
  const lines = terminal.interactive ? wrap(text, terminal.width - 2) : [text]
  terminal.write(`${lines.join(text.startsWith('- ') ? '\n  ' : '\n')}\n`)
}

function filesOf(files: readonly PlannedFile[]): readonly string[] {
  return files.map(({ file }) => file)
}

/** The new files of a repository that its user keeps for themselves. */
function filesToExclude(
  changed: readonly PlannedFile[],
  { shared }: SetupRequest,
  { context }: SetupHost,
): readonly string[] {
  if (shared || enclosingTree(context.folder, context.home) === null) return []
  return changed.flatMap(({ file, before, text }) =>
    before === null && text !== null && isWithin(context.folder, file) ? [file] : [],
  )
}

function planFor(
  clients: readonly Client[],
  request: SetupRequest,
  { context, records, disk }: SetupHost,
): SetupPlan {
  return planSetup(clients, {
    context,
    request,
    assets: setupResources(),
    read: disk.read,
    fault: disk.fault,
    expand: disk.expand,
    changesOf: (file: string) => records.of(file)?.changes ?? [],
  })
}

function changedFiles(files: readonly PlannedFile[]): readonly PlannedFile[] {
  return files.filter(({ before, text }) => before !== text)
}

/** The command that undoes a setup from any folder. */
function undoLine({ command }: SetupCommand, flags: CommandArguments): string {
  const project = flags.text('project')
  const words = [
    'waymark',
    ...command,
    ...(flags.has('user') ? ['--user'] : []),
    ...(project === undefined ? [] : ['--project', project]),
    '--undo',
  ]
  return shellLine(words, 'posix')
}

function ignoreOf({ folder }: SetupContext): string {
  return join(folder, '.waymark', '.gitignore')
}

/** Whether the folder of the record is missing, and can be made. */
function lacksRecord({ context, disk, elsewhere }: SetupHost): boolean {
  refuseForeign(context.folder)
  const record = ignoreOf(context)
  return (
    elsewhere === null &&
    !unusableFolder(context.folder, context.home) &&
    !disk.exists(record) &&
    canWrite(dirname(record))
  )
}

function makeRecord(context: SetupContext, { terminal }: SetupHost): void {
  const file = ignoreOf(context)
  writeIgnore(dirname(file))
  say(terminal, `Waymark keeps its records in ${dirname(file)}. Git ignores it.`)
}

/** Turns recording on with the hooks, unless it was turned off before. */
function recordSessions(clients: readonly Client[], host: SetupHost): void {
  if (!clients.some(({ hooks }) => hooks.kind === 'hooks')) return
  const root = rootOf(host)
  if (unusableFolder(root, host.context.home) || !canSwitch(root, host.environment)) {
    say(
      host.terminal,
      `Sessions in ${root} are not recorded: ${unusableFolder(root, host.context.home) ? 'it is not a project folder' : 'the choice cannot be kept'}. Turn it on for a project: waymark capture on`,
    )
    return
  }
  if (!enableRecordingUnlessOff(root, host.environment)) return
  say(host.terminal, `Sessions in ${root} are recorded from now on. Stop it: waymark capture off`)
}

function rootOf({ context, environment }: SetupHost): string {
  return rootWithoutGit({ flag: context.folder, environment, workingFolder: context.folder })
}

async function undo(
  clients: readonly Client[],
  flags: CommandArguments,
  { host }: SetupCommand,
): Promise<void> {
  const { context, records, disk, terminal } = host
  const request = { ...readSetupOptions(flags), allow: false }
  const recorded = records.all().map((record) => ({
    file: record.file,
    changes: record.changes,
    asWeLeftIt: isUnchangedSince(record, disk),
    before: record.before === null ? null : utf8Text(Buffer.from(record.before, 'base64')),
  }))
  const { files, kept, notes, elsewhere } = planSetupUndo(clients, {
    context,
    request,
    assets: setupResources(),
    read: disk.read,
    recorded,
  })
  const changed = changedFiles(files)
  showLines(differences(changed, { isWhole: flags.has('dry-run') }), terminal)
  const remarks = [...kept, ...notes, ...elsewhere]
  for (const line of remarks) say(terminal, line)
  // A client that is set up only in the other scope was not undone.
  if (kept.length > 0 || (changed.length === 0 && elsewhere.length > 0)) process.exitCode = 1
  const about = { clients, files: changed, notes: remarks }
  if (isReadOnlyRun(flags)) {
    terminal.write(
      `Nothing was written: ${changed.length === 0 ? 'nothing to undo' : formatUndoPlan(changed)}.\n`,
    )
    if (flags.has('check') && changed.length > 0) process.exitCode = 1
    report(host, { ...about, state: changed.length === 0 ? 'nothing_to_undo' : 'not_written' })
    return
  }
  refuseObstacle(firstFileObstacle(changed, context.folder))
  const question = formatUndoPlan(changed)
  if (
    changed.length > 0 &&
    !(await confirmSetup(`${question[0]?.toUpperCase()}${question.slice(1)}?`, flags, host))
  ) {
    terminal.write('Nothing was changed.\n')
    return
  }
  const hadHooks = hasHooks(host)
  write(files, host)
  const removedFiles = changed.flatMap(({ file, text }) => (text === null ? [file] : []))
  await includeInGit(removedFiles, { folder: context.folder, environment: host.environment })
  const root = rootOf(host)
  // Removing the last hooks also turns off the recording that setup turned on.
  if (hadHooks && !hasHooks(host) && !restoreRecordingSwitch(root, host.environment)) {
    say(
      terminal,
      `Capture is still on in ${root}, but the hooks that setup wrote are gone. Stop it: waymark capture off`,
    )
  }
  if (changed.length > 0) {
    terminal.write(`${formatUndoResult(changed)}.\n`)
    const record = join(context.folder, '.waymark')
    if (!isSetUpHere(host)) removeBareRecord(record)
    if (records.all().length === 0 && existsSync(join(record, 'waymark.db')))
      say(terminal, `The records stay in ${record}.`)
  } else if (remarks.length === 0)
    terminal.write(clients.length === 0 ? 'Nothing to undo.\n' : `${titlesOf(clients)}: nothing to undo.\n`)
  report(host, { ...about, state: changed.length === 0 ? 'nothing_to_undo' : 'undone' })
}

/** `remove 2 files and put 1 back` */
function formatUndoPlan(files: readonly PlannedFile[]): string {
  const [removed, back] = countRemovedAndRestored(files)
  if (back === 0) return `remove ${formatCount(removed, 'file')}`
  return removed === 0
    ? `put ${formatCount(back, 'file')} back`
    : `remove ${formatCount(removed, 'file')} and put ${back} back`
}

function formatUndoResult(files: readonly PlannedFile[]): string {
  const [removed, back] = countRemovedAndRestored(files)
  if (back === 0) return `${formatCount(removed, 'file')} removed`
  return removed === 0
    ? `${formatCount(back, 'file')} put back`
    : `${formatCount(removed, 'file')} removed, ${back} put back`
}

function countRemovedAndRestored(files: readonly PlannedFile[]): readonly [number, number] {
  const removed = files.filter(({ text }) => text === null).length
  return [removed, files.length - removed]
}

/** Prints the result for programs. */
function report(
  { isJson, context, elsewhere }: SetupHost,
  result: {
    readonly state:
      | 'written'
      | 'not_written'
      | 'nothing_to_write'
      | 'already_set_up'
      | 'undone'
      | 'nothing_to_undo'
    readonly clients: readonly Client[]
    readonly files: readonly PlannedFile[]
    readonly plan?: SetupPlan
    readonly notes?: readonly string[]
    readonly undo?: string
    /** What to do next. */
    readonly next?: readonly string[]
  },
): void {
  if (!isJson) return
  const { state, clients, files, plan, undo: undoCommand } = result
  const { notes = plan?.notes ?? [], next = plan?.afterwards ?? [] } = result
  const answer = {
    state,
    project: context.folder,
    record: elsewhere ?? dirname(ignoreOf(context)),
    clients: clients.map(({ id }) => id),
    files: files.map((file) => ({
      file: file.file,
      change: file.before === null ? 'new' : file.text === null ? 'removed' : 'changed',
      diff: differences([file], { isWhole: true })
        .slice(1)
        .map(({ text }) => text),
    })),
    refused: (plan?.findings ?? []).flatMap(({ part, file, state: found, says }) =>
      found === 'refused' ? [{ file, part, why: says }] : [],
    ),
    notes,
    next,
    ...(undoCommand !== undefined && { undo: undoCommand }),
  }
  print(`${JSON.stringify(answer, null, 2)}\n`)
}

function isSetUpHere({ records, context }: SetupHost): boolean {
  return records.all().some(({ changes }) => changes.some((change) => isForProject(change, context)))
}

/** The folder that init made, where nothing was recorded in it. */
function removeBareRecord(folder: string): void {
  if (!existsSync(folder) || !canWrite(folder)) return
  if (readdirSync(folder).join() === '.gitignore') removeContained(dirname(folder), folder)
}

function hasHooks({ records, context }: SetupHost): boolean {
  const changes = records.all().flatMap((record) => record.changes)
  return changes.some((change) => change.part === 'hooks' && isForProject(change, context))
}

function isUnchangedSince({ file, afterHash }: FileRecord, disk: Disk): boolean {
  const bytes = disk.bytes(file)
  return bytes !== null && fileHash(bytes) === afterHash
}

function write(files: readonly PlannedFile[], { records, disk, context }: SetupHost): void {
  if (files.length === 0) return
  records.exclusively(() =>
    applyPlan(files, { disk, writer, project: context.folder, recordOf: records.of, keep: records.keep }),
  )
}

function hostOf(flags: CommandArguments): SetupHost {
  const environment = process.env
  const context = setupContextOf(environment, flags.text('project'))
  const missing = missingFolder(context.folder)
  if (missing) throw missing
  const isJson = isJsonRequested(flags)
  const terminal = processTerminal()
  return {
    environment,
    terminal: isJson ? { ...terminal, write: () => undefined } : terminal,
    isJson,
    context,
    records: new SetupRecords(stateFolderOf(context)),
    disk: new Disk(),
    elsewhere: recordElsewhere(context),
  }
}

function knownClient(name: string): Client {
  const found = clientNamed(name)
  if (found) return found
  const ids = allClients.flatMap(({ id, aliases = [] }) => [id, ...aliases])
  const meant = nearestWord(name.toLowerCase(), ids)
  throw new Failure('INVALID_INPUT', `There is no client "${name}".`, {
    reason: 'client_unknown',
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}It knows ${idsOf(allClients)}.`,
  })
}

function idsOf(clients: readonly Client[], between = ', '): string {
  return clients.map(({ id }) => id).join(between)
}

function titlesOf(clients: readonly Client[]): string {
  return clients.map(({ title }) => title).join(', ')
}

const toolsets = ['plan', 'track', 'gate']

function readSetupOptions(flags: CommandArguments): SetupRequest {
  const named = flags.text('toolsets')
  const wrong = named?.split(',').find((name) => ![...toolsets, 'auto'].includes(name.trim()))
  if (wrong !== undefined)
    throw flags.flagFailure(`There is no toolset "${wrong}": there are ${toolsets.join(', ')}, and auto. `)
  const via = flags.text('via')
  if (via !== undefined && via !== 'npx') throw flags.flagFailure(`--via cannot be "${via}": choose npx. `)
  if (via === 'npx' && !isFromRegistry() && !flags.has('undo')) {
    throw new Failure(
      'REFUSED',
      'Cannot use npx: this copy of Waymark is not from the npm registry, so npx might start another program.',
      {
        reason: 'not_from_registry',
        hint: 'Omit --via npx: project files then use waymark, and user files use this copy.',
      },
    )
  }
  return {
    scope: flags.has('user') ? 'user' : null,
    allow: flags.has('allow'),
    rules: flags.has('rules'),
    hooks: flags.has('hooks') || flags.has('shared'),
    shared: flags.has('shared'),
    capture: !flags.has('no-capture'),
    toolsets: named?.replace(/\s+/g, '') ?? null,
    npx: via === 'npx',
    force: flags.has('force'),
  }
}

/** Anyone may do a run that only reads. */
function isReadOnlyRun(flags: CommandArguments): boolean {
  return flags.has('dry-run') || flags.has('check')
}

/** Hooks, permissions and approvals are a person's. */
function refuseAgent({ command }: SetupCommand, flags: CommandArguments, environment: Environment): void {
  const { kind, name } = commandLineActor(environment, userName())
  if (kind === 'person') return
  const given = ['user', 'allow', 'rules', 'hooks', 'shared', 'no-capture', 'undo', 'force'].filter((flag) =>
    flags.has(flag),
  )
  const values = ['toolsets', 'via', 'project'].flatMap((flag) =>
    flags.text(flag) === undefined ? [] : [`--${flag}`, flags.text(flag) ?? ''],
  )
  const line = shellLine(['waymark', ...command, ...given.map((flag) => `--${flag}`), ...values], 'posix')
  throw new Failure('FORBIDDEN', `Only people can set up clients. ${name} is an agent.`, {
    reason: 'person_needed',
    hint: `Ask a person to run: ${line}\nWith --dry-run it shows what it would write.`,
  })
}

/** The undo records must be kept before anything is written. */
function refuseUnrecordable({ records }: SetupHost): void {
  if (canWrite(records.folder)) return
  throw new Failure(
    'UNAVAILABLE',
    `${records.folder} is not writable, and undo needs it. Nothing was written.`,
    { reason: 'folder_not_writable', hint: 'Make it writable, or set XDG_STATE_HOME to a writable folder.' },
  )
}

function refuseNoProject(clients: readonly Client[], context: SetupContext, request: SetupRequest): void {
  const needs = clients.some(
    (client) => client.namesProject || scopeOf(client, { context, request }) === 'project',
  )
  const unusable = needs ? unusableFolder(context.folder, context.home) : null
  if (unusable === null) return
  throw new Failure('UNAVAILABLE', `No project: ${context.folder} is not a project folder.`, {
    reason: 'no_project_chosen',
    hint: 'Run it in a project folder, use --project <folder>, or set up the client for all projects with --user.',
  })
}

function show(plan: SetupPlan, flags: CommandArguments, { terminal }: SetupHost): void {
  showLines(differences(plan.files, { isWhole: flags.has('dry-run') }), terminal)
  for (const { file, state, says } of plan.findings) {
    if (says !== null && state !== 'refused') say(terminal, `${file}: ${says}`)
  }
  // A run that writes prints the notes at its end.
  const isWritten = changedFiles(plan.files).length > 0 && !isReadOnlyRun(flags)
  if (!isWritten) for (const note of plan.notes) say(terminal, `- ${note}`)
}

function showSkipped({ skipped }: SetupPlan, { terminal }: SetupHost): void {
  for (const line of skipped) say(terminal, line)
}

const styles: Readonly<Record<PreviewLine['kind'], TextStyle | null>> = {
  file: 'bold',
  place: 'dim',
  added: 'green',
  removed: 'red',
  same: null,
}

function showLines(lines: readonly PreviewLine[], terminal: Terminal): void {
  for (const { kind, text } of lines) {
    const style = styles[kind]
    terminal.write(`${style === null ? text : terminal.ink(style, text)}\n`)
  }
}

/** A person can see the output and answer a prompt. */
function isAtTerminal({ isJson }: SetupHost): boolean {
  return !isJson && isatty(0) && isatty(1)
}

async function confirmSetup(question: string, flags: CommandArguments, host: SetupHost): Promise<boolean> {
  if (flags.has('yes')) return true
  if (!isAtTerminal(host)) {
    const why = host.isJson ? 'with --json nobody is asked' : 'there is no terminal to ask'
    throw new Failure('INVALID_INPUT', `Nothing was written: ${why}.`, {
      reason: 'confirmation_needed',
      hint: 'Add --yes to write it, or --dry-run to only see it.',
    })
  }
  return askYesNo(`${question} [y/N] `, false)
}

async function askYesNo(question: string, otherwise: boolean): Promise<boolean> {
  const answer = await ask(question)
  return answer === '' ? otherwise : /^(?:y|yes)$/i.test(answer)
}

async function ask(question: string): Promise<string> {
  print(question)
  const lines = createInterface({ input: process.stdin, signal: processEnd })
  try {
    for await (const line of lines) return line.trim()
    return 'n'
  } finally {
    lines.close()
    process.stdin.pause()
  }
}
