import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { maxAttempts } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  changeReport,
  measuredList,
  names,
  oidOrNull,
  packages,
  path,
  place,
  time,
  words,
} from '../../kernel/operations/fields.ts'
import {
  assertTime,
  type BriefOf,
  type MeasurementOf,
  type MeasurementValues,
  measurement,
  type PreparedOperation,
  type WorkTree,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ChangeReport } from '../domain/changes.ts'
import { claimedChanges, claimsWithoutChange } from '../domain/claimed-changes/claimed-changes.ts'
import { documentNames } from '../domain/claimed-changes/report-text.ts'
import { hasPackageArea } from '../domain/scope/scope.ts'
import { sensitiveKinds } from '../domain/scope/sensitive.ts'
import type { Attempt, SnapshotLocation } from '../domain/task.ts'
import type { AttemptStatement } from '../ports/attempt-reads.ts'
import { ignoredPaths, judgeReport, nothingStated, type StatedOutcome } from './judge-report.ts'
import { withMergedWork } from './merged-work.ts'
import { sensitiveChanges } from './sensitive.ts'
import {
  attributionIntervals,
  bound,
  boundsOf,
  type MeasuredSpan,
  maxSpans,
  measuredSpans,
  readAttemptSurroundings,
  reportedPathsOf,
  reportedPathsUntil,
  spansShape,
  type WorkTreeActivity,
  withoutWrittenRenames,
  writtenPaths,
} from './work-tree-activity.ts'

/** The current state of an attempt's work tree; `end` is null where only another machine could measure it. */
export interface AttemptEndState {
  readonly attempt: Attempt
  readonly end: EndedTree | null
}

/** The current state of an open attempt: its work tree, and what it changed so far. */
export interface OpenAttemptState extends AttemptEndState {
  readonly evidence: AttemptMeasurement
}

type OpenAttemptStates = ReadonlyMap<string, OpenAttemptState>

/** The changes of open attempts so far, by id; null until measured. */
export async function measuredOpenAttempts(
  reads: Reads,
  context: Pick<Context, 'machine' | 'clock'>,
  attempts: readonly Attempt[],
  measured: MeasurementValues<typeof openAttemptMeasurements>,
): Promise<PreparedOperation<typeof openAttemptMeasurements, OpenAttemptStates | null>> {
  const ends = attemptEndsBrief(context, attempts)
  const states = attempts.map((attempt): AttemptEndState | null => {
    if (attempt.snapshot.machineId !== context.machine?.id) return { attempt, end: null }
    const end = measured.ends?.find(({ id }) => id === attempt.id)
    return end ? { attempt, end: endedTree(context, end) } : null
  })
  const measuredStates = states.filter((state) => state !== null)
  if (measuredStates.length < states.length) return { briefs: { ends }, found: null }
  const requested = await Promise.all(
    measuredStates.map(async (state) => {
      const activity = await changesAround(reads, state)
      return { state, activity, brief: changesBrief(state, activity) }
    }),
  )
  const changes = requested.flatMap(({ brief }) => brief ?? [])
  const briefs = { ...(ends.length > 0 && { ends }), ...(changes.length > 0 && { changes }) }
  const changesById = new Map(measured.changes?.map((one) => [one.id, one]))
  if (changes.some(({ id }) => !changesById.has(id))) return { briefs, found: null }
  const entries = await Promise.all(
    requested.map(async ({ state, activity }): Promise<readonly [string, OpenAttemptState]> => {
      const { attempt } = state
      const measuredChanges = await withMergedWork(reads, attempt, changesById.get(attempt.id))
      return [attempt.id, { ...state, evidence: measurementOf(state, activity, measuredChanges) }]
    }),
  )
  return { briefs, found: new Map(entries) }
}

/** The recorded end of a work tree, or why it could not be recorded. */
export interface EndedTree {
  readonly takenAt: number
  /** When recording finished: an attempt that began before then may have changed what it saw. */
  readonly until: number
  readonly place: SnapshotLocation | null
  readonly notes: readonly string[]
  readonly error: string | null
}

/** The states of the work trees of open attempts, as if they ended now. */
export const attemptEnds = measurement({
  brief: measuredList(
    z.strictObject({
      id: z.string(),
      top: path,
      prefix: z.string().max(4_096),
      engine: z.enum(['git', 'checksum']),
    }),
    maxAttempts,
  ),
  measured: measuredList(
    z.strictObject({
      id: z.string(),
      takenAt: time,
      until: time,
      place: place.nullable(),
      notes: measuredList(words),
      error: words.nullable(),
    }),
    maxAttempts,
  ),
  fits: (requested, ends) => isSameAttempts(ends, requested),
  ingests: true,
  measure: (workTree, attempts) =>
    Promise.all(
      attempts.map(async ({ id, top, prefix, engine }) => {
        const until = workTree.now()
        try {
          const name = workTree.snapshotName()
          const { ref, notes } = await workTree.witness.snapshot({
            folder: `${top}/${prefix}`,
            name,
            engine,
            top,
          })
          return { id, takenAt: until, until: workTree.now(), place: ref, notes, error: null }
        } catch (error) {
          // A missing work tree stays missing; other errors may be fixed, and the attempt stays open until then.
          if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
          return { id, takenAt: until, until, place: null, notes: [], error: error.message }
        }
      }),
    ),
})

function isSameAttempts(
  measured: readonly { readonly id: string }[],
  requested: readonly { readonly id: string }[],
): boolean {
  return measured.length === requested.length && measured.every(({ id }, at) => id === requested[at]?.id)
}

/** Only attempts that began on the caller's machine: changes elsewhere are measured there. */
export function attemptEndsBrief(
  { machine }: Pick<Context, 'machine'>,
  attempts: readonly Attempt[],
): BriefOf<typeof attemptEnds> {
  return attempts
    .filter(({ snapshot }) => snapshot.machineId === machine?.id)
    .map(({ id, snapshot: { top, prefix, engine } }) => ({ id, top, prefix, engine }))
}

export function endedTree(
  context: Pick<Context, 'machine' | 'clock'>,
  { takenAt, until, place: snapshot, notes, error }: MeasurementOf<typeof attemptEnds>[number],
): EndedTree {
  assertTime(context, takenAt)
  return { takenAt, until, place: snapshot && withMachine(context, snapshot), notes, error }
}

/** Claimed names that lead through a link, and to what. Outside of the work tree: null if it was written since, else the name. */
export const claimLinks = measuredList(z.tuple([z.string(), z.string().nullable()]), 10_000)

/** What attempts changed until their ends, and what each interval between others' snapshots touched. */
export const attemptChanges = measurement({
  brief: measuredList(
    z.strictObject({
      id: z.string(),
      from: place,
      to: place,
      spans: measuredList(bound, maxSpans),
      /** The paths that hooks reported; null where nothing was captured. */
      reported: names.nullable(),
      packages: z.boolean(),
      sensitive: words.nullable(),
      /** The files that the agent says it changed. */
      claimed: names,
      openedAt: time,
      /** Whether people had something written meanwhile: it may have gone over the attempt's changes. */
      written: z.boolean(),
    }),
    maxAttempts,
  ),
  measured: measuredList(
    z.strictObject({
      id: z.string(),
      report: changeReport,
      spans: spansShape,
      packages,
      sensitive: measuredList(z.tuple([z.string(), z.enum(sensitiveKinds)]), 10_000),
      /** The claimed files that did not change and exist. */
      existing: names,
      /** Those that certainly do not exist. */
      absent: names,
      links: claimLinks,
      /** The contents of the files that git brought, by commits made meanwhile; null for no file. */
      arrived: measuredList(z.tuple([path, oidOrNull])),
    }),
    maxAttempts,
  ),
  fits: (requested, changes) => isSameAttempts(changes, requested),
  measure: (workTree, attempts) =>
    Promise.all(
      attempts.map(async ({ id, from, to, spans, packages: wantsPackages, sensitive, ...asked }) => {
        const { witness } = workTree
        const { reported, claimed, openedAt, written } = asked
        const found = await witness.changes(from, to)
        const paths = reportedPathsOf(found)
        const isUnchanged = found.changes.length + found.headMoves.length === 0
        const unchanged = claimsWithoutChange(
          claimed.map((one) => ({ path: one, isCreated: false })),
          [...paths, ...ignoredPaths(found)],
          new Map(),
          new Set(claimed),
        )
        const [touched, packagesAtEnd, sensitivePaths, claimedFiles, arrived] = await Promise.all([
          isUnchanged && !written ? [] : measuredSpans(workTree, { spans, reported, paths }),
          wantsPackages ? witness.packages(to) : [],
          sensitiveChanges(workTree, from, { changes: found.changes, end: to, setting: sensitive }),
          namedFiles(
            workTree,
            to,
            unchanged.map(({ path: name }) => name),
            openedAt,
          ),
          arrivedContents(workTree, to, found),
        ])
        return {
          id,
          report: found,
          spans: touched,
          packages: packagesAtEnd,
          sensitive: [...sensitivePaths],
          ...claimedFiles,
          arrived,
        }
      }),
    ),
})

async function arrivedContents(
  { witness }: Pick<WorkTree, 'witness'>,
  place: SnapshotLocation,
  { changes }: ChangeReport,
): Promise<[path: string, id: string | null][]> {
  const paths = changes.flatMap(({ path: name, from, origin }) =>
    origin === 'mixed' && from === undefined ? [name] : [],
  )
  const states = paths.length === 0 ? null : await witness.contents.states(place, paths)
  return [...(states ?? [])].flatMap(([name, state]) =>
    state !== null && state.id === null ? [] : [[name, state?.id ?? null]],
  )
}

interface ClaimedFiles {
  readonly existing: readonly string[]
  readonly absent: readonly string[]
  readonly links: [name: string, target: string | null][]
}

/** Of names that may be cut at their start, those of files; without a folder, only names of exactly one. */
async function namedFiles(
  { witness }: Pick<WorkTree, 'witness'>,
  place: SnapshotLocation,
  named: readonly string[],
  since: number,
): Promise<ClaimedFiles> {
  if (named.length === 0) return { existing: [], absent: [], links: [] }
  const links = await claimLinksOf({ witness }, place, named, since)
  const targets = named.map((one) => links.get(one) ?? one)
  const anywhere = { ...place, prefix: '' }
  const counts = await witness
    .matching(
      anywhere,
      targets.map((one) => `**/${one}`),
    )
    .catch(() => [])
  const filesAt = (index: number) => counts[index]?.files ?? 0
  const existing = named.filter(
    (one, index) =>
      links.get(one) === one || (targets[index]?.includes('/') ? filesAt(index) > 0 : filesAt(index) === 1),
  )
  const others = named.filter(
    (one, index) => counts.length > 0 && filesAt(index) === 0 && links.get(one) !== one,
  )
  return { existing, absent: await absentFiles({ witness }, place, others, links), links: [...links] }
}

/** Named paths that lead through a link, from the project's folder or the work tree's top. */
export async function claimLinksOf(
  { witness }: Pick<WorkTree, 'witness'>,
  { top, prefix }: SnapshotLocation,
  named: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, string | null>> {
  if (named.length === 0) return new Map()
  const found = await witness.linkTargets(top, [...named, ...named.map((one) => `${prefix}${one}`)], since)
  return new Map(
    found.map(([path, target]) => {
      const name = named.includes(path) ? path : path.slice(prefix.length)
      return [name, target === path ? name : target]
    }),
  )
}

/** The names that are no file at the work tree's top or the project's folder; a file that git ignores exists. */
export async function absentFiles(
  { witness }: Pick<WorkTree, 'witness'>,
  place: SnapshotLocation,
  named: readonly string[],
  links: ReadonlyMap<string, string | null>,
): Promise<readonly string[]> {
  if (named.length === 0) return []
  const namesOf = (one: string) => {
    return documentNames(links.get(one) ?? one).flatMap((path) => [path, `${place.prefix}${path}`])
  }
  const states = await witness.contents.states(place, named.flatMap(namesOf))
  return named.filter((one) => namesOf(one).every((path) => states?.get(path) === null))
}

export const openAttemptMeasurements = { ends: attemptEnds, changes: attemptChanges }

/** The records read for measuring an attempt. */
export interface AttemptChangesContext extends WorkTreeActivity {
  readonly sensitive: string | null
  /** What the agents of the other attempts say that have ended. */
  readonly statements: ReadonlyMap<string, AttemptStatement>
}

export async function changesAround(
  reads: Reads,
  { attempt, end }: AttemptEndState,
): Promise<AttemptChangesContext> {
  const [surroundings, settings] = await Promise.all([
    readAttemptSurroundings(reads, attempt, end?.until),
    reads.runs.settings(),
  ])
  const ended = [...surroundings.neighbors.values()].filter(
    ({ id, status }) => id !== attempt.id && status !== 'open' && status !== 'abandoned',
  )
  const statements = await reads.tasks.statements(ended.map(({ id }) => id))
  return { ...surroundings, sensitive: settings.get('sensitive') ?? null, statements }
}

/** Null where nothing can be measured. */
export function changesBrief(
  { attempt, end }: AttemptEndState,
  activity: AttemptChangesContext,
  claims: StatedOutcome = nothingStated,
): BriefOf<typeof attemptChanges>[number] | null {
  if (end === null || end.place === null) return null
  const { neighbors, hookEvidence } = activity
  const bounds = boundsOf(activity, spanOf(attempt, end.place, end.takenAt))
  return {
    id: attempt.id,
    from: attempt.snapshot,
    to: end.place,
    spans: bounds.map(({ from, to }) => ({ from: from.place, to: to.place })),
    reported: hookEvidence === null ? null : reportedPathsUntil(hookEvidence, end.until),
    packages: hasPackageArea([...claims.areas, ...[...neighbors.values()].flatMap(({ areas }) => areas)]),
    sensitive: activity.sensitive,
    claimed: claimedChanges(claims.outcome).map(({ path: name }) => name),
    openedAt: attempt.openedAt,
    written: activity.writes.length > 0,
  }
}

/** What an attempt changed, judged by its measured changes. */
export function measurementOf(
  { attempt, end }: AttemptEndState,
  activity: AttemptChangesContext,
  changes: MeasurementOf<typeof attemptChanges>[number] | undefined,
  claims: StatedOutcome = nothingStated,
): AttemptMeasurement {
  const nothing = { ...activity, intervals: [], packages: new Map<string, string>(), sensitive: new Map() }
  if (end === null)
    return judgeReport(attempt, unmeasuredEvidence(attempt), nothing, { claims, endSnapshot: null })
  if (end.place === null || changes === undefined) {
    const doubt = `The end state could not be recorded: ${end.error}`
    return judgeReport(attempt, unknownReport(doubt), nothing, { claims, endSnapshot: null })
  }
  const {
    report: measuredReport,
    spans,
    packages: packageEntries,
    sensitive,
    existing,
    absent,
    links,
  } = changes
  const span = spanOf(attempt, end.place, end.takenAt)
  const intervals =
    measuredReport.changes.length + measuredReport.headMoves.length + activity.writes.length === 0
      ? []
      : attributionIntervals(activity, span, spans, reportedPathsOf(measuredReport))
  const noted = {
    ...measuredReport,
    changes: withoutWrittenRenames(measuredReport.changes, writtenPaths(intervals).written),
    notes: [...end.notes, ...measuredReport.notes],
  }
  return judgeReport(
    attempt,
    noted,
    {
      ...activity,
      intervals,
      packages: new Map(packageEntries),
      sensitive: new Map(sensitive),
      existing: new Set(existing),
      absent: new Set(absent),
      links: new Map(links),
    },
    { claims, endSnapshot: end.place },
  )
}

function spanOf(attempt: Attempt, end: SnapshotLocation, at: number): MeasuredSpan {
  return { owner: attempt, start: { at: attempt.openedAt, place: attempt.snapshot }, end: { at, place: end } }
}

/** An attempt that began on another machine: its changes can only be measured there. */
function unmeasuredEvidence({ snapshot: { machineId, machineName, top } }: Attempt): ChangeReport {
  const location =
    machineId === undefined ? `where the record is kept, in ${top}` : `on ${machineName}, in ${top}`
  return unknownReport(
    `The attempt started ${location}: its changes can only be measured there, and were not.`,
  )
}

function unknownReport(doubt: string): ChangeReport {
  const nothing = { added: [], modified: [], deleted: [] }
  return {
    status: 'unknown',
    changes: [],
    ignored: nothing,
    headMoves: [],
    removedWork: [],
    notes: [],
    doubts: [doubt],
    unreadable: [],
  }
}
