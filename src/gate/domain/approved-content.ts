import type { JsonObject } from '../../kernel/json.ts'
import { approvalFreshness, countedArtifacts } from './artifacts.ts'
import type { ProcessDefinition } from './definition.ts'
import { nothingObserved } from './evidence.ts'
import type { Run } from './run.ts'

/** What an approval may be of beside what was submitted. */
interface Approvable {
  readonly of: string | null
  /** Hash of the tree; null: not measured. */
  readonly tree: string | null
  /** The measured changes of the run's mission or task; null: not measured. */
  readonly changes: {
    readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
    readonly unseen: readonly string[]
  } | null
}

/** `of: changes` is what was measured, unless the process declares a type of artifacts of that name. */
export function isOfChanges({ artifacts }: Pick<ProcessDefinition, 'artifacts'>, of: string | null): boolean {
  return of === 'changes' && !artifacts.some(({ type }) => type === of)
}

/**
 * What an approval is about, to be hashed: the artifacts of a type as they are, the measured changes, or the run in its
 * state with all that was submitted and the tree. Null when there is nothing to approve.
 */
export function approvedContent(
  definition: ProcessDefinition,
  run: Run,
  { of, tree, changes }: Approvable,
): JsonObject | null {
  if (isOfChanges(definition, of)) {
    if (changes === null) return null
    const { files, unseen } = changes
    return {
      of,
      files: files.map(({ path, sha256 }) => `${path} ${sha256 ?? 'gone'}`).sort(),
      ...(unseen.length > 0 && { unseen }),
    }
  }
  if (of === null) {
    const entered = run.visits.find(({ state }) => state === run.state)?.last ?? 1
    const files = run.artifacts.filter(({ status }) => status === 'current').map(fileLine)
    return { state: run.state, entered, files: files.sort(), tree }
  }
  const { counted } = countedArtifacts(of, {
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
  return counted.length === 0 ? null : { of, files: counted.map(fileLine).sort() }
}

function fileLine({ type, path, sha256 }: { type: string; path: string; sha256: string }): string {
  return `${type} ${path} ${sha256}`
}

/** A file as it was shown: null where there was none. */
export interface FilePreview {
  readonly path: string
  readonly sha256: string | null
  /** Its text, where it is short enough to be kept for a difference. */
  readonly text: string | null
}

/** What a person is shown before they answer. */
export interface ContentParts {
  readonly files: readonly FilePreview[]
  /** What else the answer is bound to, by its name: the state, the revision, the hash of the tree. */
  readonly events: Readonly<Record<string, string>>
}

/** What differs between what was shown and what is there. */
export interface ContentDifference {
  readonly files: readonly {
    readonly path: string
    readonly shown: string | null
    readonly now: string | null
    /** A unified diff; null where one of the two contents is not kept. */
    readonly diff: string | null
  }[]
  readonly events: readonly {
    readonly name: string
    readonly shown: string | null
    readonly now: string | null
  }[]
}

/** How much of a hash is enough to name it. */
const shortContent = 12
const leastContent = 6

/** What a run is called by its revision, where it holds nothing that could be hashed. */
export function revisionContent(revision: number): string {
  return `r${revision}`
}

/** Whether what a person saw, perhaps shortened, is this content. */
export function isContent(seen: string, content: string): boolean {
  if (!isHash(content)) return seen === content
  return seen.length >= leastContent && content.startsWith(seen.toLowerCase())
}

/** Whether a text can name what was shown: a hash or the beginning of one, or a revision such as `r3`. */
export function isContentName(text: string): boolean {
  return /^(?:r[1-9]\d{0,15}|[0-9a-f]{6,64})$/i.test(text)
}

export function shortenContent(content: string): string {
  return isHash(content) ? content.slice(0, shortContent) : content
}

function isHash(content: string): boolean {
  return /^[0-9a-f]{64}$/.test(content)
}

/** What is another now, in a few words: `plan.md changed, notes.md is gone`. */
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
  const said = (value: string | null) => (value === null ? 'nothing' : shortenContent(value))
  return `${name}: ${said(shown)} → ${said(now)}`
}
