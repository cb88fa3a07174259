import { z } from 'zod'
import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { type CommandResultId, idPrefixes } from '../../../kernel/id.ts'
import { hexDigest } from '../../../kernel/operations/digest.ts'
import { list, pinned, sha } from '../../../kernel/operations/fields.ts'
import { measurement, type PreparationStep } from '../../../kernel/operations/measurement.ts'
import type { CommandContext, Context, RecordContext } from '../../../kernel/operations/operation.ts'
import { processEnd } from '../../../kernel/process-end.ts'
import type { Reads, SideWrite } from '../../../store/ports/store.ts'
import type { CommandRequest, InboxItem } from '../../../track/domain/records.ts'
import { runItem } from '../../domain/decisions.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { CommandResult, RunRecord } from '../../domain/run.ts'
import type { CommandEnd, CommandReport, PinnedCommand } from '../../ports/command-runner.ts'
import type { ApprovableCommand, ExternalState } from './external-state.ts'
import { isStillRunning, keepLease } from './lease.ts'
import type { CommandQuestion, MeasurementQuestions } from './measurements.ts'

/** How long an event waits for its commands, in milliseconds; they go on when it is over. */
const patience = 25_000
/** The same for a call from another machine, which waits ten seconds for an answer. */
const patienceAway = 5_000
const pollEvery = 250

const commandId = z.string().max(100)
export const commandReportShape = {
  status: z.enum(['passed', 'failed', 'timed_out', 'stopped']),
  output: z.string().max(40_000),
  tree: z.string().max(200).nullable(),
  touched: z.array(z.string().max(4_096)).max(20).nullable(),
  hash: sha.max(64),
}

/** Commands that were begun for this call, run on the machine that has the files. */
export const commandRuns = measurement({
  brief: list(
    pinned.extend({ id: commandId, timeout: z.number().positive(), hash: sha, approvedThere: z.boolean() }),
    1_000,
  ),
  measured: list(
    z.strictObject({
      id: commandId,
      /** Null: it goes on, and its end is told later. */
      report: z.strictObject({ ...commandReportShape, exitCode: z.int().nullable() }).nullable(),
    }),
    1_000,
  ),
  fits: (asked, ran) => asked.length === ran.length && ran.every(({ id }, at) => id === asked[at]?.id),
  measure: ({ remoteCommands }, commands) => {
    if (!remoteCommands)
      throw new Error('Commands of guards are measured only for a record on another machine.')
    return Promise.all(
      commands.map(async (command) => ({ id: command.id, report: await remoteCommands.run(command) })),
    )
  },
})

interface CommandsToRun {
  readonly context: Pick<RecordContext, 'actor' | 'machine' | 'callKey' | 'fingerprint'>
  readonly record: RunRecord
  readonly external: ExternalState
  /** Runs those that have a result, too. */
  readonly again?: boolean
}

/**
 * What is done about the commands of an event's guards before it is decided: a person is asked where one was never
 * approved, and what did not run yet on the tree as it is runs (one per command and tree, in whatever process). Null until
 * what was begun for this call on another machine was run there. A command is named to that machine only while the record
 * says that it runs.
 */
export async function prepareCommandRuns(
  reads: Reads,
  questions: Pick<MeasurementQuestions<{ ran: typeof commandRuns }>, 'ask'>,
  running: CommandsToRun,
): Promise<PreparationStep | undefined | null> {
  const { context, external } = running
  const { tree, folder } = external
  const own = ownCommands(running)
  if (tree === null || own.length === 0) return undefined
  const ended: { readonly command: CommandResult; readonly report: CommandReport }[] = []
  let isWhole = true
  for (const command of context.machine ? own.filter(({ approved }) => approved) : []) {
    const { guard, hash, approvedThere } = command
    const begun = await reads.runs.commandResult(
      { ...commandRequestFields(command), folder },
      command.tree ?? tree,
    )
    if (begun?.status !== 'running' || begun.id !== idInCall(context, command)) continue
    const { run, timeout } = guard
    const { id } = begun
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
    else if (ran.report) ended.push({ command: begun, report: ran.report })
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

/** What a runner is to run is neither run nor asked about for anybody else. */
function ownCommands({ context: { actor }, external }: CommandsToRun): readonly ApprovableCommand[] {
  return external.commands.filter(({ guard }) => guard.by !== 'runner' || actor.runner === true)
}

async function runCommands(handling: CommandContext, running: CommandsToRun): Promise<void> {
  const { record, external } = running
  const { tree, folder } = external
  if (tree === null) return
  const own = ownCommands(running)
  await askPerson(
    handling,
    record,
    own.map(({ guard, hash, approved, refusal, question }) => {
      const isAnswered = approved || refusal !== null
      return { run: guard.run, folder, pinned: guard.pinned, hash, isAnswered, question }
    }),
  )
  const under = own
    .filter(({ approved }) => approved)
    .map((command) => begin(handling, record, { command, tree, folder, again: running.again ?? false }))
  const all = Promise.all(under)
  // The command line ends with its answer, and its commands with it: there they are waited for.
  await (handling.actor.channel === 'cli' && !handling.machine ? all : waitAtMost(patienceOf(handling), all))
}

interface CommandStart {
  readonly command: ApprovableCommand
  readonly tree: string
  readonly folder: string
  /** Runs it although there is a result for this tree. */
  readonly again: boolean
}

/** Resolves when the command has a result for the tree, from this process or another; or is begun on another machine. */
async function begin(handling: CommandContext, run: RunRecord, beginning: CommandStart): Promise<void> {
  // What a person approved is what runs: a pinned file that changed since this was judged is asked about first.
  if (!handling.machine && !(await isAsApproved(handling, beginning))) return
  const started = await claim(handling, run, beginning)
  if (started === 'known') return
  if (started === 'elsewhere') return waitForOther(handling, beginning)
  if (!handling.machine) await runLocally(handling, beginning, started)
}

/** Writes that the command runs for its caller, unless it has a result or runs already: decided under the lock. */
function claim(
  handling: CommandContext,
  run: RunRecord,
  { command, tree, folder, again }: CommandStart,
): Promise<CommandResult | 'known' | 'elsewhere'> {
  const { recordAside, commandRunner, actor } = handling
  const inCall = idInCall(handling, command)
  return recordAside<CommandResult | 'known' | 'elsewhere'>(async (reads, setting) => {
    const key = command.tree ?? tree
    const known = await reads.runs.commandResult({ ...commandRequestFields(command), folder }, key)
    if (inCall !== null && (await reads.runs.command(inCall))) return { events: [], answer: 'known' }
    const around = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: setting.at }
    const running = known?.status === 'running' && (await isStillRunning(reads, known, around))
    if (running) return { events: [], answer: 'elsewhere' as const }
    const counts = known?.treeHeld === true && !['running', 'stopped'].includes(known.status)
    if (counts && !again) return { events: [], answer: 'known' as const }
    const started: CommandResult = {
      id: inCall ?? setting.ids.next('commandResult'),
      runId: run.id,
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

/** The id of a command in a call of another machine, by which it is known again when the call is sent again. */
function idInCall(
  { machine, callKey, fingerprint }: CommandsToRun['context'],
  { hash, tree }: ApprovableCommand,
): CommandResultId | null {
  if (!machine || callKey === undefined) return null
  return `${idPrefixes.commandResult}-${fingerprint([callKey, hash, tree]).slice(0, 15)}` as CommandResultId // of its kind
}

/** The line, and by whom its result counts. */
function commandRequestFields({ guard: { run, by } }: ApprovableCommand): Pick<CommandGuard, 'run' | 'by'> {
  return { run, ...(by && { by }) }
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

/** Starts a command, and says how it ended and what became of the work tree meanwhile. */
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

/** So much of what a command printed, from its end, is in a log entry; the whole of it is kept beside, for a while. */
const maxInEvent = 2_000

/** The end of a command with what it printed. A result counts only for the tree and the pinned files that it is of. */
export async function endOfCommand(
  fingerprint: Context['fingerprint'],
  command: Pick<CommandResult, 'id' | 'runId' | 'tree'>,
  report: CommandReport,
): Promise<{ readonly events: readonly NewProjectEvent[]; readonly beside: readonly SideWrite[] }> {
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
    return { events: [{ kind: 'command.ended', ...ended, output: printed }], beside: [] }
  }
  // Text as it is stored has no halves of characters.
  const text = printed.toWellFormed()
  const bytes = new TextEncoder().encode(text)
  const whole = { sha256: await hexDigest('SHA-256', bytes), bytes: bytes.length }
  return {
    events: [{ kind: 'command.ended', ...ended, output: text.slice(-maxInEvent).toWellFormed(), whole }],
    beside: [{ kind: 'output kept', commandId: command.id, text }],
  }
}

async function isAsApproved(
  { commandApprovals }: CommandContext,
  { command: { guard, hash }, folder }: CommandStart,
): Promise<boolean> {
  return (await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })) === hash
}

/** What became of the tree while a command ran, so that it does not tell of this one; null where nothing did. */
function disturbanceOf(
  fingerprint: Context['fingerprint'],
  { tree: expected }: Pick<CommandResult, 'tree'>,
  { tree, touched, hash }: CommandReport,
): string | null {
  if (tree === null || touched === null) return 'the work tree could not be measured after it ended'
  // Of a file that was changed and changed back the hash says nothing, and its stamp does.
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

async function waitForOther(
  handling: CommandContext,
  { command, tree, folder }: CommandStart,
): Promise<void> {
  const { store, commandRunner, clock } = handling
  const until = performance.now() + patienceOf(handling)
  while (performance.now() < until) {
    const runs = await store.view(async (reads) => {
      const known = await reads.runs.commandResult(
        { ...commandRequestFields(command), folder },
        command.tree ?? tree,
      )
      const around = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: clock.now() }
      return known?.status === 'running' && (await isStillRunning(reads, known, around))
    })
    if (!runs) return
    await pause(pollEvery)
  }
}

function patienceOf({ machine }: CommandContext): number {
  return machine ? patienceAway : patience
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  processEnd.throwIfAborted()
}

/** Waits for work at most so long; the work goes on. */
async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  work.catch(() => undefined) // once no one waits for it any more, what it recorded tells
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** A command as a guard asks for it, in a folder. */
type GuardCommand = Pick<CommandRequest, 'run' | 'folder' | 'pinned'>
type RequestedGuardCommand = GuardCommand & { readonly hash: string; readonly isAnswered: boolean }

const maxFiles = 50
const maxDiffLength = 6_000

/** The question whether a command may run: its pinned files with their hashes, and what became of them since a yes. */
function requestOf(
  { machine }: Pick<Context, 'machine'>,
  { run, folder, pinned: files, hash }: GuardCommand & { readonly hash: string },
  { files: known, before }: CommandQuestion,
): CommandRequest {
  return {
    kind: 'command',
    run,
    folder,
    pinned: files,
    hash,
    ...(machine && { machine: machine.id }),
    files: known.slice(0, maxFiles),
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

/**
 * Asks a person whether commands may run, once for each line and content; and ends the questions about those lines with
 * another content, which are not asked any more. Writes only where there is something to write.
 */
export async function askPerson(
  handling: CommandContext,
  run: Pick<RunRecord, 'id' | 'process' | 'missionId' | 'taskId'>,
  commands: readonly (RequestedGuardCommand & { readonly question: CommandQuestion | null })[],
): Promise<void> {
  const settled = await handling.store.view((reads) => hasAllAnswers(reads, commands))
  if (settled) return
  const asked = commands.map((command) => {
    const { isAnswered, question } = command
    return {
      command,
      request: isAnswered || question === null ? null : requestOf(handling, command, question),
    }
  })
  await handling.recordAside(async (reads, setting) => {
    const events: NewProjectEvent[] = []
    for (const { command, request } of asked) {
      const open = await openQuestions(reads, command)
      const same = open.find((item) => hashOf(item) === command.hash)
      const reason = `Run ${run.id} of ${run.process.name} needs the result of "${command.run}" in ${command.folder}. ${approvalQuestion(request)}`
      const made =
        request === null || same ? null : runItem(run, { kind: 'command', request, reason }, setting)
      const stale = open.filter((item) => hashOf(item) !== command.hash)
      const by = made?.id ?? same?.id
      events.push(...stale.map((item) => commandItemClosed(item, by)))
      if (made) events.push({ kind: 'inbox.opened', item: made })
    }
    return { events, answer: null }
  })
}

/** What is asked, and what is to be looked at before the answer. */
function approvalQuestion(request: CommandRequest | null): string {
  const before = request?.before
  if (!before) return 'May it run there whenever a guard needs it?'
  const changed = before.changed
  const what =
    changed === null || changed.length === 0
      ? 'Its files changed'
      : `${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''} changed`
  return `${what} since ${before.author} approved it. May it run there as it is now?`
}

async function hasAllAnswers(reads: Reads, commands: readonly RequestedGuardCommand[]): Promise<boolean> {
  for (const command of commands) {
    const open = await openQuestions(reads, command)
    const isAsked = open.some((item) => hashOf(item) === command.hash)
    if (open.some((item) => hashOf(item) !== command.hash) || !(command.isAnswered || isAsked)) return false
  }
  return true
}

const maxOpen = 200

async function openQuestions(
  { inboxItems }: Reads,
  { run, folder }: GuardCommand,
): Promise<readonly InboxItem[]> {
  const page = await inboxItems.list({ kinds: ['command'], status: 'open' }, { limit: maxOpen })
  return page.items
    .map(({ item }) => item.item)
    .filter(({ request }) => request?.kind === 'command' && request.run === run && request.folder === folder)
}

function hashOf({ request }: InboxItem): string | null {
  return request?.kind === 'command' ? request.hash : null
}

function commandItemClosed({ id, missionId, taskId }: InboxItem, by: string | undefined): NewProjectEvent {
  const answer = by === undefined ? 'It is unchanged since the last answer.' : `Its files changed: see ${by}.`
  return { kind: 'inbox.closed', itemId: id, missionId, taskId, status: 'dismissed', answer }
}
