import type { Actor } from '../domain/actor.ts'
import type { IdSource, Setting } from '../domain/id.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandApprovals, CommandRunner } from '../ports/command-runner.ts'
import type { EvidenceFiles } from '../ports/evidence-files.ts'
import type { Fingerprint } from '../ports/fingerprint.ts'
import type { LinkedTrees } from '../ports/linked-trees.ts'
import type { PlanFiles } from '../ports/plan-files.ts'
import type { ProcessFiles } from '../ports/process-files.ts'
import type { ShownContents } from '../ports/shown-contents.ts'
import type { Decided, Reads, Store } from '../ports/store.ts'
import type { WorkTreeWitness } from '../ports/work-tree.ts'

/** What a surface hands to every operation: the ports, and who is calling from where. */
export interface Context {
  readonly store: Store
  readonly witness: WorkTreeWitness
  readonly clock: Clock
  readonly ids: IdSource
  readonly fingerprint: Fingerprint
  readonly actor: Actor
  /** Absolute path of the folder that the connection works in. */
  readonly folder: string
  readonly program: Program
  readonly planFiles: PlanFiles
  readonly processFiles: ProcessFiles
  readonly evidenceFiles: EvidenceFiles
  readonly shownContents: ShownContents
  readonly linkedTrees: LinkedTrees
  readonly commandRunner: CommandRunner
  readonly commandApprovals: CommandApprovals
}

/** What `doctor` and `status` say about the running program. */
export interface Program {
  readonly version: string
  /** Node's version, `24.21.0`. */
  readonly node: string
  readonly platform: string
  /** Where private snapshots are kept. */
  readonly stateFolder: string
}

/** A context during one call. `record` is the only way to write, and carries the call's idempotency key. */
export interface Handling extends Context {
  readonly record: Recording
  /** Writes what a call noticed beside its own work: not under its idempotency key. */
  readonly recordAside: Recording
}

export type Recording = <Answer>(
  decide: (reads: Reads, setting: Setting) => Promise<Decided<Answer>>,
) => Promise<Answer>
