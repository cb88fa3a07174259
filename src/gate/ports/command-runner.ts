export interface CommandLine {
  /** Run by the system's shell. */
  readonly run: string
  /** Absolute path. */
  readonly folder: string
  /** Milliseconds. */
  readonly timeout: number
}

export interface CommandEnd {
  readonly status: 'passed' | 'failed' | 'timed_out' | 'stopped'
  readonly exitCode: number | null
  /** The end of what it printed on both outputs, at most 20,000 characters. */
  readonly output: string
}

/** A command of a guard that a record elsewhere wants run on the machine of a caller. */
export interface RequestedCommand extends CommandLine, PinnedCommand {
  /** Of its result. */
  readonly id: string
  /** Of the line with the content of the pinned files, as it is expected. */
  readonly hash: string
  /** Whether a person approved it at the server. */
  readonly approvedThere: boolean
}

/** How a command ended, and what became of the work tree meanwhile. */
export interface CommandReport extends CommandEnd {
  /** Hash of the work tree when it had ended; null where it could not be measured. */
  readonly tree: string | null
  /** The first of the files that were written meanwhile; null where that is not known. */
  readonly touched: readonly string[] | null
  /** Of the command with its pinned files, when it had ended. */
  readonly hash: string
}

/** Runs commands on a machine, which looks by itself whether they were approved there. */
export interface RemoteRunner {
  /** Null where it goes on: its end is told later. The same command is run once. */
  run(command: RequestedCommand): Promise<CommandReport | null>
}

/** Runs commands of guards, without input and apart from this process' terminal. */
export interface CommandRunner {
  /** Names this process, so that others can tell whether it still runs: `host:pid`. */
  readonly name: string
  /** Resolves when the command has ended; never rejects: what cannot be started has failed. */
  start(command: CommandLine): Promise<CommandEnd>
  /** Whether a runner of that name still runs. Null for one on another machine, which cannot be asked. */
  isAlive(runner: string): boolean | null
  /** Ends every command that runs, with its children. */
  stop(): Promise<void>
}

/** A command line in a folder; `pinned` are paths relative to it, a folder standing for every file in it. */
export interface PinnedCommand {
  readonly run: string
  readonly folder: string
  readonly pinned: readonly string[]
}

/** A pinned file with the SHA-256 of its content; null where there is none, a word for what is no file. */
export interface PinnedFile {
  readonly path: string
  readonly sha256: string | null
}

export interface ApprovedCommand extends PinnedCommand {
  readonly hash: string
  /** As they were when it was approved. */
  readonly files: readonly PinnedFile[]
  readonly author: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** A command, with these very files, that a person said no to. */
export interface RefusedCommand extends ApprovedCommand {
  readonly reason: string
}

/** What a person allows the server to run. Kept outside the project, where agents do not commit. */
export interface CommandApprovals {
  /** The hash of a command, its folder and the content of the pinned files; a missing one counts as such. */
  hashOf(command: PinnedCommand): Promise<string>
  /** The files that its hash is of. */
  filesOf(command: PinnedCommand): Promise<readonly PinnedFile[]>
  isApproved(hash: string): Promise<boolean>
  approve(approval: Omit<ApprovedCommand, 'files' | 'pinned'> & Partial<ApprovedCommand>): Promise<void>
  /** Those of these folders, the newest first. */
  list(folders: readonly string[]): Promise<readonly ApprovedCommand[]>
  /** Keeps a no: it is not asked about again until it or a pinned file changes, or the no is taken back. */
  refuse(refusal: RefusedCommand): Promise<void>
  refusalOf(hash: string): Promise<RefusedCommand | null>
  /** Those of these folders, the newest first. */
  refused(folders: readonly string[]): Promise<readonly RefusedCommand[]>
  /** Takes an approval or a refusal back, if there is one. */
  revoke(hash: string): Promise<void>
}
