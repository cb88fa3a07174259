import { formatCount } from '../../kernel/text.ts'
import { type ContestedFile, maxAuthors, type ReportedChange } from './changes.ts'

/** The changed files whose author is not known; `own` is the agent's name, `named` are files that its outcome names. */
export function unknownAuthorNotes(
  changes: readonly ReportedChange[],
  own: string,
  named: (paths: readonly string[]) => readonly string[],
): readonly string[] {
  const contested = changes.filter(({ attribution }) => attribution === 'contested')
  if (contested.length === 0) return []
  const candidates = contested.flatMap((change) => change.with ?? [])
  const others = [
    ...new Set(candidates.map(({ agent, taskId }) => (agent === own ? `your work on ${taskId}` : agent))),
  ]
  const paths = contested.map(({ path }) => path)
  const authors = others.length === 0 ? 'another agent' : nameAuthors(others)
  const known = new Set(named(paths))
  const open = paths.filter((path) => !known.has(path))
  const hint =
    open.length === 0
      ? ''
      : ` If you edited ${paths.length === 1 ? 'it' : 'one'}, name it in your summary; otherwise send ${listField('not_mine', open)} in the outcome.`
  return [
    `The author of ${formatCount(paths.length, 'changed file')} is unknown, because ${authors} also worked here: ${nameSome(paths)}.${hint}`,
  ]
}

/** Files that the agent denies, and that count as its own all the same. */
export function deniedNotes(paths: readonly string[]): readonly string[] {
  return paths.length === 0
    ? []
    : [
        `Counted as yours in spite of not_mine, because no other agent may have changed ${paths.length === 1 ? 'it' : 'them'}: ${nameSome(paths)}.`,
      ]
}

/** The files that others have probably changed. */
export function probablyOthersNotes(contested: readonly ContestedFile[]): readonly string[] {
  if (contested.length === 0) return []
  const listed = contested.map(({ path, candidates }) => `${path} (${nameAuthors(candidates)})`)
  return [
    `${formatCount(contested.length, 'file')} changed in other agents' scope and ${contested.length === 1 ? 'is' : 'are'} probably theirs: ${nameSome(listed)}. If you edited one, name it in your summary.`,
  ]
}

/** A note without what the agent should do about it. */
export function noteForPeople(note: string): string {
  return note.replace(/ If you edited (?:it|one), name it in your summary.*$/, '')
}

/** The files whose uncommitted lines from before the attempt are gone. */
export function removedWorkNotes(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`Pre-existing uncommitted work was removed: ${nameSome(paths)}.`]
}

const maxNamed = 5

/** A list of paths as a field of a call, in JSON, with the first paths. */
export function listField(name: string, paths: readonly string[]): string {
  const more = paths.length > maxNamed ? ', …' : ''
  return `"${name}": [${paths
    .slice(0, maxNamed)
    .map((path) => JSON.stringify(path))
    .join(', ')}${more}]`
}

export function nameAuthors(names: readonly string[]): string {
  return nameFirst(names, maxAuthors)
}

export function nameSome(texts: readonly string[]): string {
  return nameFirst(texts, maxNamed)
}

function nameFirst(texts: readonly string[], most: number): string {
  return `${texts.slice(0, most).join(', ')}${texts.length > most ? ` and ${texts.length - most} more` : ''}`
}
