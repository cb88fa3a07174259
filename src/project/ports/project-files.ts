import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { Finding } from '../../gate/domain/lint/finding.ts'
import type { DefinitionPattern } from '../../gate/domain/lint/patterns.ts'
import type { PlanDocument } from '../../plan/domain/document.ts'

/** The origin of a process: the project, Waymark itself, or a named file. */
export type ProcessOrigin = 'project' | 'shipped' | 'file'

/** A place in a file; both from 1. */
export interface FileLocation {
  readonly line: number
  readonly column: number
}

export interface LocatedFinding extends Finding {
  readonly place: FileLocation | null
}

/** A path pattern with its location, to be matched where the project's files are. */
export interface LocatedPattern extends DefinitionPattern {
  readonly place: FileLocation | null
}

/** A file of a process. */
export interface ProcessSource {
  /** Relative to the project if it is inside. */
  readonly file: string
  readonly origin: ProcessOrigin
  /** Its id; the file's name if it cannot be read. */
  readonly id: string
  /** The content; empty if the file is not read. */
  readonly text: string
  /** Why it is not read: it is no process file, or too large. */
  readonly unread?: 'no-process' | { readonly bytes: number }
}

/** The same with its parsed definition. */
export interface LoadedProcess extends ProcessSource {
  /** Null if it is invalid; the findings give the reasons. */
  readonly definition: ProcessDefinition | null
  /** The findings of parsing and, if it is valid, of lint; in the order of the file. */
  readonly findings: readonly LocatedFinding[]
  readonly patterns: readonly LocatedPattern[]
}

/** Finds and reads the definitions of processes. */
export interface ProcessFiles {
  /** Every process that a run can use; one of the project hides a shipped one with the same id. */
  list(): Promise<readonly LoadedProcess[]>
  /** Whether the project has a file for a process. Reads no file. */
  hasOwn(): Promise<boolean>
  /** Reads one by its id or its file. Fails with NOT_FOUND, naming the nearest. */
  load(idOrFile: string): Promise<LoadedProcess>
  /** Reads a given source. */
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

/** The result of reading a file of plans. */
export type LoadedPlan =
  | {
      readonly kind: 'plan'
      readonly format: Exclude<PlanFormat, 'log'>
      readonly document: PlanDocument
      /** Omitted or reinterpreted content, one sentence each with its location. */
      readonly notices: readonly string[]
    }
  /** The lines after the first one; they can be read again. */
  | { readonly kind: 'log'; readonly lines: readonly string[] | AsyncIterable<string> }

/** Reads plans from outside. */
export interface PlanFiles {
  /**
   * Reads a file or a folder, as the format says or as its name and content show. Fails with NOT_FOUND when there is
   * nothing, with INVALID_INPUT and every problem when it is no acceptable plan.
   */
  load(path: string, format: PlanFormat | undefined): Promise<LoadedPlan>
}
