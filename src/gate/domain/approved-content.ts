import type { JsonObject } from '../../kernel/json.ts'
import { approvalFreshness, countedArtifacts } from './artifacts.ts'
import type { ProcessDefinition } from './definition.ts'
import { type Artifact, nothingObserved } from './evidence.ts'
import { entryRevision, type Run } from './run.ts'

/** The subject of an approval, with the measurements that it may need. */
interface Approvable {
  readonly artifact: string | null
  /** Hash of the tree; null: not measured. */
  readonly tree: string | null
  /** The measured changes of the run's mission or task; null: not measured. */
  readonly changes: {
    readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
    readonly unseen: readonly string[]
  } | null
}

/** `artifact: changes` means the measured changes, unless the process declares an artifact of that name. */
export function isOfChanges({ artifacts }: Pick<ProcessDefinition, 'artifacts'>, of: string | null): boolean {
  return of === 'changes' && !artifacts.some(({ type }) => type === of)
}

/**
 * The content of an approval, to be hashed: the current artifacts of a type, the measured changes, or the run's state with
 * its files and the tree. Null if there is nothing to approve.
 */
export function approvedContent(
  definition: ProcessDefinition,
  run: Run,
  { artifact, tree, changes }: Approvable,
): JsonObject | null {
  if (isOfChanges(definition, artifact)) {
    if (changes === null) return null
    const { files, unseen } = changes
    return {
      artifact,
      files: files.map(({ path, sha256 }) => `${path} ${sha256 ?? 'gone'}`).sort(),
      ...(unseen.length > 0 && { unseen }),
    }
  }
  if (artifact === null) {
    const entered = entryRevision(run.visits, run.state)
    const files = run.artifacts.filter(({ status }) => status === 'current').map(fileLine)
    return { state: run.state, entered, files: files.sort(), tree }
  }
  const files = approvedFiles(definition, run, artifact)
  return files.length === 0 ? null : { artifact, files: files.map(fileLine).sort() }
}

/** The submitted files of a type that an approval is about. */
export function approvedFiles(
  definition: ProcessDefinition,
  run: Run,
  artifact: string,
): readonly Artifact[] {
  const { counted } = countedArtifacts(artifact, {
    dialect: definition.dialect,
    context: run.context,
    payload: {},
    artifacts: run.artifacts,
    declared: definition.artifacts.map((artifact) => ({
      ...artifact,
      fresh: approvalFreshness(artifact.fresh),
    })),
    visits: run.visits,
    observed: nothingObserved,
  })
  return counted
}

function fileLine({ type, path, sha256 }: { type: string; path: string; sha256: string }): string {
  return `${type} ${path} ${sha256}`
}

/** A file as it was shown; `sha256` is null if there was none. */
export interface FilePreview {
  readonly path: string
  readonly sha256: string | null
  /** Its text, if it is short enough to be stored for a diff. */
  readonly text: string | null
  /** It is the script of a command, which the question quotes: its diff may leave the machine. */
  readonly isScript?: true
}

/** The content that a person reviews before they answer. */
export interface ContentParts {
  readonly files: readonly FilePreview[]
  /** Other values that the answer is bound to, by name: the state, the revision, the hash of the tree. */
  readonly events: Readonly<Record<string, string>>
}

/** The difference between the reviewed content and the current one. */
export interface ContentDifference {
  readonly files: readonly {
    readonly path: string
    readonly shown: string | null
    readonly now: string | null
    /** A unified diff; null if one of the two texts is not stored. */
    readonly diff: string | null
  }[]
  readonly events: readonly {
    readonly name: string
    readonly shown: string | null
    readonly now: string | null
  }[]
}

/** Length of a shortened hash. */
const shortContent = 12
const leastContent = 6

/** Names the content of a run by its revision, if it has nothing to hash. */
export function revisionContent(revision: number): string {
  return `r${revision}`
}

/** Whether a content name from a person, perhaps shortened, means this content. */
export function isContent(seen: string, content: string): boolean {
  if (!isHash(content)) return seen === content
  return seen.length >= leastContent && content.startsWith(seen.toLowerCase())
}

/** Whether a text can name a content: a hash, the beginning of one, or a revision such as `r3`. */
export function isContentName(text: string): boolean {
  return /^(?:r[1-9]\d{0,15}|[0-9a-f]{6,64})$/i.test(text)
}

export function shortenContent(content: string): string {
  return isHash(content) ? content.slice(0, shortContent) : content
}

function isHash(content: string): boolean {
  return /^[0-9a-f]{64}$/.test(content)
}

/** A difference in a few words: `plan.md changed, notes.md is gone`. */
export function differenceWords({ files, events }: ContentDifference): string {
  const words = [
    ...files.map(({ path, shown, now }) => {
      if (shown === null) return `${path} is new`
      return now === null ? `${path} is gone` : `${path} changed`
    }),
    ...events.map(({ name, shown, now }) => approvedContentWords(name, shown, now)),
  ]
  const more = words.length > maxWords ? ` and ${words.length - maxWords} more` : ''
  return `${words.slice(0, maxWords).join(', ')}${more}`
}

const maxWords = 5

function approvedContentWords(name: string, shown: string | null, now: string | null): string {
  const text = (value: string | null) => (value === null ? 'nothing' : shortenContent(value))
  return `${name}: ${text(shown)} → ${text(now)}`
}
