import type {
  CommandApprovals,
  CommandEnd,
  CommandRunner,
  PinnedCommand,
  PinnedFile,
  RefusedCommand,
  RequestedCommand,
} from '../../gate/ports/command-runner.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'

/** A command with the pinned files that its hash covers, for a person at this machine to review. */
export interface CommandPreview extends PinnedCommand {
  readonly files: readonly PinnedFile[]
}

/** Shows a command to a person at this machine. Returns whether they approved it. */
export type AskPerson = (command: CommandPreview) => Promise<boolean>

export interface TrustedCommandsParts {
  /** This machine's own list. */
  readonly approvals: CommandApprovals
  readonly runner: Pick<CommandRunner, 'start'>
  /** Who uses this machine. */
  readonly actor: Actor
  /** Null without a person to ask: for an agent's connection, or output that is not a terminal. */
  readonly askPerson: AskPerson | null
  /** Whether the user connected with `--trust-commands`, asked each time: approvals at the server count here. */
  readonly trustsServer: () => boolean
  readonly now: () => number
}

/** Nobody can review a longer command by eye. */
const maxShown = { characters: 2_000, lines: 40 }

/**
 * Decides which commands of a server run on this machine. A person here must see and approve exactly this command.
 * The list of approvals is checked immediately before each start.
 */
export class TrustedCommands {
  readonly #parts: TrustedCommandsParts

  constructor(parts: TrustedCommandsParts) {
    this.#parts = parts
  }

  /** Whether an approval at the server counts here. */
  get trustsServer(): boolean {
    return this.#parts.trustsServer()
  }

  async isApproved(hash: string, approvedThere: boolean): Promise<boolean> {
    return (approvedThere && this.trustsServer) || (await this.#parts.approvals.isApproved(hash))
  }

  /** Fails unless a person here approves exactly this command. */
  async approve({ run, folder, pinned }: PinnedCommand, expectedHash: string): Promise<void> {
    const { approvals, actor, askPerson, now } = this.#parts
    const command = { run, folder, pinned }
    assertPerson(actor)
    const preview = await this.#measure(command)
    if (preview.hash !== expectedHash) throw commandChangedFailure(run)
    assertShowable(run)
    if (askPerson === null) throw notShownFailure(run)
    if (!(await askPerson({ ...command, files: preview.files }))) {
      throw new Failure('REFUSED', `"${run}" was not approved: you said no.`, {
        reason: 'command_declined',
        hint: 'To not be asked again: waymark reject <id> "<reason>"',
        details: { reason: 'command_declined' },
      })
    }
    const after = await this.#measure(command)
    // A file that changed during the review was not approved.
    if (after.hash !== preview.hash || !areEqual(after.files, preview.files)) throw commandChangedFailure(run)
    await approvals.approve({
      ...command,
      hash: after.hash,
      files: after.files,
      author: actor.name,
      createdAt: now(),
    })
  }

  /** Records a rejection by this machine's person. */
  async refuse(refusal: RefusedCommand): Promise<void> {
    const { approvals, actor, now } = this.#parts
    assertPerson(actor)
    await approvals.refuse({ ...refusal, author: actor.name, createdAt: now() })
  }

  /** Starts a command that is approved in its current state. */
  async start(request: RequestedCommand): Promise<{ readonly ended: Promise<CommandEnd> }> {
    const { approvals, runner } = this.#parts
    const { run, folder, pinned, timeout, hash, approvedThere } = request
    if (!(await this.isApproved(hash, approvedThere))) {
      throw new Failure('FORBIDDEN', `"${run}" was not run: nobody on this machine approved it.`, {
        reason: 'command_not_approved',
        hint: 'Approve it in a terminal on this machine (waymark inbox), or accept approvals from the server: waymark connect <url> --trust-commands',
        details: { reason: 'command_not_approved' },
      })
    }
    // The hash is checked last, so that little can change before the start.
    if ((await approvals.hashOf({ run, folder, pinned })) !== hash) throw commandChangedFailure(run)
    return { ended: runner.start({ run, folder, timeout }) }
  }

  async #measure(command: PinnedCommand) {
    const { approvals } = this.#parts
    const files = await approvals.filesOf(command)
    return { files, hash: await approvals.hashOf(command) }
  }
}

function assertPerson({ kind, name }: Actor): void {
  if (kind === 'person') return
  throw new Failure('FORBIDDEN', `Only people at this machine approve commands. ${name} is an agent.`, {
    reason: 'person_needed',
    hint: 'Ask a person to answer in a terminal on this machine: waymark inbox',
    details: { reason: 'person_needed' },
  })
}

function assertShowable(run: string): void {
  const lines = run.split('\n').length
  if (run.length <= maxShown.characters && lines <= maxShown.lines) return
  throw new Failure(
    'REFUSED',
    `The command was not approved: it has ${run.length} characters in ${lines} lines; at most ${maxShown.characters} characters in ${maxShown.lines} lines are shown.`,
    {
      reason: 'command_too_long',
      hint: 'Move it into a script, pin the script, and run that.',
      details: { reason: 'command_too_long' },
    },
  )
}

function notShownFailure(run: string): Failure {
  return new Failure(
    'REFUSED',
    `"${run}" was not approved: approving it here needs a terminal in which this machine shows it first.`,
    {
      reason: 'command_not_shown',
      hint: 'Run waymark inbox in a terminal on this machine, then waymark approve <id>.',
      details: { reason: 'command_not_shown' },
    },
  )
}

function commandChangedFailure(run: string): Failure {
  return new Failure('CONFLICT', `"${run}" or one of its pinned files changed on this machine.`, {
    reason: 'command_changed',
    hint: 'Review it again: waymark inbox',
    details: { reason: 'command_changed' },
  })
}

function areEqual(some: readonly PinnedFile[], others: readonly PinnedFile[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ path, sha256 }, at) => path === others[at]?.path && sha256 === others[at].sha256)
  )
}
