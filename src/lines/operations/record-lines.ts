import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import {
  measuredLines as measuredLinesShape,
  measuredList,
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
import type { EvidenceQuery, WorkTreeEvidence } from '../../sessions/operations/hook-evidence.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  type AuthoredLink,
  authoredLinks,
  authorsOf,
  type ChangedPath,
} from '../../track/domain/attribution.ts'
import type { Interval } from '../../track/domain/hook-evidence.ts'
import { hasPackageArea, parseScope } from '../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import {
  candidateAuthorsOf,
  plainContent,
  readChangesAround,
  type WorkTreeActivity,
} from '../../track/operations/work-tree-activity.ts'
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
}

interface PathClaims {
  readonly attempt: string
  readonly names: (paths: readonly string[]) => ReadonlySet<string>
}

/** The context of a work tree's changed lines: who was at work there since its last snapshot. */
export interface LineRecordContext {
  /** Whether the project records lines; what was lost is found in any case. */
  readonly isOn: boolean
  readonly salt: string
  readonly last: TreeBoundary
  /** Attempts that were open all the time, and hook evidence. */
  readonly surroundings: WorkTreeActivity
}

const contentsAt = measuredList(
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
    chains: measuredList(
      z.strictObject({
        path,
        contents: measuredList(oidOrNull, 20_000),
        reported: measuredList(z.boolean(), 20_000),
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
  const evidence = reportedEditsIn(around, now, reported, { times: new Map(measured.times), claims })
  const leftOpen = new Set(
    [...surroundings.neighbors.values()].flatMap(({ id, closedAt, endSnapshot }): string[] =>
      closedAt !== null && endSnapshot === null ? [id] : [],
    ),
  )
  const { steps, notes: _, times: __, ...movement } = measured
  const renamed = new Map(
    steps.flatMap(({ path: name, from, link }) =>
      link === 0 && from !== undefined ? [[name, from] as const] : [],
    ),
  )
  const recorded = steps.map((step): RecordedStep => {
    const { authors, certainty } = authorsOf(linksOfStep(step, evidence, renamed))
    const owners = authors.filter(({ seen }) => seen?.isTurn !== true).map(({ id }) => id)
    const turns = authors.filter(({ seen }) => seen?.isTurn === true).map(({ id }) => id)
    // An abandoned attempt leaves no snapshot: later changes are in the same interval.
    const isDoubtful = certainty === 'certain' && owners.some((id) => leftOpen.has(id))
    return {
      ...step,
      owners,
      ...(turns.length > 0 && { turns }),
      certainty: isDoubtful ? 'probable' : certainty,
    }
  })
  const span = { ...movement, tree: treeOf(now.place), since: last.at, until: now.at, steps: recorded }
  return [{ kind: 'lines.recorded', span }]
}

/** The links that a step consists of. Those of a renamed file begin under its old name. */
function linksOfStep(
  step: MeasuredStep,
  evidence: PathEvidence,
  renamed: ReadonlyMap<string, string>,
): readonly AuthoredLink[] {
  const own = evidence.links.get(step.path)
  if (step.link === undefined) return own ?? evidence.linksOf(step)
  const from = renamed.get(step.path)
  if (from === undefined) {
    const link = own?.[step.link]
    return link === undefined ? (own ?? evidence.linksOf(step)) : [link]
  }
  const old = evidence.links.get(from) ?? []
  // Without the going of the old file and the coming of the new one, if the one had the content of the other.
  const joined = [...old.slice(0, -1), ...(own?.slice(1) ?? [])]
  const isStep = (link: AuthoredLink | undefined) => link?.before === step.before && link.after === step.after
  const link = [joined[step.link], own?.[step.link]].find(isStep)
  // Its content was changed in between: all that changed it before is in the step.
  return link === undefined ? [...old, ...(own?.slice(0, 1) ?? [])] : [link]
}

function claimantOf({ path, from }: ChangedPath, claims: PathClaims | null): string | null {
  if (claims === null) return null
  return claims.names(from === undefined ? [path] : [path, from]).size > 0 ? claims.attempt : null
}

/** Null if there is no snapshot before. */
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
  if (last === null) return null
  const { neighbors, ...around } = await readChangesAround(reads, {
    tree,
    since: last.at,
    ending,
    ...unrecorded,
  })
  const open = [...neighbors].filter(([, { openedAt, until }]) => openedAt <= last.at && until > last.at)
  return {
    isOn: settingOf(settings, 'lines') !== 'off',
    salt: ofProject,
    last,
    surroundings: { ...around, neighbors: new Map(open) },
  }
}

/** The turns of agents that were open for some of the time. */
function turnsBetween(
  { hookEvidence }: WorkTreeActivity,
  { last, now }: { readonly last: TreeBoundary; readonly now: SnapshotBoundary },
): readonly string[] {
  return [...(hookEvidence?.turns.values() ?? [])]
    .filter(({ openedAt, closedAt }) => openedAt < now.at && (closedAt === null || closedAt > last.at))
    .map(({ id }) => id)
}

/** The hook evidence of an interval, by path. */
interface PathEvidence {
  /** The paths that edit tools reported, each with its authors in order. */
  readonly links: ReadonlyMap<string, readonly AuthoredLink[]>
  /** The possible authors of another path. */
  readonly linksOf: (step: MeasuredStep) => readonly AuthoredLink[]
}

function reportedEditsIn(
  { last, surroundings }: LineRecordContext,
  now: SnapshotBoundary,
  reported: MeasurementOf<typeof reportedContents>,
  {
    times = new Map(),
    claims = null,
  }: { readonly times?: ReadonlyMap<string, number>; readonly claims?: PathClaims | null } = {},
): PathEvidence {
  const packages = new Map(reported.packages)
  const scopeOf = ({ areas, snapshot }: Attempt) => parseScope(areas, { prefix: snapshot.prefix, packages })
  const hookEvidence = reported.after === null ? null : surroundings.hookEvidence
  const turns = new Set(turnsBetween(surroundings, { last, now }))
  const open = [...candidateAuthorsOf({ ...surroundings, hookEvidence }, scopeOf).values()].filter(
    ({ id, seen }) => seen?.isTurn !== true || turns.has(id),
  )
  const time = { from: last.at, to: now.at }
  const paths = hookEvidence === null ? [] : reportedPaths(hookEvidence, time)
  const [before, after] = [new Map(reported.before), new Map(reported.after)]
  const contents = new Map(
    paths.map((name) => {
      const end = after.get(name)
      return [name, { before: before.get(name)?.id, after: end?.id, changedAt: end?.changedAt ?? null }]
    }),
  )
  const interval = { touched: new Set(paths), open, time }
  const linksIn = (some: Interval, change: ChangedPath) =>
    authoredLinks(some, change, claimantOf(change, claims))
  return {
    links: new Map(paths.map((path) => [path, mergeLinks(linksIn({ ...interval, contents }, { path }))])),
    linksOf: ({ path, from, before: contentBefore, after: contentAfter }) => {
      const isChangedInRename = from !== undefined && contentBefore !== contentAfter
      const changedAt = times.get(path) ?? (isChangedInRename ? unknownTime : null)
      const ends = { before: contentBefore, after: contentAfter, changedAt }
      const change = { path, ...(from !== undefined && { from }) }
      return linksIn({ ...interval, contents: new Map([[path, ends]]) }, change)
    },
  }
}

/** Far from every command: the one that renamed a file need not have written its content. */
const unknownTime = 0

/** The paths that edit tools reported in an interval. */
function reportedPaths(hookEvidence: WorkTreeEvidence, time: { readonly from: number; readonly to: number }) {
  const paths = [...hookEvidence.seen.values()].flatMap(({ edits }) =>
    edits
      .filter(({ reportedAt, from }) => reportedAt >= time.from && (from ?? reportedAt) <= time.to)
      .map((edit) => edit.path),
  )
  return [...new Set(paths)].slice(0, maxReported)
}

const maxLinks = 100

/** Merges adjacent links of the same authors, or all links if a content between them is unknown. */
function mergeLinks(links: readonly AuthoredLink[]): readonly AuthoredLink[] {
  const joined: AuthoredLink[] = []
  for (const link of links.filter(({ before, after }) => before === undefined || before !== after)) {
    const last = joined.at(-1)
    const isSame =
      last !== undefined &&
      last.isReport === link.isReport &&
      last.isSure === link.isSure &&
      last.able.length === link.able.length &&
      last.able.every(({ id }, at) => id === link.able[at]?.id)
    if (isSame) joined[joined.length - 1] = { ...last, after: link.after }
    else joined.push(link)
  }
  const isKnown = joined.every(({ before, after }, at) => {
    const next = joined[at + 1]
    return before !== undefined && after !== undefined && (next === undefined || next.before === after)
  })
  const [first] = joined
  if (first === undefined || (isKnown && joined.length <= maxLinks)) return joined
  return [
    {
      before: first.before,
      after: joined.at(-1)?.after,
      able: [...new Set(joined.flatMap(({ able }) => able))],
      likely: [...new Set(joined.flatMap(({ likely }) => likely))],
      isReport: true,
      isSure: joined.every(({ isSure }) => isSure),
    },
  ]
}

function isKnownLink({ before, after }: AuthoredLink): boolean {
  return before !== undefined && after !== undefined
}

function contentsOf(links: readonly AuthoredLink[]): readonly (string | null)[] {
  return [links[0]?.before ?? null, ...links.map(({ after }) => after ?? null)]
}
