import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { Finding } from '../../gate/domain/lint/finding.ts'
import type { DefinitionPattern } from '../../gate/domain/lint/patterns.ts'
import type { PlanDocument } from '../../plan/domain/document.ts'

/** Where a process came from: the project's own folders, the ones shipped with Waymark, or a file that was named. */
export type ProcessOrigin = 'project' | 'shipped' | 'file'

/** A place in a file; both from 1. */
export interface FileLocation {
  readonly line: number
  readonly column: number
}

export interface LocatedFinding extends Finding {
  readonly place: FileLocation | null
}

/** A path pattern with its place: whether it matches a file of the project is seen where the files are. */
export interface LocatedPattern extends DefinitionPattern {
  readonly place: FileLocation | null
}

/** A file of a process. */
export interface ProcessSource {
  /** Relative to the project where it is in it. */
  readonly file: string
  readonly origin: ProcessOrigin
  /** Its id; by the file's name where it cannot be read. */
  readonly id: string
  /** What is in the file; empty where it is not read. */
  readonly text: string
  /** Why it is not read: it is no process file, or has more bytes than are read. */
  readonly unread?: 'no-process' | { readonly bytes: number }
}

/** The same as it was read. */
export interface LoadedProcess extends ProcessSource {
  /** Null when its shape is wrong; the findings say how. */
  readonly definition: ProcessDefinition | null
  /** What reading it showed, and what lint did where it could be read; in the order of the file. */
  readonly findings: readonly LocatedFinding[]
  readonly patterns: readonly LocatedPattern[]
}

/** Finds and reads the definitions of processes. */
export interface ProcessFiles {
  /** Every process that a run could begin with; one of the project hides a shipped one of the same id. */
  list(): Promise<readonly LoadedProcess[]>
  /** Whether the project has a file of a process. Reads none. */
  hasOwn(): Promise<boolean>
  /** Reads one by its id or its file. Fails with NOT_FOUND, naming the nearest. */
  load(idOrFile: string): Promise<LoadedProcess>
  /** Reads one that was found elsewhere. */
  read(source: ProcessSource): Promise<LoadedProcess>
}

export const planFormats = [
  'markdown',
  'json',
  'jsonl',
  'task-master',
  'backlog',
  'beads',
  'taskman',
  'log',
] as const
export type PlanFormat = (typeof planFormats)[number]

/** What a file of plans turned out to be. */
export type LoadedPlan =
  | {
      readonly kind: 'plan'
      readonly format: Exclude<PlanFormat, 'log'>
      readonly document: PlanDocument
      /** What was left out or read otherwise than written, one sentence each with its place. */
      readonly notices: readonly string[]
    }
  | { readonly kind: 'log'; readonly lines: readonly string[] }

/** Reads plans from outside. */
export interface PlanFiles {
  /**
   * Reads a file or a folder, as the format says or as its name and content show. Fails with NOT_FOUND when there is
   * nothing, with INVALID_INPUT and every problem when it is no acceptable plan.
   */
  load(path: string, format: PlanFormat | undefined): Promise<LoadedPlan>
}
