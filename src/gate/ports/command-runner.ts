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
  /** The end of its output, both streams, at most 20,000 characters. */
  readonly output: string
}

/** A command of a guard that a record elsewhere wants run on the machine of a caller. */
export interface RequestedCommand extends CommandLine, PinnedCommand {
  /** The id of its result. */
  readonly id: string
  /** The expected hash of the line with the content of the pinned files. */
  readonly hash: string
  /** Whether a person approved it at the server. */
  readonly approvedThere: boolean
}

/** The end of a command, with the changes of the work tree meanwhile. */
export interface CommandReport extends CommandEnd {
  /** Hash of the work tree after its end; null if it could not be measured. */
  readonly tree: string | null
  /** The first files that were written meanwhile; null if unknown. */
  readonly touched: readonly string[] | null
  /** Hash of the command with its pinned files after its end. */
  readonly hash: string
}

/** Runs commands on a machine, which checks itself whether they were approved there. */
export interface RemoteRunner {
  /** Null while it runs: its end is reported later. The same command runs once. */
  run(command: RequestedCommand): Promise<CommandReport | null>
}

/** Runs commands of guards, without input and apart from this process' terminal. */
export interface CommandRunner {
  /** The name of this process, by which others can check whether it still runs: `host:pid`. */
  readonly name: string
  /** Resolves when the command ended; never rejects: a command that cannot be started has failed. */
  start(command: CommandLine): Promise<CommandEnd>
  /** Whether a runner of this name still runs. Null for one on another machine. */
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

/** A pinned file with the SHA-256 of its content; null if there is none, a word if it is not a file. */
export interface PinnedFile {
  readonly path: string
  readonly sha256: string | null
  /** The text of a script that the command leads to, as `package.json#test`. */
  readonly text?: string
}

export interface ApprovedCommand extends PinnedCommand {
  readonly hash: string
  /** As they were when it was approved. */
  readonly files: readonly PinnedFile[]
  readonly author: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** A command, with exactly these files, that a person refused. */
export interface RefusedCommand extends ApprovedCommand {
  readonly reason: string
}

/** The commands that a person approved. Stored outside the project, where agents do not commit. */
export interface CommandApprovals {
  /** The hash of a command in any spelling, its folder, the scripts it leads to and the pinned files; a missing one counts as such. */
  hashOf(command: PinnedCommand): Promise<string>
  /** The files that its hash is of. */
  filesOf(command: PinnedCommand): Promise<readonly PinnedFile[]>
  isApproved(hash: string): Promise<boolean>
  approve(approval: Omit<ApprovedCommand, 'files' | 'pinned'> & Partial<ApprovedCommand>): Promise<void>
  /** The entries of these folders, newest first. */
  list(folders: readonly string[]): Promise<readonly ApprovedCommand[]>
  /** Stores a refusal: it is not asked about again until the command or a pinned file changes, or it is revoked. */
  refuse(refusal: RefusedCommand): Promise<void>
  refusalOf(hash: string): Promise<RefusedCommand | null>
  /** The entries of these folders, newest first. */
  refusedIn(folders: readonly string[]): Promise<readonly RefusedCommand[]>
  /** Takes an approval or a refusal back, if there is one. */
  revoke(hash: string): Promise<void>
}
