/** Where the state of a work tree at one moment is kept. The witness reads it; everybody else passes it on. */
export interface SnapshotPlace {
  readonly engine: 'git' | 'checksum'
  /** Absolute path of the private directory that holds the snapshot. */
  readonly directory: string
  /** Absolute path of the work tree's top. */
  readonly top: string
  /** From the top to the project's folder: `''`, or ending with `/`. Areas are relative to it. */
  readonly prefix: string
  /** HEAD's commit, `unborn` before the first one, or the manifest's hash for checksums. */
  readonly id: string
}
