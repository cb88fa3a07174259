/** The health of capture in a project. */
export interface CaptureHealth {
  readonly settings: {
    readonly on: boolean
    readonly prompts: 'off' | 'local'
    readonly commands: 'program' | 'full'
    readonly secret: readonly string[]
  }
  /** Events that are not recorded yet. */
  readonly waiting: number
  /** The size of events and copies together. */
  readonly bytes: number
  /** Hooks that failed, as far as the log goes back, and the last one's line. */
  readonly failures: number
  readonly lastFailure: string | null
  /** The file that has them all. */
  readonly log: string | null
}
