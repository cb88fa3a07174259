import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import type { TurnId } from '../../kernel/id.ts'
import {
  list,
  measuredLines as measuredLinesShape,
  names,
  oidOrNull,
  packages,
  path,
  place,
  salt,
} from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  type MeasurementOf,
  measurement,
} from '../../kernel/operations/measurement-protocol.ts'
import type { TurnEvidence } from '../../sessions/domain/session.ts'
import type { EvidenceQuery, WorkTreeEvidence } from '../../sessions/operations/hook-evidence.ts'
import type { Reads } from '../../store/ports/store.ts'
import { possibleAuthors } from '../../track/domain/attribution.ts'
import { type CandidateAuthor, type EvidenceLink, evidenceChain } from '../../track/domain/hook-evidence.ts'
import { hasPackageArea, parseScope } from '../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import {
  candidateAuthorsOf,
  plainContent,
  readChangesAround,
  type WorkTreeActivity,
} from '../../track/operations/measure-attempt.ts'
import type { MeasuredStep, RecordedStep } from '../domain/line-hashes.ts'
import type { TreeBoundary } from '../ports/line-reads.ts'

const maxReported = 500

/** A snapshot that was just taken, and when it began. */
export interface SnapshotBoundary extends TreeBoundary {
  /** The snapshot before, if it is not recorded yet. */
  readonly last?: TreeBoundary
  /** Turns and links that are not recorded yet. */
  readonly unrecorded?: Pick<EvidenceQuery, 'fresh' | 'links'>
  /** The attempt that ends with it. */
  readonly ending?: string | null
  /** The turn that ends with it, and its measured evidence. */
  readonly turn?: { readonly id: TurnId; readonly evidence: TurnEvidence }
}

interface PathClaims {
  readonly attempt: string
  readonly names: (paths: readonly string[]) => ReadonlySet<string>
}

/** The context of a work tree's changed lines: who was at work there since its last snapshot. */
export interface LineRecordContext {
  readonly salt: string
  readonly last: TreeBoundary
  /** Attempts that were open all the time, and hook evidence. */
  readonly surroundings: WorkTreeActivity
}

const contentsAt = list(
  z.tuple([
    z.string().max(4_096),
    z.strictObject({ id: oidOrNull.exactOptional(), changedAt: z.number().nullable() }),
  ]),
  maxReported,
)

/** The contents of the paths that hooks reported, in both snapshots; and the packages that scopes name. */
export const reportedContents = measurement({
  brief: z.strictObject({ last: place, now: place, paths: names, packages: z.boolean() }),
  measured: z.strictObject({ before: contentsAt, after: contentsAt.nullable(), packages }),
  fits: ({ paths }, { before, after }) =>
    isAmong(
      [...before, ...(after ?? [])].map(([name]) => name),
      paths,
    ),
  measure: async ({ copies, witness }, { last, now, paths, packages: wantsPackages }) => {
    const packages = wantsPackages ? await witness.packages(now) : []
    // Null if this machine keeps no copies: then hook evidence cannot be used.
    if (copies === undefined) return { before: [], after: null, packages }
    const at = async (ref: SnapshotLocation) =>
      paths.length === 0 ? [] : [...(await copies.contents(ref, paths))].map(plainContent)
    const [before, after] = await Promise.all([at(last), at(now)])
    return { before, after, packages }
  },
})

/** The lines that changed between two snapshots. */
export const changedLines = measurement({
  brief: z.strictObject({
    last: place,
    now: place,
    salt,
    during: z.enum(['attempt', 'gap']),
    chains: list(
      z.strictObject({
        path,
        contents: list(oidOrNull, 20_000),
        reported: list(z.boolean(), 20_000),
      }),
      20_000,
    ),
  }),
  measured: measuredLinesShape.nullable(),
  measure: ({ witness }, { last, now, ...request }) => witness.lines(last, now, request),
})

/** The first measurement of the lines since the last snapshot. */
export function reportedBrief(
  { last, surroundings: { neighbors, hookEvidence } }: LineRecordContext,
  now: SnapshotBoundary,
): BriefOf<typeof reportedContents> {
  const open = [...neighbors.values()]
  const areas = open.flatMap((attempt) => attempt.areas)
  return {
    last: last.place,
    now: now.place,
    paths: hookEvidence === null ? [] : reportedPaths(hookEvidence, { from: last.at, to: now.at }),
    packages: open.length > 1 && hasPackageArea(areas),
  }
}

/** The second measurement. */
export function linesBrief(
  around: LineRecordContext,
  now: SnapshotBoundary,
  reported: MeasurementOf<typeof reportedContents>,
): BriefOf<typeof changedLines> {
  const { salt: ofProject, last, surroundings } = around
  const turns = turnsBetween(surroundings, { last, now })
  const { links } = reportedEditsIn(around, now, reported)
  return {
    last: last.place,
    now: now.place,
    salt: ofProject,
    during: surroundings.neighbors.size + turns.length > 0 ? 'attempt' : 'gap',
    chains: [...links]
      .filter(([, chain]) => chain.length > 0 && chain.every(isKnownLink))
      .map(([name, chain]) => ({
        path: name,
        contents: contentsOf(chain),
        reported: chain.map(({ isReport }) => isReport),
      })),
  }
}

/** The log entry of measured lines. */
export function recordedLines(
  around: LineRecordContext,
  now: SnapshotBoundary,
  {
    reported,
    lines: measured,
  }: {
    readonly reported: MeasurementOf<typeof reportedContents>
    readonly lines: MeasurementOf<typeof changedLines>
  },
  /** The attempt that ends, and the paths that it claims. */
  claims: PathClaims | null = null,
): readonly NewProjectEvent[] {
  if (measured === null || measured.steps.length === 0) return []
  const { last, surroundings } = around
  const open = [...surroundings.neighbors.values()]
  const turns = turnsBetween(surroundings, { last, now })
  const evidence = reportedEditsIn(around, now, reported, new Map(measured.times))
  const leftOpen = new Set(
    open.flatMap(({ id, closedAt, endSnapshot }): string[] =>
      closedAt !== null && endSnapshot === null ? [id] : [],
    ),
  )
  const attempts = evidence.contenders.filter(({ seen }) => seen?.isTurn !== true)
  const { steps, notes: _, times: __, ...movement } = measured
  const renamed = new Map(
    steps.flatMap(({ path: name, from, link }) =>
      link === 0 && from !== undefined ? [[name, from] as const] : [],
    ),
  )
  const recorded = steps.map((step): RecordedStep => {
    const links = linksAt(step, evidence, renamed)
    const {
      owners,
      certainty,
      turns: some,
    } = stepMakers(step, {
      links,
      attempts,
      claimant: claimantOf(step, claims),
      turns,
      ended: now.turn,
    })
    // An abandoned attempt leaves no snapshot: later changes are in the same interval.
    const isDoubtful = certainty === 'certain' && owners.some((id) => leftOpen.has(id))
    return {
      ...step,
      owners,
      ...(some !== undefined && some.length > 0 && { turns: some }),
      certainty: isDoubtful ? 'probable' : certainty,
    }
  })
  const span = { ...movement, tree: treeOf(now.place), since: last.at, until: now.at, steps: recorded }
  return [{ kind: 'lines.recorded', span }]
}

/** The links of a path. Those of a renamed file begin under its old name, without its going and its coming. */
function linksAt(
  step: MeasuredStep,
  evidence: PathEvidence,
  renamed: ReadonlyMap<string, string>,
): readonly EvidenceLink[] {
  const own = evidence.links.get(step.path)
  const from = step.link === undefined ? undefined : renamed.get(step.path)
  if (from === undefined) return own ?? evidence.linksOf(step)
  return [...(evidence.links.get(from)?.slice(0, -1) ?? []), ...(own?.slice(1) ?? [])]
}

function claimantOf(
  { path, from }: Pick<RecordedStep, 'path' | 'from'>,
  claims: PathClaims | null,
): string | null {
  if (claims === null) return null
  return claims.names(from === undefined ? [path] : [path, from]).size > 0 ? claims.attempt : null
}

/** Null if there is no snapshot before, or the project records no lines. */
export async function changedLineContext(
  reads: Reads,
  { at, place: location, last: recordedLast, unrecorded, ending = null }: SnapshotBoundary,
): Promise<LineRecordContext | null> {
  const { lines, runs } = reads
  const tree = treeOf(location)
  const [settings, last, ofProject] = await Promise.all([
    runs.settings(),
    recordedLast === undefined ? lines.lastBoundary(tree, at) : recordedLast,
    lines.salt(),
  ])
  if (last === null || settingOf(settings, 'lines') === 'off') return null
  const { neighbors, hookEvidence } = await readChangesAround(reads, {
    tree,
    since: last.at,
    ending,
    ...unrecorded,
  })
  const open = [...neighbors].filter(([, { openedAt, closedAt }]) => {
    return closedAt === null ? openedAt <= last.at : openedAt <= last.at && closedAt > last.at
  })
  return { salt: ofProject, last, surroundings: { neighbors: new Map(open), hookEvidence } }
}

/** The turns of agents that were open for some of the time. */
function turnsBetween(
  { hookEvidence }: WorkTreeActivity,
  { last, now }: { readonly last: TreeBoundary; readonly now: SnapshotBoundary },
): readonly string[] {
  return [...(hookEvidence?.turns.values() ?? [])]
    .filter(({ openedAt, closedAt, baseline, baselineAt }) => {
      const begunAt = baseline === 'at_start' ? Math.max(openedAt, baselineAt) : openedAt
      return begunAt < now.at && (closedAt === null || closedAt > last.at)
    })
    .map(({ id }) => id)
}

/** The hook evidence of an interval, by path. */
interface PathEvidence {
  readonly contenders: readonly CandidateAuthor[]
  /** The paths that edit tools reported, each with its authors in order. */
  readonly links: ReadonlyMap<string, readonly EvidenceLink[]>
  /** The possible authors of another path; none without hook evidence. */
  readonly linksOf: (step: Pick<RecordedStep, 'path' | 'before' | 'after'>) => readonly EvidenceLink[]
}

function reportedEditsIn(
  { last, surroundings }: LineRecordContext,
  now: SnapshotBoundary,
  reported: MeasurementOf<typeof reportedContents>,
  times: ReadonlyMap<string, number> = new Map(),
): PathEvidence {
  const packages = new Map(reported.packages)
  const scopeOf = ({ areas, snapshot }: Attempt) => parseScope(areas, { prefix: snapshot.prefix, packages })
  const contenders = [...candidateAuthorsOf(surroundings, scopeOf).values()]
  const { hookEvidence } = surroundings
  if (hookEvidence === null || reported.after === null)
    return { contenders, links: new Map(), linksOf: () => [] }
  const time = { from: last.at, to: now.at }
  const paths = reportedPaths(hookEvidence, time)
  const [before, after] = [new Map(reported.before), new Map(reported.after)]
  const contents = new Map(
    paths.map((name) => {
      const end = after.get(name)
      return [name, { before: before.get(name)?.id, after: end?.id, changedAt: end?.changedAt ?? null }]
    }),
  )
  const interval = { touched: new Set(paths), open: contenders, time }
  return {
    contenders,
    links: new Map(paths.map((name) => [name, mergeLinks(evidenceChain({ ...interval, contents }, name))])),
    linksOf: ({ path: name, before: contentBefore, after: contentAfter }) => {
      const ends = { before: contentBefore, after: contentAfter, changedAt: times.get(name) ?? null }
      return evidenceChain({ ...interval, contents: new Map([[name, ends]]) }, name)
    },
  }
}

/** The paths that edit tools reported in an interval. */
function reportedPaths(hookEvidence: WorkTreeEvidence, time: { readonly from: number; readonly to: number }) {
  const paths = [...hookEvidence.seen.values()].flatMap(({ edits }) =>
    edits.filter(({ at, from }) => at >= time.from && (from ?? at) <= time.to).map((edit) => edit.path),
  )
  return [...new Set(paths)].slice(0, maxReported)
}

const maxLinks = 100

/** Merges adjacent links of the same authors, or all links if a content between them is unknown. */
function mergeLinks(links: readonly EvidenceLink[]): readonly EvidenceLink[] {
  const joined: EvidenceLink[] = []
  for (const link of links.filter(({ before, after }) => before === undefined || before !== after)) {
    const last = joined.at(-1)
    const isSame =
      last !== undefined &&
      last.isReport === link.isReport &&
      last.isGuess === link.isGuess &&
      last.authors.length === link.authors.length &&
      last.authors.every(({ id }, at) => id === link.authors[at]?.id)
    if (isSame)
      joined[joined.length - 1] = { ...last, after: link.after, isCertain: last.isCertain && link.isCertain }
    else joined.push(link)
  }
  const isKnown = joined.every(({ before, after }, at) => {
    const next = joined[at + 1]
    return before !== undefined && after !== undefined && (next === undefined || next.before === after)
  })
  const [first] = joined
  if (first === undefined || (isKnown && joined.length <= maxLinks)) return joined
  const authors = new Map(joined.flatMap((link) => link.authors.map((one) => [one.id, one])))
  return [
    {
      before: first.before,
      after: joined.at(-1)?.after,
      authors: [...authors.values()],
      isReport: true,
      isCertain: false,
    },
  ]
}

function isKnownLink({ before, after }: EvidenceLink): boolean {
  return before !== undefined && after !== undefined
}

function contentsOf(links: readonly EvidenceLink[]): readonly (string | null)[] {
  return [links[0]?.before ?? null, ...links.map(({ after }) => after ?? null)]
}

interface StepOwners extends Pick<RecordedStep, 'owners' | 'certainty'> {
  readonly turns?: readonly string[]
}

/** The authors of a step: attempts, or turns of agents without a task. */
function stepMakers(
  step: Pick<RecordedStep, 'path' | 'from' | 'link'>,
  {
    turns,
    ended,
    ...rest
  }: Parameters<typeof makersOf>[1] & {
    readonly turns: readonly string[]
    readonly ended: SnapshotBoundary['turn']
  },
): StepOwners {
  const made = makersOf(step, rest)
  const change = ended?.evidence.changes.find(({ path }) => path === step.path)
  if (made.owners.length > 0) return made
  if (made.turns !== undefined && made.turns.length > 0) {
    const isFound = made.turns.length === 1 && made.turns[0] === ended?.id && change?.with === undefined
    return isFound && change !== undefined ? { ...made, certainty: change.attribution } : made
  }
  if (ended !== undefined && change !== undefined) {
    const { attribution, with: rivals = [] } = change
    return { ...made, turns: [ended.id], certainty: rivals.length > 0 ? 'contested' : attribution }
  }
  const others = turns.filter((id) => id !== ended?.id)
  if (others.length === 0 || ended?.evidence.outside.includes(step.path)) return made
  return { ...made, turns: others, certainty: others.length > 1 || ended ? 'contested' : 'probable' }
}

/** The authors of a step, by the reports of tools about its path, else by open attempts and their scopes. */
function makersOf(
  step: Pick<RecordedStep, 'path' | 'from' | 'link'>,
  {
    links,
    attempts,
    claimant,
  }: {
    readonly links: readonly EvidenceLink[]
    readonly attempts: readonly CandidateAuthor[]
    readonly claimant: string | null
  },
): StepOwners {
  const link = step.link === undefined ? (links.length === 1 ? links[0] : undefined) : links[step.link]
  const able = link?.authors ?? [
    ...new Map(links.flatMap(({ authors }) => authors.map((one) => [one.id, one]))).values(),
  ]
  // No author by hook evidence: then it is ignored.
  if (able.length === 0) {
    const { owners, certainty } = possibleAuthors(attempts, step, claimant)
    return { owners, certainty: links.length > 0 && certainty === 'certain' ? 'probable' : certainty }
  }
  const owners = able.filter(({ seen }) => seen?.isTurn !== true).map(({ id }) => id)
  const turns = able.filter(({ seen }) => seen?.isTurn === true).map(({ id }) => id)
  if (able.length > 1) return { owners, turns, certainty: 'contested' }
  const isExplained = links.every(({ authors, isGuess }) => authors.length > 0 && !isGuess)
  const isAlone = attempts.length <= 1 && owners.length > 0 && (link ? !link.isGuess : isExplained)
  return { owners, turns, certainty: isAlone || link?.isCertain === true ? 'certain' : 'probable' }
}
