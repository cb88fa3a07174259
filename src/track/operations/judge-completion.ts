import { z } from 'zod'
import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import { gapsOf, type WorkPeriod } from '../../gate/operations/run/changes-outside-attempts.ts'
import type { FileState } from '../../git/ports/work-tree.ts'
import { measuredList, names, place, time } from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  type MeasurementOf,
  measurement,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import type { TaskPromises } from '../../plan/operations/done-when.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../domain/changes.ts'
import {
  claimedChanges,
  claimsWithoutChange,
  missingPaths,
  unchangedPaths,
} from '../domain/claimed-changes/claimed-changes.ts'
import { unchangedClaims } from '../domain/claimed-paths.ts'
import { nameSome, removedWorkNotes } from '../domain/owner-notes.ts'
import { outOfScopeNotesFor } from '../domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, type TaskOutcome, treeOf } from '../domain/task.ts'
import {
  changesOfTask,
  contradictedSubtasks,
  earlierFiles,
  type FilesTakenBack,
  filesTakenBack,
  firstAttempt,
  hasOtherWork,
  hasWorkInTree,
  isInSameTree,
  type RelatedAttempt,
  sentBackAttempt,
  taskChange,
} from '../domain/task-work.ts'
import {
  type ChangeSinceSentBack,
  type CheckFact,
  judgeClaim,
  placesText,
  type TaskChange,
  type UncertainFile,
  unexplainedPlaces,
  type Verdict,
} from '../domain/verdict.ts'
import { isJudgedWeakening, type Weakening } from '../domain/weakened/weakened.ts'
import { broughtNotes } from './judge-report.ts'
import { absentFiles, claimLinks, claimLinksOf } from './measure-attempt.ts'

/** Of more attempts, only the last are searched for. */
const maxPast = 20
/** Of files that nobody is known to have changed, only the first are kept. */
const maxDiffering = 100
/** Of more attempts of other tasks, only the last are compared. */
const maxOthers = 200
const maxGaps = 100
const maxChangesOfOther = 1000

/** The work of a task that the changes of its last attempt do not show. */
export const taskTraces = measurement({
  brief: z.strictObject({
    end: place,
    /** Where the first attempt began; null where the changes since then are known. */
    first: place.nullable(),
    /** Since when other branches and work trees are searched; null if they are not. */
    since: time.nullable(),
    /** Earlier attempts: what they committed on other branches may be merged by now. */
    past: measuredList(z.strictObject({ head: z.string().max(200), from: time, until: time }), maxPast),
    /** Claimed paths that are searched for in the end snapshot. */
    claimed: names,
    /** When the first attempt began. */
    openedAt: time,
    /** The files of earlier attempts, at the start of the first attempt that changed them. */
    earlier: measuredList(z.strictObject({ start: place, paths: names })),
    /** The end of the attempt that a person sent back, and the files to compare if it was in another work tree. */
    sentBack: z
      .strictObject({
        end: place,
        paths: names,
        /** When no attempt of another task ran that changed these files. */
        gaps: measuredList(z.strictObject({ from: place, to: place.nullable(), paths: names }), maxGaps),
      })
      .nullable(),
  }),
  measured: z.strictObject({
    touched: names.nullable(),
    elsewhere: z.strictObject({ commits: z.int().min(0), paths: names }).nullable(),
    /** Those of the claimed paths that exist, and those that certainly do not. */
    existing: names,
    absent: names,
    links: claimLinks,
    /** The files of earlier attempts that are as at that start. */
    restored: names,
    /** The paths that differ since the attempt that was sent back ended; null where that is unknown. */
    sinceSentBack: names.nullable(),
    /** Those that changed in one of the gaps. */
    inGaps: names,
  }),
  fits: ({ earlier }, { restored }) =>
    isAmong(
      restored,
      earlier.flatMap(({ paths }) => paths),
    ),
  measure: async ({ witness }, { end, first, since, past, claimed, openedAt, earlier, sentBack }) => {
    const links = await claimLinksOf({ witness }, end, claimed, openedAt)
    const pathsOf = (name: string) => {
      const path = links.get(name) ?? name
      return [path, `${end.prefix}${path}`]
    }
    const [touched, elsewhere, states, absent, sinceSentBack, inGaps] = await Promise.all([
      first && witness.touchedPaths(first, end),
      since === null ? null : witness.elsewhere(end, since, past),
      claimed.length === 0 ? null : witness.contents.states(end, claimed.flatMap(pathsOf)),
      absentFiles({ witness }, end, claimed, links),
      sentBack && pathsSince({ witness }, sentBack, end),
      pathsInGaps({ witness }, sentBack?.gaps ?? [], end),
    ])
    const restored: string[] = []
    for (const { start, paths: changed } of earlier) {
      const isFirst = start.directory === first?.directory
      const found = isFirst ? touched : await witness.touchedPaths(start, end)
      if (found === null) continue
      const differing = new Set(found)
      restored.push(...changed.filter((path) => !differing.has(path)))
    }
    const exists = (path: string) => (states?.get(path) ?? null) !== null
    return {
      touched,
      elsewhere: elsewhere && { ...elsewhere, paths: [...elsewhere.paths] },
      existing: claimed.filter((name) => links.get(name) === name || pathsOf(name).some(exists)),
      absent,
      links: [...links],
      restored,
      sinceSentBack: sinceSentBack && [...sinceSentBack],
      inGaps,
    }
  },
})

interface SentBackEnd {
  readonly end: SnapshotLocation
  readonly paths: readonly string[]
  readonly gaps: readonly WorkGap[]
}

interface WorkGap {
  readonly from: SnapshotLocation
  /** Null: the end of the attempt. */
  readonly to: SnapshotLocation | null
  readonly paths: readonly string[]
}

/** A gap that cannot be compared may have changed all its files. */
async function pathsInGaps(
  { witness }: Pick<WorkTree, 'witness'>,
  gaps: readonly WorkGap[],
  now: SnapshotLocation,
): Promise<readonly string[]> {
  const found = gaps.map(async ({ from, to, paths }) => {
    const differing = await pathsSince({ witness }, { end: from, paths }, to ?? now)
    return differing === null ? paths : paths.filter((path) => differing.includes(path))
  })
  return [...new Set((await Promise.all(found)).flat())]
}

/** In another work tree of the machine, only the states of some files can be compared. */
async function pathsSince(
  { witness }: Pick<WorkTree, 'witness'>,
  { end: from, paths }: Pick<SentBackEnd, 'end' | 'paths'>,
  to: SnapshotLocation,
): Promise<readonly string[] | null> {
  try {
    if (from.top === to.top) return await witness.touchedPaths(from, to)
    const [before, after] = await Promise.all([from, to].map((one) => witness.contents.states(one, paths)))
    if (!before || !after) return null
    return paths.filter((path) => contentOf(before.get(path)) !== contentOf(after.get(path)))
  } catch {
    // The work tree is gone, or out of reach.
    return null
  }
}

function contentOf(state: FileState | null | undefined): string | undefined {
  return state ? `${state.mode} ${state.id ?? state.hash}` : undefined
}

type TaskTraces = MeasurementOf<typeof taskTraces>

/** What the contents of changed files and manifests show. */
interface ComparedContents {
  readonly weakened: readonly Weakening[]
  /** Packages that no manifest has. */
  readonly missing: readonly string[]
  /** Promised files that changed in nothing but white space. */
  readonly respaced: readonly string[]
}

/** The claim of a completion, and what was measured and recorded about it. */
export interface ClaimedCompletion {
  readonly attempt: Attempt
  readonly status: TaskOutcome
  readonly outcome: Outcome
  readonly evidence: AttemptMeasurement
  readonly related: readonly RelatedAttempt[]
  /** Of the task, with those of its mission and project. */
  readonly promises: TaskPromises
  readonly checks: readonly CheckFact[]
  /** The hash of the content that the checks are about; null without checks. */
  readonly content: string | null
  /** Changed paths whose contents are gone. */
  readonly lost?: readonly string[]
  /** The tasks beside it that its own session worked on. */
  readonly sessionTasks: ReadonlySet<string>
  /** When a person sent the work back that this attempt does again. */
  readonly sentBackAt: number | null
  /** What other tasks, undos and restores changed since then. */
  readonly others: readonly OtherWork[]
  /** The same measurement is judged again, with other words. */
  readonly isAmended: boolean
}

/** An attempt of another task, an undo or a restore in the same work tree, and the files that are certainly its own. */
interface OtherWork {
  readonly attempt: WorkPeriod
  readonly paths: readonly string[]
}

/** What other tasks and people's commands changed in the work tree since the end that a person sent back, or the first start. */
export async function workOfOthers(
  { tasks, treeWrites }: Reads,
  attempt: Attempt,
  { related, sentBackAt }: Pick<ClaimedCompletion, 'related' | 'sentBackAt'>,
): Promise<readonly OtherWork[]> {
  const last = sentBackAt === null ? null : sentBackAttempt(attempt, related, sentBackAt)
  const first = firstAttempt(attempt, related)
  const from = last ? (last.closedAt ?? 0) : first.openedAt
  if (last === null && (sentBackAt !== null || first.id === attempt.id)) return []
  if (last && !isInSameTree(last, attempt)) return []
  const own = new Set([attempt.id, ...related.map((one) => one.attempt.id)])
  const until = attempt.closedAt ?? Number.POSITIVE_INFINITY
  const tree = treeOf(attempt.snapshot)
  const [since, writes] = await Promise.all([tasks.attemptsInTree(tree, from), treeWrites.since(from, tree)])
  const others = since
    .filter(({ id, endSnapshot }) => endSnapshot !== null && !own.has(id))
    .filter(({ closedAt }) => (closedAt ?? 0) <= until)
    .slice(-maxOthers)
  const works = others.map(async (other) => {
    const changes = await tasks.changes(other.id, { limit: maxChangesOfOther, offset: 0 })
    const certain = changes.filter((one) => one.origin === 'task' && one.attribution === 'certain')
    return { attempt: other, paths: endsOf(certain) }
  })
  const written = writes
    .filter(({ writtenAt }) => writtenAt <= until)
    .slice(0, maxOthers)
    .map(({ before: snapshot, after: endSnapshot, writtenAt: at, files: paths }) => ({
      attempt: { status: 'success', snapshot, endSnapshot, openedAt: at, closedAt: at } as const,
      paths,
    }))
  return [...(await Promise.all(works)), ...written].toSorted(
    (a, b) => a.attempt.openedAt - b.attempt.openedAt,
  )
}

/** What must be measured before the completion can be judged; null for nothing. */
export function tracesBrief(completion: ClaimedCompletion): BriefOf<typeof taskTraces> | null {
  const { attempt, status, outcome, evidence, related, isAmended } = completion
  const { endSnapshot: end, measurement: completeness } = evidence
  if (end === null || completeness === 'unknown') return null
  const first = firstAttempt(attempt, related)
  const isFirst = first.id === attempt.id
  if (status === 'failed') {
    const earlier = isAmended ? [] : earlierStarts(completion)
    if (earlier.length === 0) return null
    const nothing = { first: null, since: null, past: [], claimed: [], sentBack: null }
    return { ...nothing, end, openedAt: first.openedAt, earlier }
  }
  const isElsewhereKnown = evidence.elsewhere !== undefined
  const unanswered = Object.values(unansweredClaims(completion, undefined)).flat()
  const isEmpty = seemsEmpty(completion)
  const seeks = !isElsewhereKnown && (unanswered.length > 0 || isEmpty)
  const since = isEmpty && completion.sentBackAt !== null ? completion.sentBackAt : first.openedAt
  const sentBack = sentBackBrief(completion)
  if (isFirst && !isAmended && !seeks && sentBack === null) return null
  return {
    end,
    first: isFirst && !isAmended ? null : first.snapshot,
    since: seeks ? since : null,
    past: seeks ? pastWork(related.filter(({ attempt: { closedAt } }) => (closedAt ?? since) >= since)) : [],
    claimed: isAmended ? claimedChanges(outcome).map(({ path }) => path) : unanswered,
    openedAt: first.openedAt,
    earlier: earlierStarts(completion),
    sentBack,
  }
}

/** The end that a person sent back, if it is on this machine. */
function sentBackBrief(completion: ClaimedCompletion): SentBackEnd | null {
  const { attempt, related, sentBackAt } = completion
  const last = sentBackAt === null ? null : sentBackAttempt(attempt, related, sentBackAt)
  const end = last?.endSnapshot ?? null
  if (last === null || end === null || end.machineId !== attempt.snapshot.machineId) return null
  return { end, paths: ownPathsSince(completion), gaps: gapsBesideOthers(last, completion.others) }
}

/** The intervals since an attempt ended in which no other task ran that changed a file. */
function gapsBesideOthers(last: Attempt, others: readonly OtherWork[]): readonly WorkGap[] {
  const gaps = new Map<string, WorkGap & { readonly paths: string[] }>()
  for (const path of new Set(others.flatMap(({ paths }) => paths))) {
    const ofPath = others.filter(({ paths }) => paths.includes(path))
    for (const { from, to } of gapsOf([last, ...ofPath.map(({ attempt }) => attempt)])) {
      const key = `${from.id} ${to?.id ?? ''}`
      const gap = gaps.get(key) ?? { from, to, paths: [] }
      gap.paths.push(path)
      gaps.set(key, gap)
    }
  }
  return [...gaps.values()].slice(0, maxGaps)
}

/** The files that the task itself changed since a person sent it back. */
function ownPathsSince(completion: ClaimedCompletion): readonly string[] {
  const own = completion.evidence.changes.map((change) => taskChange(change, completion.sessionTasks))
  return ownPathsOf([...own, ...sinceSentBack(completion).flatMap(({ changes }) => changes)])
}

function ownPathsOf(changes: readonly TaskChange[]): readonly string[] {
  return endsOf(changes.filter(({ isForeign }) => isForeign !== true))
}

/** The files of earlier attempts, each with the first attempt that changed it. */
function earlierStarts({ attempt, related }: ClaimedCompletion): BriefOf<typeof taskTraces>['earlier'] {
  const known = new Set<string>()
  return earlierFiles(attempt, related).flatMap(({ attempt: { snapshot: start }, paths: changed }) => {
    const paths = changed.filter((path) => !known.has(path))
    for (const path of paths) known.add(path)
    return paths.length === 0 ? [] : [{ start, paths }]
  })
}

function pastWork(related: readonly RelatedAttempt[]): BriefOf<typeof taskTraces>['past'] {
  const past = related.flatMap(({ attempt: { openedAt: from, closedAt: until, endSnapshot } }) =>
    endSnapshot === null || until === null ? [] : [{ head: endSnapshot.id, from, until }],
  )
  return past.slice(-maxPast)
}

/** Whether there is success without a changed file: of the task, or since a person sent it back. */
function seemsEmpty({ status, outcome, evidence, ...work }: ClaimedCompletion): boolean {
  const isEmpty =
    outcome.noChangeReason === undefined &&
    evidence.changes.length === 0 &&
    sinceSentBack(work).every(({ changes }) => changes.length === 0)
  return status === 'success' && isEmpty && (work.sentBackAt !== null || !hasWorkInTree(evidence))
}

/** The other attempts that a person has not sent back. */
function sinceSentBack({
  related,
  sentBackAt,
}: Pick<ClaimedCompletion, 'related' | 'sentBackAt'>): readonly RelatedAttempt[] {
  return related.filter(
    ({ attempt: { closedAt } }) => sentBackAt === null || closedAt === null || closedAt > sentBackAt,
  )
}

/** Of work that a person sent back: whether its content is another than the one that was sent back. */
function changeSinceSentBack(
  completion: ClaimedCompletion,
  {
    sinceSentBack: differing = null,
    inGaps = [],
    elsewhere,
  }: Pick<Partial<TaskTraces>, 'sinceSentBack' | 'inGaps' | 'elsewhere'>,
): ChangeSinceSentBack | undefined {
  const { attempt, related, sentBackAt, evidence } = completion
  if (sentBackAt === null) return undefined
  const end = sentBackAttempt(attempt, related, sentBackAt)
  const isHere = end !== null && isInSameTree(end, attempt)
  const own = new Set([
    ...ownPathsSince(completion),
    ...(isHere ? ownPathsOf(related.flatMap(({ changes }) => changes)) : []),
  ])
  if (differing === null) return { is: 'unknown', paths: [] }
  if (!isHere)
    return differing.some((path) => own.has(path)) ? { is: 'changed' } : { is: 'unknown', paths: [] }
  const doubted = new Set([
    ...inGaps,
    ...endsOf([...evidence.changes, ...sinceSentBack(completion).flatMap(({ changes }) => changes)]),
    ...otherPathsOf(evidence),
  ])
  const recorded = new Set(completion.others.flatMap(({ paths }) => paths))
  // Another task may have changed a file of this one.
  const open = differing.filter((path) => doubted.has(path) || !recorded.has(path))
  if (open.some((path) => own.has(path))) return { is: 'changed' }
  if (open.length > 0) return { is: 'unknown', paths: open.slice(0, maxDiffering) }
  if ((elsewhere?.paths ?? []).length > 0) return { is: 'elsewhere' }
  return { is: 'unchanged', ...(differing.length > 0 && { isOnlyOfOthers: true }) }
}

export interface JudgedCompletion {
  readonly verdict: Verdict | null
  /** The measurement, with the work elsewhere that was searched for. */
  readonly evidence: AttemptMeasurement
  /** Files of earlier attempts that are as before the task changed them. */
  readonly restored: readonly FilesTakenBack[]
}

export function judgeCompletion(
  completion: ClaimedCompletion,
  traces: TaskTraces | undefined,
  compared: ComparedContents | undefined,
): JudgedCompletion {
  const { attempt, status, outcome, related, promises, checks, content, sessionTasks } = completion
  const elsewhere = completion.evidence.elsewhere ?? traces?.elsewhere
  const { weakened = [], missing = [], respaced = [] } = compared ?? {}
  const restored = filesTakenBack(attempt, related, traces?.restored ?? [])
  const inScope = scopeAfterUndoing(completion.evidence, restored)
  const warnings = [...warningsAfterUndoing(inScope, restored, related), ...reportedNote(outcome, weakened)]
  const evidence = { ...inScope, warnings, ...(elsewhere && { elsewhere }) }
  const measured = { ...completion, evidence }
  const touched = traces?.touched ?? null
  const unanswered = unansweredClaims(measured, traces)
  const changed = changesOfTask(attempt, { own: evidence.changes, related, touched, sessionTasks })
  const here = [evidence, ...related.flatMap(({ measured: other }) => other ?? [])]
  const sentBack = changeSinceSentBack(measured, { ...traces, elsewhere: elsewhere ?? null })
  const recorded = new Set(completion.others.flatMap(({ paths }) => paths))
  const between = sentBack || changed.length > 0 ? [] : (touched ?? []).filter((path) => !recorded.has(path))
  const isOnlyElsewhere = sentBack ? sentBack.is === 'elsewhere' : changed.length === 0
  const verdict = judgeClaim({
    status,
    outcome,
    measurement: evidence.measurement,
    prefix: attempt.snapshot.prefix,
    changed,
    onlyElsewhere: isOnlyElsewhere && (sentBack || !here.some(hasWorkInTree)) ? (elsewhere?.paths ?? []) : [],
    hasOtherWork: here.some(hasOtherWork),
    ...(sentBack && { sinceSentBack: sentBack }),
    ...(between.length > 0 && { betweenAttempts: between.slice(0, maxDiffering) }),
    claimedUnchanged: unanswered.unchanged,
    claimedNew: claimedChanges(outcome).flatMap(({ path, isCreated }) => (isCreated ? [path] : [])),
    claimedMissing: unanswered.missing,
    claimedNotOwn: unanswered.notOwn,
    claimedRestored: unanswered.restored,
    lost: completion.lost ?? [],
    missingPackages: missing,
    respaced,
    untracked: untrackedChanges(evidence),
    uncertain: uncertainFiles(evidence),
    measureDoubts: evidence.doubts ?? [],
    weakened: weakened.filter(isJudgedWeakening),
    promises,
    checks,
    content,
    contradictedSubtasks: contradictedSubtasks(attempt.taskId, related),
  })
  return { verdict, evidence, restored }
}

/** A file that is as before the task again is no change out of scope. */
function scopeAfterUndoing(
  evidence: AttemptMeasurement,
  restored: readonly FilesTakenBack[],
): AttemptMeasurement {
  const back = new Set(restored.flatMap(({ paths }) => paths))
  const { scope, changes, warnings } = evidence
  const unexpected = scope.unexpected.filter((path) => !back.has(path))
  if (unexpected.length === scope.unexpected.length) return evidence
  return {
    ...evidence,
    scope: { matches: scope.matches === null ? null : unexpected.length === 0, unexpected },
    changes: changes.map((change) =>
      change.scope === 'out' && back.has(change.path) ? { ...change, scope: null } : change,
    ),
    warnings: outOfScopeNotesFor(warnings, unexpected.length),
  }
}

/** A file that is as before the task again says that, instead of warnings about lines that went or that git brought. */
function warningsAfterUndoing(
  { warnings, changes, removedWork: removed = [] }: AttemptMeasurement,
  restored: readonly FilesTakenBack[],
  related: readonly RelatedAttempt[],
): readonly string[] {
  const back = new Set(restored.flatMap(({ paths }) => paths))
  const paths = changes.flatMap(({ path }) => (back.has(path) ? [path] : []))
  if (paths.length === 0) return warnings
  const stale = [...removedWorkNotes(removed), ...broughtNotes(changes)]
  const undone = restored.filter((files) => files.paths.some((path) => paths.includes(path)))
  const numbers = undone.flatMap(({ attemptId }) =>
    related.flatMap(({ attempt: { id, number } }) => (id === attemptId ? [number] : [])),
  )
  return [
    ...warnings.filter((warning) => !stale.includes(warning)),
    ...removedWorkNotes(removed.filter((path) => !back.has(path))),
    ...broughtNotes(changes.filter(({ path }) => !back.has(path))),
    `Back to their state before the task, which undoes attempt ${numbers.join(' and ')}: ${nameSome(paths)}.`,
  ]
}

/** The files of which it is not settled whose they are, each with the other agents. */
function uncertainFiles({ uncertain = [], changes, contested = [] }: AttemptMeasurement) {
  const own = new Map(changes.map(({ path, with: others = [] }) => [path, others.map(({ agent }) => agent)]))
  const others = new Map(contested.map(({ path, candidates }) => [path, candidates]))
  const contestedPaths = new Set(
    changes.flatMap(({ path, attribution }) => (attribution === 'contested' ? [path] : [])),
  )
  return uncertain.map((path): UncertainFile => {
    const agents = own.get(path) ?? others.get(path) ?? []
    return {
      path,
      isProbablyOthers: !own.has(path),
      agents,
      ...(contestedPaths.has(path) && { isContested: true }),
    }
  })
}

/** Changed files that git ignores by now. */
function untrackedChanges({ changes, ignored }: AttemptMeasurement): readonly string[] {
  const ignoredPaths = new Set([...ignored.added, ...ignored.modified])
  return changes.flatMap(({ path }) => (ignoredPaths.has(path) ? [path] : []))
}

/** What tests and checks lost is reported, not judged. */
function reportedNote(outcome: Outcome, weakened: readonly Weakening[]): readonly string[] {
  const judged = weakened.filter(isJudgedWeakening)
  const unexplained = new Set(unexplainedPlaces(outcome, judged))
  const explained = judged.filter((place) => !unexplained.has(place))
  const reported = weakened.filter((one) => !isJudgedWeakening(one))
  return [
    ...(explained.length === 0
      ? []
      : [`Tests check less than before, as the outcome says: ${placesText(explained)}.`]),
    ...(reported.length === 0 ? [] : [`Changed in tests and checks: ${placesText(reported)}.`]),
  ]
}

interface UnansweredClaims {
  readonly unchanged: readonly string[]
  readonly missing: readonly string[]
  /** They differ since the first attempt began, and no attempt changed them. */
  readonly notOwn: readonly string[]
  /** Only an earlier attempt changed them, and they are as before the task again. */
  readonly restored: readonly string[]
}

/** The paths that the outcome names and that the task did not change. */
function unansweredClaims(
  { attempt, outcome, evidence, related, isAmended }: ClaimedCompletion,
  traces: TaskTraces | undefined,
): UnansweredClaims {
  const earlier = endsOf(related.flatMap(({ changes }) => changes))
  const others = [
    ...endsOf(evidence.changes),
    ...[evidence, ...related.flatMap(({ measured }) => measured ?? [])].flatMap(otherPathsOf),
  ]
  const own = [...others, ...earlier]
  const changed = [...own, ...(traces?.touched ?? [])]
  const claims = claimedChanges(outcome)
  const links = new Map(traces?.links)
  const existing = new Set([...unchangedClaims(evidence), ...(traces?.existing ?? [])])
  const leftOf = (paths: readonly string[]) =>
    claimsWithoutChange(claims, paths, links, existing).map(({ path }) => path)
  // Between two attempts anyone may have written, and what an attempt left that was not measured, no review shows.
  const isLater = firstAttempt(attempt, related).id !== attempt.id
  const left = new Set(leftOf(changed))
  const notOwn = isLater ? leftOf(own).filter((path) => !left.has(path)) : []
  const back = new Set(traces?.restored)
  const remaining = [...others, ...earlier.filter((path) => !back.has(path)), ...(traces?.touched ?? [])]
  const restored = back.size === 0 ? [] : leftOf(remaining).filter((path) => !left.has(path))
  // What other agents changed is only in the first measurement, and in the paths that differ.
  if (isAmended && traces?.touched) {
    return {
      unchanged: unchangedPaths(claims, { changed, existing: new Set(traces.existing), links }),
      missing: missingPaths(claims, { changed, absent: new Set(traces.absent), links }),
      notOwn,
      restored,
    }
  }
  const claimsOf = (found: 'unchanged' | 'missing') =>
    unchangedClaims(evidence, found).filter((path) => left.has(path))
  return { unchanged: claimsOf('unchanged'), missing: claimsOf('missing'), notOwn, restored }
}

/** What an attempt may have changed beside its changes. */
function otherPathsOf({
  ignored: { added, modified, deleted },
  contested = [],
  elsewhere,
}: Pick<AttemptMeasurement, 'ignored' | 'contested' | 'elsewhere'>): readonly string[] {
  return [
    ...contested.map(({ path }) => path),
    ...added,
    ...modified,
    ...deleted,
    ...(elsewhere?.paths ?? []),
  ]
}

function endsOf(changes: readonly Pick<ReportedChange, 'path' | 'from'>[]): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
}
