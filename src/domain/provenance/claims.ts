import type { LineFinding } from './blame.ts'

/** What another tool says of lines of one file of a commit: never measured here. */
export interface LineClaim extends Claimant {
  readonly commit: string
  readonly path: string
  /** First and last, from 1, as the commit has them. */
  readonly ranges: readonly (readonly [first: number, last: number])[]
}

/** Whose lines are, as it is said, and where. */
export interface Claimant {
  /** Where it is said: `refs/notes/ai`, `.agent-trace/traces.jsonl`, or the file that was imported. */
  readonly source: string
  readonly by: 'agent' | 'person'
  /** The tool, or the person. */
  readonly name: string | null
  readonly model: string | null
  /** The session or conversation, in the source's own words. */
  readonly conversation: string | null
  /** The attempt, where it was written from a record of Waymark. */
  readonly attempt: string | null
  readonly task: string | null
}

/** Where git says that a line is from. */
interface Place {
  readonly commit: string
  readonly path: string
  readonly line: number
}

/**
 * The lines with what others say of them. Where nothing was recorded, an agent that is claimed stands for the author;
 * what was recorded stays, and what is said otherwise is kept beside it.
 */
export function withClaims(
  lines: readonly LineFinding[],
  places: ReadonlyMap<number, Place>,
  claims: readonly LineClaim[],
): readonly LineFinding[] {
  if (claims.length === 0) return lines
  const byPlace = Map.groupBy(claims, ({ commit, path }) => `${commit} ${path}`)
  return lines.map((finding, at) => {
    const place = places.get(at + 1)
    const there = place === undefined ? [] : (byPlace.get(`${place.commit} ${place.path}`) ?? [])
    const found = distinct(there.filter((claim) => covers(claim, place?.line ?? 0)))
    if (found.length === 0) return finding
    const isOpen = finding.kind === 'author' || finding.kind === 'before'
    const isAgents = found.some(({ by }) => by === 'agent')
    return { ...finding, ...(isOpen && isAgents && { kind: 'agent', how: 'claimed' }), claims: found }
  })
}

function covers({ ranges }: LineClaim, line: number): boolean {
  return ranges.some(([first, last]) => line >= first && line <= last)
}

/** The same said in two places is said once. */
function distinct(claims: readonly LineClaim[]): readonly Claimant[] {
  const found = new Map<string, Claimant>()
  for (const { ranges: _, commit: __, path: ___, ...claimant } of claims) {
    const { by, name, model, conversation } = claimant
    const key = JSON.stringify([by, name, model, conversation])
    if (!found.has(key)) found.set(key, claimant)
  }
  return [...found.values()]
}

/** Who made a line by the record, as far as a claim can be compared with it. */
export interface KnownMaker {
  readonly attempt: string
  readonly names: readonly (string | null)[]
}

/** Whether a claim says something else than what was recorded of a line. */
export function contradicts(
  { by, name, attempt }: Claimant,
  { kind }: Pick<LineFinding, 'kind'>,
  makers: readonly KnownMaker[],
): boolean {
  if (kind === 'outside') return by === 'agent'
  if (by === 'person') return true
  if (attempt !== null && makers.some((maker) => maker.attempt === attempt)) return false
  if (name === null) return false
  return !makers.some(({ names }) => names.some((known) => known !== null && isSameTool(name, known)))
}

/** `claude`, `claude-code` and `Claude Code` are one tool. */
function isSameTool(one: string, other: string): boolean {
  const [first, second] = [plain(one), plain(other)]
  if (first === '' || second === '') return false
  return first.startsWith(second) || second.startsWith(first) || first.endsWith(second)
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '')
}
