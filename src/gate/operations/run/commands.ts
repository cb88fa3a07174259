import type { ProjectEventOf } from '../../../events/domain/event-kinds.ts'
import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { processEnd } from '../../../kernel/ending.ts'
import { hexDigest } from '../../../kernel/operations/digest.ts'
import type { CommandContext, Context, QueryContext } from '../../../kernel/operations/operation.ts'
import type { Reads, SideWrite } from '../../../store/ports/store.ts'
import type { InboxItem, InboxItemRequest } from '../../../track/domain/records.ts'
import type { ContentDifference, ContentParts } from '../../domain/approved-content.ts'
import { runItem } from '../../domain/decisions.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { CommandResult, RunRecord } from '../../domain/run.ts'
import type { ApprovedCommand } from '../../ports/command-runner.ts'
import type { ApprovableCommand, ExternalState } from './external-state.ts'
import { isStillRunning, keepLease } from './lease.ts'

/** How long an event waits for its commands, in milliseconds; they go on when it is over. */
const patience = 25_000
/** The same for a call from another machine, which waits ten seconds for an answer. */
const patienceAway = 5_000
const pollEvery = 250

/**
 * Sees to it that the commands of an event's guards have run on the tree as it is: asks a person where one was never
 * approved, starts what did not run yet (one per command and tree, in whatever process), and waits a while.
 */
export async function runCommands(
  handling: CommandContext,
  run: RunRecord,
  external: ExternalState,
  { again = false }: { readonly again?: boolean } = {},
): Promise<void> {
  const { tree } = external
  if (tree === null) return
  const { folder } = external
  // What a runner is to run is neither run nor asked about for anybody else.
  const own = external.commands.filter(({ guard }) => guard.by !== 'runner' || handling.actor.runner === true)
  const asked = own.map(({ guard, hash, approved, refusal }) => {
    return { run: guard.run, folder, pinned: guard.pinned, hash, isAnswered: approved || refusal !== null }
  })
  await askPerson(handling, run, asked)
  const approved = own.filter((command) => command.approved)
  const under = approved.map((command) =>
    begin(handling, run, { command, tree, stamps: external.stamps, folder: external.folder, again }),
  )
  const all = Promise.all(under)
  // The command line ends with its answer, and its commands with it: there they are waited for.
  await (handling.actor.channel === 'cli' ? all : waitAtMost(patienceOf(handling), all))
}

interface CommandStart {
  readonly command: ApprovableCommand
  readonly tree: string
  readonly stamps: ExternalState['stamps']
  readonly folder: string
  /** Runs it although there is a result for this tree. */
  readonly again: boolean
}

/** Resolves when the command has a result for the tree, from this process or another. */
async function begin(handling: CommandContext, run: RunRecord, beginning: CommandStart): Promise<void> {
  // What a person approved is what runs: a pinned file that changed since this was judged is asked about first.
  if (!(await isAsApproved(handling, beginning))) return
  const started = await claim(handling, run, beginning)
  if (started === 'known') return
  if (started === 'elsewhere') return waitForOther(handling, beginning)
  await runLocally(handling, beginning, started)
}

/** Writes that the command runs here, unless it has a result or runs already: decided under the lock. */
function claim(
  { recordAside, commandRunner, actor }: CommandContext,
  run: RunRecord,
  { command, tree, folder, again }: CommandStart,
): Promise<CommandResult | 'known' | 'elsewhere'> {
  return recordAside<CommandResult | 'known' | 'elsewhere'>(async (reads, setting) => {
    const key = command.tree ?? tree
    const known = await reads.runs.commandResult({ ...commandRequestFields(command), folder }, key)
    const isOwn = known?.runner === commandRunner.name
    if (isOwn && known.status === 'running' && commandRunner.away?.isBeginning(known.id)) {
      return { facts: [], answer: known }
    }
    const around = { isAlive: (runner: string) => commandRunner.isAlive(runner), now: setting.at }
    const running = known?.status === 'running' && (await isStillRunning(reads, known, around))
    if (running) return { facts: [], answer: 'elsewhere' as const }
    const counts = known?.treeHeld === true && !['running', 'stopped'].includes(known.status)
    if (counts && !again) return { facts: [], answer: 'known' as const }
    const started: CommandResult = {
      id: setting.ids.next('commandResult'),
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
    return { facts: [{ kind: 'command.started', command: started }], answer: started }
  })
}

/** The line, and by whom its result counts. */
function commandRequestFields({ guard: { run, by } }: ApprovableCommand): Pick<CommandGuard, 'run' | 'by'> {
  return { run, ...(by && { by }) }
}

async function runLocally(
  handling: CommandContext,
  beginning: CommandStart,
  started: CommandResult,
): Promise<void> {
  const { commandRunner, recordAside } = handling
  const { guard, hash } = beginning.command
  const { run, timeout, pinned } = guard
  const line = { run, folder: beginning.folder, timeout }
  const { away } = commandRunner
  // Away, the machine that runs it keeps its lease.
  const stopLease = away ? () => undefined : keepLease(recordAside, started.id)
  const end = await (away ? away.start({ ...line, id: started.id, pinned, hash }) : commandRunner.start(line))
  stopLease()
  if (end === null) return
  const { status, exitCode, output } = end
  const disturbance = await disturbanceOf(handling, beginning)
  const printed =
    disturbance === null ? output : appendLine(output, `This result does not count: ${disturbance}.`)
  const ended = await endOfCommand(
    { commandId: started.id, runId: started.runId, status, exitCode, treeHeld: disturbance === null },
    printed,
  )
  await recordAside(async () => ({ ...ended, answer: null }))
}

/** So much of what a command printed, from its end, is in a fact; the whole of it is kept beside, for a while. */
const mostInFact = 2_000

/** The end of a command with what it printed. */
export async function endOfCommand(
  ended: Omit<ProjectEventOf<'command.ended'>, 'kind' | 'output' | 'whole'>,
  printed: string,
): Promise<{ readonly facts: readonly NewProjectEvent[]; readonly beside: readonly SideWrite[] }> {
  if (printed.length <= mostInFact) {
    return { facts: [{ kind: 'command.ended', ...ended, output: printed }], beside: [] }
  }
  // Text as it is stored has no halves of characters.
  const text = printed.toWellFormed()
  const bytes = new TextEncoder().encode(text)
  const whole = { sha256: await hexDigest('SHA-256', bytes), bytes: bytes.length }
  return {
    facts: [{ kind: 'command.ended', ...ended, output: text.slice(-mostInFact).toWellFormed(), whole }],
    beside: [{ kind: 'output kept', commandId: ended.commandId, text }],
  }
}

async function isAsApproved(
  { commandApprovals }: CommandContext,
  { command: { guard, hash }, folder }: CommandStart,
): Promise<boolean> {
  return (await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })) === hash
}

/** What became of the tree while a command ran, so that it does not tell of this one; null where nothing did. */
async function disturbanceOf(handling: CommandContext, beginning: CommandStart): Promise<string | null> {
  const { tree, stamps, folder } = beginning
  const after = await handling.witness.content(folder).catch(() => null)
  if (after === null) return 'the work tree could not be measured when it had ended'
  // Of a file that was changed and changed back the hash says nothing, and its stamp does.
  const touched = pathsChangedBetween(stamps, after.stamps)
  if (touched.length > 0) {
    const more = touched.length > mostNamed ? ` and ${touched.length - mostNamed} more` : ''
    return `${touched.slice(0, mostNamed).join(', ')}${more} changed while it ran`
  }
  if (after.hash !== tree) return 'the work tree changed before it began'
  return (await isAsApproved(handling, beginning)) ? null : 'a pinned file changed while it ran'
}

const mostNamed = 5

function pathsChangedBetween(
  before: ExternalState['stamps'],
  after: ExternalState['stamps'],
): readonly string[] {
  const [was, is] = [new Map(before), new Map(after)]
  const gone = [...was.keys()].filter((path) => !is.has(path))
  return [...gone, ...[...is.keys()].filter((path) => is.get(path) !== was.get(path))].sort()
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

function patienceOf({ edge }: CommandContext): number {
  return edge ? patienceAway : patience
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

type CommandRequest = Extract<InboxItemRequest, { kind: 'command' }>
/** A command as a guard asks for it, in a folder. */
type GuardCommand = Pick<CommandRequest, 'run' | 'folder' | 'pinned'>

interface CommandContent {
  readonly content: string
  readonly approvals: ReadonlyMap<string | null, string | null>
  readonly parts: () => Promise<ContentParts>
}

/** Keeps what a content is of, which is looked at only where it is not kept already. */
export async function storeShownCommand(
  { shownContents }: Pick<Context, 'shownContents'>,
  { content, parts }: Pick<CommandContent, 'content' | 'parts'>,
): Promise<void> {
  if (!(await shownContents.isKept(content))) await shownContents.keep(content, await parts())
}

/** What a person who approves a command is shown of it, as it is now. */
export async function shownCommandOf(context: QueryContext, command: GuardCommand): Promise<CommandContent> {
  const { commandApprovals, evidenceFiles } = context
  return {
    content: await commandApprovals.hashOf(command),
    approvals: new Map(),
    parts: async () => {
      const files = await commandApprovals.filesOf(command)
      return {
        files: await evidenceFiles.contents(
          command.folder,
          files.map(({ path }) => path),
        ),
        facts: { command: command.run, folder: command.folder },
      }
    },
  }
}

const mostFiles = 50
const longestDiff = 6_000

/** The question whether a command may run: its pinned files with their hashes, and what became of them since a yes. */
async function requestOf(context: Context, command: GuardCommand, hash: string): Promise<CommandRequest> {
  const { commandApprovals } = context
  const files = await commandApprovals.filesOf(command)
  const before = (await commandApprovals.list([command.folder])).find(({ run }) => run === command.run)
  const shown = await shownCommandOf(context, command)
  await storeShownCommand(context, shown)
  return {
    kind: 'command',
    ...command,
    hash,
    ...(context.edge && { edge: context.edge.id }),
    files: files.slice(0, mostFiles),
    before: before === undefined ? null : await changesSinceApproval(context, before, shown),
  }
}

async function changesSinceApproval(context: Context, before: ApprovedCommand, shown: CommandContent) {
  const { hash, by, at } = before
  const difference = await context.shownContents.since(hash, await shown.parts())
  const diff = difference === null ? '' : diffText(difference)
  return {
    hash,
    by,
    at,
    changed: difference === null ? null : difference.files.map(({ path }) => path).slice(0, mostFiles),
    diff: diff.length > longestDiff ? `${diff.slice(0, longestDiff)}…\n` : diff,
  }
}

function diffText({ files }: ContentDifference): string {
  return files.flatMap(({ diff }) => diff ?? []).join('')
}

/**
 * Asks a person whether commands may run, once for each line and content; and ends the questions about those lines with
 * another content, which are not asked any more. Writes only where there is something to write.
 */
export async function askPerson(
  handling: CommandContext,
  run: Pick<RunRecord, 'id' | 'process' | 'missionId' | 'taskId'>,
  commands: readonly (GuardCommand & { readonly hash: string; readonly isAnswered: boolean })[],
): Promise<void> {
  const settled = await handling.store.view((reads) => hasAllAnswers(reads, commands))
  if (settled) return
  const asked = await Promise.all(
    commands.map(async (command) => {
      const { folder, pinned, hash } = command
      if (command.isAnswered) return { command, request: null }
      return { command, request: await requestOf(handling, { run: command.run, folder, pinned }, hash) }
    }),
  )
  await handling.recordAside(async (reads, setting) => {
    const facts: NewProjectEvent[] = []
    for (const { command, request } of asked) {
      const open = await openQuestions(reads, command)
      const same = open.find((hold) => hashOf(hold) === command.hash)
      const reason = `Run ${run.id} of ${run.process.name} needs the result of "${command.run}" in ${command.folder}. ${approvalQuestion(request)}`
      const made =
        request === null || same ? null : runItem(run, { kind: 'command', request, reason }, setting)
      const stale = open.filter((hold) => hashOf(hold) !== command.hash)
      const by = made?.id ?? same?.id
      facts.push(...stale.map((hold) => commandItemClosed(hold, by)))
      if (made) facts.push({ kind: 'hold.opened', hold: made })
    }
    return { facts, answer: null }
  })
}

/** What is asked, and what is to be looked at before the answer. */
function approvalQuestion(request: CommandRequest | null): string {
  const before = request?.before
  if (!before) return 'May it be run there whenever a guard asks for it?'
  const changed = before.changed
  const what =
    changed === null || changed.length === 0
      ? 'What it runs changed'
      : `${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''} changed`
  return `${what} since ${before.by} approved it. May it be run there as it is now?`
}

async function hasAllAnswers(
  reads: Reads,
  commands: readonly (GuardCommand & { readonly hash: string; readonly isAnswered: boolean })[],
): Promise<boolean> {
  for (const command of commands) {
    const open = await openQuestions(reads, command)
    const isAsked = open.some((hold) => hashOf(hold) === command.hash)
    if (open.some((hold) => hashOf(hold) !== command.hash) || !(command.isAnswered || isAsked)) return false
  }
  return true
}

const mostOpen = 200

async function openQuestions({ holds }: Reads, { run, folder }: GuardCommand): Promise<readonly InboxItem[]> {
  const page = await holds.list({ kinds: ['command'], status: 'open' }, { limit: mostOpen })
  return page.items
    .map(({ item }) => item.hold)
    .filter(({ request }) => request?.kind === 'command' && request.run === run && request.folder === folder)
}

function hashOf({ request }: InboxItem): string | null {
  return request?.kind === 'command' ? request.hash : null
}

function commandItemClosed({ id, missionId, taskId }: InboxItem, by: string | undefined): NewProjectEvent {
  const answer = by === undefined ? 'It is as it was answered before.' : `Its files changed: asked as ${by}.`
  return { kind: 'hold.closed', holdId: id, missionId, taskId, status: 'dismissed', answer }
}
