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

/** Runs commands of guards, without input and apart from this process' terminal. */
export interface CommandRunner {
  /** Names this process, so that others can tell whether it still runs: `host:pid`. */
  readonly name: string
  /** Resolves when the command has ended; never rejects: what cannot be started has failed. */
  start(command: CommandLine): Promise<CommandEnd>
  /** Whether a runner of that name still runs. One on another machine counts as running. */
  isAlive(runner: string): boolean
  /** Ends every command that runs, with its children. */
  stop(): Promise<void>
}

/** What a person allows the server to run. Kept outside the project, where agents do not commit. */
export interface CommandApprovals {
  /**
   * The hash of a command, its folder and the content of the pinned files (paths relative to the folder; a missing one
   * counts as such).
   */
  hashOf(command: {
    readonly run: string
    readonly folder: string
    readonly pinned: readonly string[]
  }): Promise<string>
  isApproved(hash: string): Promise<boolean>
  approve(approval: {
    readonly hash: string
    readonly run: string
    readonly folder: string
    readonly by: string
    readonly at: number
  }): Promise<void>
}
