import { z } from 'zod'
import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { type CommandRequest, type InboxItem, openInboxItem } from '../../../inbox/domain/inbox-item.ts'
import {
  type CommandResultId,
  idPrefixes,
  type MissionId,
  type RunId,
  type TaskId,
  type TransactionContext,
} from '../../../kernel/id.ts'
import { instant } from '../../../kernel/instant.ts'
import { hexDigest } from '../../../kernel/operations/digest.ts'
import { measuredList, pinned, sha } from '../../../kernel/operations/fields.ts'
import { measurement, type PreparationStep } from '../../../kernel/operations/measurement-protocol.ts'
import type { CommandContext, Context, RecordContext } from '../../../kernel/operations/operation.ts'
import { processEnd } from '../../../kernel/process-end.ts'
import { excerpt } from '../../../kernel/text.ts'
import { wait } from '../../../kernel/wait.ts'
import type { Reads, SideWrite } from '../../../store/ports/store.ts'
import type { Task } from '../../../track/domain/task.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { CommandResult, RunRecord } from '../../domain/run.ts'
import type { CommandEnd, CommandReport, PinnedCommand } from '../../ports/command-runner.ts'
import { similarRejection } from '../command-approvals.ts'
import type { ApprovableCommand, ExternalState } from './external-state.ts'
import { isStillRunning, keepLease } from './lease.ts'
import type { CommandQuestion, MeasurementQuestions } from './run-measurements.ts'

/** How long an event waits for its commands; they continue after that. */
const waitMs = 25_000
/** The same for a call from another machine, whose request times out after ten seconds. */
const remoteWaitMs = 5_000
const pollMs = 250

const commandId = z.string().max(100)
export const commandReportShape = {
  status: z.enum(['passed', 'failed', 'timed_out', 'stopped']),
  output: z.string().max(40_000),
  tree: z.string().max(200).nullable(),
  touched: z.array(z.string().max(4_096)).max(20).nullable(),
  hash: sha.max(64),
}

/** Runs commands that were started for this call, on the machine that has the files. */
export const commandRuns = measurement({
  brief: measuredList(
    pinned.extend({ id: commandId, timeout: z.number().positive(), hash: sha, approvedThere: z.boolean() }),
    1_000,
  ),
  measured: measuredList(
    z.strictObject({
      id: commandId,
      /** Null: it still runs, and its result is reported later. */
      report: z.strictObject({ ...commandReportShape, exitCode: z.int().nullable() }).nullable(),
    }),
    1_000,
  ),
  fits: (briefs, results) =>
    briefs.length === results.length && results.every(({ id }, index) => id === briefs[index]?.id),
  measure: ({ remoteCommands }, commands) => {
    if (!remoteCommands)
      throw new Error('Commands of guards are measured only for a record on another machine.')
    return Promise.all(
      commands.map(async (command) => ({ id: command.id, report: await remoteCommands.run(command) })),
    )
  },
})

/** The run or the task that commands are run for. */
export interface CommandOwner {
  readonly runId: RunId | null
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
  /** The beginning of a sentence: `Feature`, `Task "Add a limit"`. */
  readonly name: string
}

export function runOwner({ id, process, missionId, taskId }: OwningRun): CommandOwner {
  return { runId: id, missionId, taskId, name: process.name }
}

export function taskOwner({ id, name, missionId }: Pick<Task, 'id' | 'name' | 'missionId'>): CommandOwner {
  return { runId: null, missionId, taskId: id, name: `Task "${name}"` }
}

type OwningRun = Pick<RunRecord, 'id' | 'process' | 'missionId' | 'taskId'>

interface CommandsToRun {
  readonly context: Pick<RecordContext, 'actor' | 'machine' | 'callKey' | 'fingerprint'>
  readonly owner: CommandOwner
  readonly external: Pick<ExternalState, 'tree' | 'folder' | 'commands'>
  /** Also run commands that have a result. */
  readonly again?: boolean
  /** One command at a time runs in the folder, and a result that does not count is not repeated by itself. */
  readonly isSerial?: boolean
}

/**
 * The step for the commands of an event's guards: it asks a person about unapproved ones, and runs those without a result
 * for the current tree, once per command and tree. Null until commands started on another machine ended there. That
 * machine gets a command only while the record says that it runs.
 */
export async function prepareCommandRuns(
  reads: Reads,
  questions: Pick<MeasurementQuestions<{ ran: typeof commandRuns }>, 'ask'>,
  running: CommandsToRun,
): Promise<PreparationStep | undefined | null> {
  const { context, external } = running
  const { tree, folder } = external
  const commands = ownCommands(running)
  if (tree === null || commands.length === 0) return undefined
  const ended: { readonly command: CommandResult; readonly report: CommandReport }[] = []
  let isWhole = true
  for (const command of context.machine ? commands.filter(({ approved }) => approved) : []) {
    const { guard, hash, approvedThere } = command
    const started = await reads.runs.commandResult(
      { ...commandRequestFields(command), folder },
      command.tree ?? tree,
    )
    if (started?.status !== 'running' || started.id !== idInCall(context, command)) continue
    const { run, timeout } = guard
    const { id } = started
    const ran = questions.ask('ran', {
      id,
      run,
      folder,
      pinned: [...guard.pinned],
      timeout,
      hash,
      approvedThere,
    })
    if (ran === undefined) isWhole = false
    else if (ran.report) ended.push({ command: started, report: ran.report })
  }
  if (!isWhole) return null
  if (ended.length === 0) return { name: 'begin', take: (handling) => runCommands(handling, running) }
  return {
    name: 'end',
    take: async ({ recordAside, fingerprint }) => {
      for (const { command, report } of ended) {
        const changes = await endOfCommand(fingerprint, command, report)
        await recordAside(async () => ({ ...changes, answer: null }))
      }
    },
  }
}

/** Commands reserved for a runner are left out for all other callers. */
function ownCommands({ context: { actor }, external }: CommandsToRun): readonly ApprovableCommand[] {
  return external.commands.filter(({ guard }) => guard.reportedBy !== 'runner' || actor.runner === true)
}

async function runCommands(handling: CommandContext, running: CommandsToRun): Promise<void> {
  const { owner, external, again = false, isSerial = false } = running
  const { tree, folder } = external
  if (tree === null) return
  const commands = ownCommands(running)
  await askPerson(handling, owner, questionsAbout(commands, folder))
  const requests = commands
    .filter(({ approved }) => approved)
    .map((command): CommandStart => ({ command, tree, folder, again, isSerial }))
  const all = isSerial
    ? beginInTurn(handling, owner, requests)
    : Promise.all(requests.map((request) => begin(handling, owner, request)))
  // The command line ends its commands when it exits, so it waits for them.
  await (handling.actor.channel === 'cli' && !handling.machine ? all : waitAtMost(waitOf(handling), all))
}

type QuestionedCommand = RequestedGuardCommand & { readonly question: CommandQuestion | null }

/** What a person is asked about commands that run in a folder. */
export function questionsAbout(
  commands: readonly ApprovableCommand[],
  folder: string,
): readonly QuestionedCommand[] {
  return commands.map(({ guard, hash, approved, refusal, question }) => {
    const isAnswered = approved || refusal !== null
    return { run: guard.run, folder, pinned: guard.pinned, hash, isAnswered, question }
  })
}

interface CommandStart {
  readonly command: ApprovableCommand
  readonly tree: string
  readonly folder: string
  /** Run it even if there is a result for this tree. */
  readonly again: boolean
  readonly isSerial: boolean
}

async function beginInTurn(
  handling: CommandContext,
  owner: CommandOwner,
  requests: readonly CommandStart[],
): Promise<void> {
  for (const request of requests) await begin(handling, owner, request)
}

/** Resolves when the command has a result for the tree, or was started on another machine. */
async function begin(handling: CommandContext, owner: CommandOwner, request: CommandStart): Promise<void> {
  // Run only what a person approved: a pinned file may have changed since the check.
  if (!handling.machine && !(await isAsApproved(handling, request))) return
  const started = await claim(handling, owner, request)
  if (started === 'finished') return
  if (started === 'elsewhere') return waitForOther(handling, request)
  // A call from another machine comes again, rather than wait here.
  if (started === 'busy' && handling.machine) return
  if (started === 'busy') {
    await waitForFolder(handling, request.folder)
    return begin(handling, owner, request)
  }
  if (!handling.machine) await runLocally(handling, request, started)
}

/** Records that the command runs, unless it has a result or runs already; decided under the lock. */
function claim(
  handling: CommandContext,
  owner: CommandOwner,
  { command, tree, folder, again, isSerial }: CommandStart,
): Promise<CommandResult | 'finished' | 'elsewhere' | 'busy'> {
  const { recordAside, commandRunner, actor } = handling
  const inCall = idInCall(handling, command)
  return recordAside<CommandResult | 'finished' | 'elsewhere' | 'busy'>(async (reads, setting) => {
    const key = command.tree ?? tree
    const stored = await reads.runs.commandResult({ ...commandRequestFields(command), folder }, key)
    if (inCall !== null && (await reads.runs.command(inCall))) return { events: [], answer: 'finished' }
    const runners = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: setting.at }
    const running = stored?.status === 'running' && (await isStillRunning(reads, stored, runners))
    if (running) return { events: [], answer: 'elsewhere' as const }
    const ended = stored !== null && !['running', 'stopped'].includes(stored.status)
    if (ended && (stored.treeHeld || isSerial) && !again) return { events: [], answer: 'finished' as const }
    if (isSerial && (await isFolderBusy(reads, folder, runners)))
      return { events: [], answer: 'busy' as const }
    const started: CommandResult = {
      id: inCall ?? setting.ids.next('commandResult'),
      runId: owner.runId,
      run: command.guard.run,
      folder,
      tree: key,
      status: 'running',
      exitCode: null,
      output: '',
      treeHeld: true,
      runner: commandRunner.name,
      ...(actor.runner && { byRunner: true }),
      startedAt: setting.at,
      endedAt: null,
    }
    return { events: [{ kind: 'command.started', command: started }], answer: started }
  })
}

/** The id of a command in a call from another machine: the same when the call is sent again. */
function idInCall(
  { machine, callKey, fingerprint }: CommandsToRun['context'],
  { hash, tree }: ApprovableCommand,
): CommandResultId | null {
  if (!machine || callKey === undefined) return null
  return `${idPrefixes.commandResult}-${fingerprint([callKey, hash, tree]).slice(0, 15)}` as CommandResultId // of its kind
}

/** The line, and the kind of caller whose results count. */
function commandRequestFields({
  guard: { run, reportedBy },
}: ApprovableCommand): Pick<CommandGuard, 'run' | 'reportedBy'> {
  return { run, ...(reportedBy && { reportedBy }) }
}

async function runLocally(
  handling: CommandContext,
  { command: { guard }, folder }: CommandStart,
  started: CommandResult,
): Promise<void> {
  const { commandRunner, recordAside, fingerprint } = handling
  const { run, timeout, pinned: files } = guard
  const stopLease = keepLease(recordAside, started.id)
  const report = await reportCommand(handling, { run, folder, pinned: files }, () =>
    commandRunner.start({ run, folder, timeout }).finally(stopLease),
  )
  const changes = await endOfCommand(fingerprint, started, report)
  await recordAside(async () => ({ ...changes, answer: null }))
}

const maxTouched = 20

/** Runs a command; reports its end and the changes of the work tree meanwhile. */
export async function reportCommand(
  { witness, commandApprovals }: Pick<Context, 'witness' | 'commandApprovals'>,
  command: PinnedCommand,
  start: () => Promise<CommandEnd>,
): Promise<CommandReport> {
  const look = () => witness.content(command.folder).catch(() => null)
  const before = await look()
  const end = await start()
  const after = await look()
  return {
    ...end,
    tree: after?.hash ?? null,
    touched: before && after ? pathsChangedBetween(before.stamps, after.stamps).slice(0, maxTouched) : null,
    hash: await commandApprovals.hashOf(command),
  }
}

/** The last part of an output goes into the log entry; the whole is kept beside it for a limited time. */
const maxInEvent = 2_000

/** The end of a command with its output. A result counts only for its tree and pinned files. */
export async function endOfCommand(
  fingerprint: Context['fingerprint'],
  command: Pick<CommandResult, 'id' | 'runId' | 'tree'>,
  report: CommandReport,
): Promise<{ readonly events: readonly NewProjectEvent[]; readonly sideWrites: readonly SideWrite[] }> {
  const { status, exitCode } = report
  const disturbance = disturbanceOf(fingerprint, command, report)
  const printed =
    disturbance === null
      ? report.output
      : appendLine(report.output, `This result does not count: ${disturbance}.`)
  const ended = {
    commandId: command.id,
    runId: command.runId,
    status,
    exitCode,
    treeHeld: disturbance === null,
  }
  if (printed.length <= maxInEvent) {
    return { events: [{ kind: 'command.ended', ...ended, output: printed }], sideWrites: [] }
  }
  // Stored text has no lone surrogates.
  const text = printed.toWellFormed()
  const bytes = new TextEncoder().encode(text)
  const whole = { sha256: await hexDigest('SHA-256', bytes), bytes: bytes.length }
  return {
    events: [{ kind: 'command.ended', ...ended, output: text.slice(-maxInEvent).toWellFormed(), whole }],
    sideWrites: [{ kind: 'output kept', commandId: command.id, text }],
  }
}

async function isAsApproved(
  { commandApprovals }: CommandContext,
  { command: { guard, hash }, folder }: CommandStart,
): Promise<boolean> {
  return (await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })) === hash
}

/** Why a result does not count for the tree; null if it counts. */
function disturbanceOf(
  fingerprint: Context['fingerprint'],
  { tree: expected }: Pick<CommandResult, 'tree'>,
  { tree, touched, hash }: CommandReport,
): string | null {
  if (tree === null || touched === null) return 'the work tree could not be measured after it ended'
  // The hash misses a file that was changed and changed back; its stamp does not.
  if (touched.length > 0) {
    const more = touched.length > maxNamed ? ` and ${touched.length - maxNamed} more` : ''
    return `${touched.slice(0, maxNamed).join(', ')}${more} changed while it ran`
  }
  const isOfThis = expected === tree || expected === fingerprint([tree, hash])
  return isOfThis ? null : 'the work tree or a pinned file changed before it ended'
}

const maxNamed = 5

type FileStamps = readonly (readonly [path: string, stamp: string])[]

function pathsChangedBetween(before: FileStamps, after: FileStamps): readonly string[] {
  const [was, is] = [new Map(before), new Map(after)]
  const gone = [...was.keys()].filter((one) => !is.has(one))
  return [...gone, ...[...is.keys()].filter((one) => is.get(one) !== was.get(one))].sort()
}

function appendLine(output: string, line: string): string {
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${line}`
}

async function isFolderBusy(
  reads: Reads,
  folder: string,
  runners: Parameters<typeof isStillRunning>[2],
): Promise<boolean> {
  for (const one of await reads.runs.commandsRunningIn(folder))
    if (await isStillRunning(reads, one, runners)) return true
  return false
}

/** Waits until no command runs in a folder. */
async function waitForFolder({ store, commandRunner, clock }: CommandContext, folder: string): Promise<void> {
  const runners = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: clock.now() }
  do await pause(pollMs)
  while (await store.view((reads) => isFolderBusy(reads, folder, { ...runners, now: clock.now() })))
}

async function waitForOther(
  handling: CommandContext,
  { command, tree, folder }: CommandStart,
): Promise<void> {
  const { store, commandRunner, clock } = handling
  const until = performance.now() + waitOf(handling)
  while (performance.now() < until) {
    const runs = await store.view(async (reads) => {
      const stored = await reads.runs.commandResult(
        { ...commandRequestFields(command), folder },
        command.tree ?? tree,
      )
      const runners = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: clock.now() }
      return stored?.status === 'running' && (await isStillRunning(reads, stored, runners))
    })
    if (!runs) return
    await pause(pollMs)
  }
}

function waitOf({ machine, commandWaitMs }: CommandContext): number {
  return commandWaitMs ?? (machine ? remoteWaitMs : waitMs)
}

async function pause(milliseconds: number): Promise<void> {
  await wait(milliseconds, processEnd)
  processEnd.throwIfAborted()
}

/** Waits for work up to a limit; the work continues after it. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  work.catch(() => undefined) // after the limit, the record shows how it ended
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** A guard's command in a folder. */
type GuardCommand = Pick<CommandRequest, 'run' | 'folder' | 'pinned'>
type RequestedGuardCommand = GuardCommand & { readonly hash: string; readonly isAnswered: boolean }

const maxFiles = 50
const maxDiffLength = 6_000
const maxScriptLength = 2_000

/** The request to approve a command: its pinned files with hashes, and their changes since an approval. */
function requestOf(
  machine: Context['machine'],
  { run, folder, pinned: files, hash }: GuardCommand & { readonly hash: string },
  { files: hashedFiles, before }: CommandQuestion,
): CommandRequest {
  return {
    kind: 'command',
    run,
    folder,
    pinned: files,
    hash,
    ...(machine && { machine: machine.id }),
    files: hashedFiles
      .slice(0, maxFiles)
      .map((file) =>
        file.text === undefined ? file : { ...file, text: excerpt(file.text, maxScriptLength) },
      ),
    before: before && {
      hash: before.hash,
      author: before.author,
      createdAt: before.createdAt,
      ...changesSince(before.difference),
    },
  }
}

function changesSince(difference: NonNullable<CommandQuestion['before']>['difference']) {
  if (difference === null) return { changed: null, diff: '' }
  const diff = difference.files.flatMap((file) => file.diff ?? []).join('')
  return {
    changed: difference.files.map((file) => file.path).slice(0, maxFiles),
    diff: diff.length > maxDiffLength ? `${diff.slice(0, maxDiffLength)}…\n` : diff,
  }
}

/** Asks a person about commands. Writes only if something changes. */
export async function askPerson(
  handling: CommandContext,
  owner: CommandOwner,
  commands: readonly QuestionedCommand[],
): Promise<void> {
  const settled = await handling.store.view((reads) => hasAllAnswers(reads, commands, handling.machine))
  if (settled) return
  await handling.recordAside(async (reads, setting) => ({
    events: await questionEvents(reads, commands, { owner, machine: handling.machine, setting }),
    answer: null,
  }))
}

/**
 * Opens an item for each unanswered command, once per machine, line and content; closes items about other content, and
 * answered ones.
 */
export async function questionEvents(
  reads: Reads,
  commands: readonly QuestionedCommand[],
  {
    owner,
    machine,
    setting,
  }: {
    readonly owner: CommandOwner
    readonly machine: Context['machine']
    readonly setting: TransactionContext
  },
): Promise<readonly NewProjectEvent[]> {
  const events: NewProjectEvent[] = []
  for (const command of commands) {
    const { isAnswered, question } = command
    const request = isAnswered || question === null ? null : requestOf(machine, command, question)
    const open = await openQuestions(reads, command, machine)
    const same = open.find((item) => hashOf(item) === command.hash)
    const place = machine ? `${command.folder} on ${machine.name}` : command.folder
    const rejected = request === null || same ? null : await similarRejection(reads, command)
    const warning = rejected
      ? ` ${rejected.author} rejected a similar command on ${instant(rejected.createdAt).slice(0, 10)}: "${rejected.run}".`
      : ''
    const reason = `${owner.name} needs the result of "${command.run}" in ${place}.${warning} ${approvalQuestion(request)}`
    const newItem = request === null || same ? null : commandItem(owner, { request, reason }, setting)
    const stale = open.filter((item) => hashOf(item) !== command.hash || isAnswered)
    const successor = newItem?.id ?? (isAnswered ? undefined : same?.id)
    events.push(...stale.map((item) => commandItemClosed(item, successor)))
    if (newItem) events.push({ kind: 'inbox.opened', item: newItem })
  }
  return events
}

function commandItem(
  { runId, missionId, taskId }: CommandOwner,
  { request, reason }: { readonly request: CommandRequest; readonly reason: string },
  setting: TransactionContext,
): InboxItem {
  const subject = { missionId, phaseId: null, taskId, attemptId: null }
  const opened = openInboxItem({ kind: 'command', reason, openedBy: 'waymark' }, subject, setting)
  return { ...opened, runId, request }
}

/** The script that a command names and its package.json does not have. */
function missingScript({ run, files = [] }: CommandRequest): string | null {
  const name = /^(?:npm|pnpm|yarn|bun) run (\S+)$/.exec(run.trim())?.[1]
  if (name === undefined || name.startsWith('-')) return null
  return files.some(({ path }) => path.endsWith(`package.json#${name}`)) ? null : name
}

/** The question of an item, with the changed files to review. */
function approvalQuestion(request: CommandRequest | null): string {
  const before = request?.before
  const script = request && missingScript(request)
  if (script) return `Waymark found no script "${script}" in package.json. May it run there all the same?`
  if (!before) return 'May Waymark run it there, now and later?'
  const changed = before.changed
  const what =
    changed === null || changed.length === 0
      ? 'Its files changed'
      : `${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''} changed`
  return `${what} since ${before.author} approved it. May the current version run there?`
}

async function hasAllAnswers(
  reads: Reads,
  commands: readonly RequestedGuardCommand[],
  machine: Context['machine'],
): Promise<boolean> {
  for (const command of commands) {
    const open = await openQuestions(reads, command, machine)
    const isAsked = open.some((item) => hashOf(item) === command.hash)
    if (open.some((item) => hashOf(item) !== command.hash) || command.isAnswered === isAsked) return false
  }
  return true
}

const maxOpen = 200

/** The questions of the machine itself: another may have the same folder. The one about this content is always found. */
async function openQuestions(
  { inboxItems }: Reads,
  { run, folder, hash }: RequestedGuardCommand,
  machine: Context['machine'],
): Promise<readonly InboxItem[]> {
  const [page, same] = await Promise.all([
    inboxItems.list({ kinds: ['command'], status: 'open' }, { limit: maxOpen }),
    inboxItems.openCommands(hash),
  ])
  const items = new Map([...page.items.map(({ item }) => item.item), ...same].map((item) => [item.id, item]))
  return [...items.values()].filter(
    ({ request }) =>
      request?.kind === 'command' &&
      (request.run === run || request.hash === hash) &&
      request.folder === folder &&
      request.machine === machine?.id,
  )
}

/** The question of a machine about a command, where one is open. */
export async function openQuestion(
  { inboxItems }: Reads,
  hash: string,
  machine: Context['machine'],
): Promise<InboxItem | null> {
  const items = await inboxItems.openCommands(hash)
  return items.find(({ request }) => request?.kind === 'command' && request.machine === machine?.id) ?? null
}

function hashOf({ request }: InboxItem): string | null {
  return request?.kind === 'command' ? request.hash : null
}

function commandItemClosed({ id, missionId, taskId }: InboxItem, by: string | undefined): NewProjectEvent {
  const answer = by === undefined ? 'It is unchanged since the last answer.' : `Its files changed: see ${by}.`
  return { kind: 'inbox.closed', itemId: id, missionId, taskId, status: 'dismissed', answer }
}
