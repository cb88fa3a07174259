import type { Happening } from '../../../domain/fact.ts'
import { runHold } from '../../../domain/gate/run-holds.ts'
import type { RunRecord } from '../../../domain/gate/run-record.ts'
import type { ShownDifference, ShownParts } from '../../../domain/gate/shown.ts'
import type { Hold, HoldRequest } from '../../../domain/track/records.ts'
import type { ApprovedCommand } from '../../../ports/command-runner.ts'
import type { Reads } from '../../../ports/store.ts'
import type { Context, Handling } from '../../context.ts'

type CommandRequest = Extract<HoldRequest, { kind: 'command' }>
/** A command as a guard asks for it, in a folder. */
type Command = Pick<CommandRequest, 'run' | 'folder' | 'pinned'>

interface ShownCommand {
  readonly content: string
  readonly approvals: ReadonlyMap<string | null, string | null>
  readonly parts: () => Promise<ShownParts>
}

/** What somebody who approves a command is shown of it, as it is now. */
export async function shownOfCommand(context: Context, command: Command): Promise<ShownCommand> {
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
async function requestOf(context: Context, command: Command, hash: string): Promise<CommandRequest> {
  const { commandApprovals } = context
  const files = await commandApprovals.filesOf(command)
  const before = (await commandApprovals.list([command.folder])).find(({ run }) => run === command.run)
  const shown = await shownOfCommand(context, command)
  await context.shownContents.keep(shown.content, shown.parts)
  return {
    kind: 'command',
    ...command,
    hash,
    files: files.slice(0, mostFiles),
    before: before === undefined ? null : await sinceApproved(context, before, shown),
  }
}

async function sinceApproved(context: Context, before: ApprovedCommand, shown: ShownCommand) {
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

function diffText({ files }: ShownDifference): string {
  return files.flatMap(({ diff }) => diff ?? []).join('')
}

/**
 * Asks a person whether commands may run, once for each line and content; and ends the questions about those lines with
 * another content, which are not asked any more. Writes only where there is something to write.
 */
export async function askPerson(
  handling: Handling,
  run: Pick<RunRecord, 'id' | 'process' | 'missionId' | 'taskId'>,
  commands: readonly (Command & { readonly hash: string; readonly isAnswered: boolean })[],
): Promise<void> {
  const settled = await handling.store.view((reads) => areSettled(reads, commands))
  if (settled) return
  const asked = await Promise.all(
    commands.map(async (command) => {
      const { folder, pinned, hash } = command
      if (command.isAnswered) return { command, request: null }
      return { command, request: await requestOf(handling, { run: command.run, folder, pinned }, hash) }
    }),
  )
  await handling.recordAside(async (reads, setting) => {
    const happenings: Happening[] = []
    for (const { command, request } of asked) {
      const open = await openQuestions(reads, command)
      const same = open.find((hold) => hashOf(hold) === command.hash)
      const reason = `${run.process.name}, run ${run.id}, needs the result of "${command.run}" in ${command.folder}. ${mayIt(request)}`
      const made =
        request === null || same ? null : runHold(run, { kind: 'command', request, reason }, setting)
      const stale = open.filter((hold) => hashOf(hold) !== command.hash)
      const by = made?.id ?? same?.id
      happenings.push(...stale.map((hold) => closed(hold, by)))
      if (made) happenings.push({ kind: 'hold.opened', hold: made })
    }
    return { happenings, answer: null }
  })
}

/** What is asked, and what is to be looked at before the answer. */
function mayIt(request: CommandRequest | null): string {
  const before = request?.before
  if (!before) return 'May it be run there whenever a guard asks for it?'
  const changed = before.changed
  const what =
    changed === null || changed.length === 0
      ? 'What it runs changed'
      : `${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''} changed`
  return `${what} since ${before.by} approved it. May it be run there as it is now?`
}

async function areSettled(
  reads: Reads,
  commands: readonly (Command & { readonly hash: string; readonly isAnswered: boolean })[],
): Promise<boolean> {
  for (const command of commands) {
    const open = await openQuestions(reads, command)
    const isAsked = open.some((hold) => hashOf(hold) === command.hash)
    if (open.some((hold) => hashOf(hold) !== command.hash) || !(command.isAnswered || isAsked)) return false
  }
  return true
}

const mostOpen = 200

async function openQuestions({ holds }: Reads, { run, folder }: Command): Promise<readonly Hold[]> {
  const page = await holds.list({ kinds: ['command'], status: 'open' }, { limit: mostOpen })
  return page.items
    .map(({ item }) => item.hold)
    .filter(({ request }) => request?.kind === 'command' && request.run === run && request.folder === folder)
}

function hashOf({ request }: Hold): string | null {
  return request?.kind === 'command' ? request.hash : null
}

function closed({ id, missionId, taskId }: Hold, by: string | undefined): Happening {
  const answer = by === undefined ? 'It is as it was answered before.' : `Its files changed: asked as ${by}.`
  return { kind: 'hold.closed', holdId: id, missionId, taskId, status: 'dismissed', answer }
}
