import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import type { TaskId } from '../../kernel/id.ts'
import { pathInsidePrefix, pathPatterns } from '../../kernel/path-pattern.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { DoneWhen, Promised } from '../../plan/domain/done-when.ts'
import { pathsNamedBeside, pathsNamedIn, unchangedClaims, withoutDenials } from './claimed-paths.ts'
import { listField, nameAuthors, nameSome } from './owner-notes.ts'
import type { TaskOutcome } from './task.ts'

export const verdictValues = ['proven', 'unproven', 'contradicted'] as const
export type VerdictValue = (typeof verdictValues)[number]

/** What follows from a verdict, as the project's setting says; the default first. */
export const completionModes = ['review', 'flag', 'refuse'] as const
export type CompletionMode = (typeof completionModes)[number]

/** The default if nothing is set, or a value of a later version. */
export function completionModeOf(setting: string | undefined): CompletionMode {
  return completionModes.find((mode) => mode === setting) ?? 'review'
}

/** The rules that contradict a claim, and those that only leave it unproven. */
export const contradictionRules = [
  'nothing_changed',
  'claimed_not_changed',
  'check_failed',
  'packages_mismatch',
  'changes_missing',
  'keeps_changed',
  'tests_weakened',
] as const
const doubtRules = [
  'files_lost',
  'no_change',
  'no_check',
  'check_not_approved',
  'check_not_run',
  'check_disturbed',
  'check_failed_shared',
  'criterion_unanswered',
  'criterion_unmet',
  'measurement_partial',
  'subtask_contradicted',
  'promises_left_out',
  'changes_uncertain',
  'check_on_untracked',
  'claimed_not_found',
  'claimed_not_own',
] as const
export const verdictRules = [...contradictionRules, ...doubtRules] as const
export type VerdictRule = (typeof verdictRules)[number]

export interface VerdictReason {
  readonly rule: VerdictRule
  readonly text: string
  readonly paths?: readonly string[]
  /** What clears it, for the agent. */
  readonly fix?: string
}

/** A reason with the paths that its text does not name. */
export function reasonText(
  { text, paths = [] }: { readonly text: string; readonly paths?: readonly string[] | undefined },
  total = paths.length,
): string {
  const named = paths.filter((path) => !text.includes(path)).slice(0, maxNamed)
  if (named.length === 0) return text
  const more = total > named.length ? ` and ${total - named.length} more` : ''
  return `${text} ${named.join(', ')}${more}`
}

/** What the measurement says about the claim of a completion. */
export interface Verdict {
  readonly is: VerdictValue
  readonly reasons: readonly VerdictReason[]
  readonly checks: readonly CheckFact[]
  /** The hash of the work tree's content that the checks are about; absent without checks. */
  readonly content?: string
}

/** A command of `done_when` and its last result. */
export interface CheckFact {
  readonly command: string
  /** `ended`: it has a result; the others say why it has none for this content. */
  readonly state: 'ended' | 'not_approved' | 'not_run' | 'disturbed'
  readonly exitCode: number | null
  /** Null if it never ran. */
  readonly ranAt: number | null
  /** Whether it ran on exactly the content of the completion. */
  readonly sameContent: boolean
  /** Whether another attempt was open in the work tree since the task's own last edit. */
  readonly isShared?: boolean
  /** The person who rejected the command; only if it is not approved. */
  readonly refusal?: CheckRefusal
  /** A person revoked the last answer to the command. */
  readonly isRevoked?: true
}

export interface CheckRefusal {
  readonly author: string
  readonly reason: string
  /** Hash of the command, which a person needs to revoke the refusal. */
  readonly hash: string
}

/** A place where a changed file tests less than before. */
export interface WeakenedPlace {
  readonly path: string
  /** Null where the whole file is gone. */
  readonly line: number | null
  /** What happened, in neutral words: `test skipped`. */
  readonly text: string
}

/** A path that differs since the first attempt at the task began, by the task or its subtasks. */
export interface TaskChange {
  readonly path: string
  /** The old path of a rename. */
  readonly from?: string
  /** Git brought it, or another agent may have made it. */
  readonly isForeign?: true
}

/** A changed file that this task or another agent changed. */
export interface UncertainFile {
  readonly path: string
  readonly isProbablyOthers: boolean
  /** Nothing else says whose it is: of a file that the agent names, another agent names it too. */
  readonly isContested?: true
  readonly agents: readonly string[]
}

/** Whether the content of a task differs from the one that a person sent back, be it that the work was only put back. */
export type ChangeSinceSentBack =
  /** `elsewhere` is only on other branches or in other work trees. */
  | { readonly is: 'changed' | 'elsewhere' }
  /** Files may differ that only other tasks changed. */
  | { readonly is: 'unchanged'; readonly isOnlyOfOthers?: true }
  /** The differing files that no attempt at the task changed; empty where the two could not be compared. */
  | { readonly is: 'unknown'; readonly paths: readonly string[] }

/** What is known about a completion, before it is judged. */
export interface VerdictFacts {
  readonly status: TaskOutcome
  readonly outcome: Outcome
  readonly measurement: AttemptMeasurement['measurement']
  /** The folder of the project below the work tree's top: patterns are relative to it. */
  readonly prefix: string
  readonly changed: readonly TaskChange[]
  /** Without a send-back: the paths that differ since the first attempt began, and that no attempt changed. */
  readonly betweenAttempts?: readonly string[]
  /** A commit, another work tree, an ignored file or a subtask shows work that the changed files do not. */
  readonly hasOtherWork: boolean
  /** Of a task that a person sent back. */
  readonly sinceSentBack?: ChangeSinceSentBack
  /** The files that changed only on other branches or in other work trees, where none changed here. */
  readonly onlyElsewhere?: readonly string[]
  readonly claimedUnchanged: readonly string[]
  /** Those of them that are claimed as new files. */
  readonly claimedNew?: readonly string[]
  /** Paths that were claimed changed and do not exist. */
  readonly claimedMissing?: readonly string[]
  /** Paths that were claimed changed, and that changed since the task began, but in no attempt at it. */
  readonly claimedNotOwn?: readonly string[]
  /** Paths that were claimed changed, and that are as before an earlier attempt at the task changed them. */
  readonly claimedRestored?: readonly string[]
  /** Paths that were changed while the task was open, and whose contents are gone. */
  readonly lost?: readonly string[]
  readonly missingPackages?: readonly string[]
  /** Changed files of which the agents' words leave open whose they are. */
  readonly uncertain?: readonly UncertainFile[]
  /** Why not everything could be measured, in sentences. */
  readonly measureDoubts?: readonly string[]
  /** Changed files that are on disk, but no longer tracked. */
  readonly untracked?: readonly string[]
  /** Files that changed in nothing but white space. */
  readonly respaced?: readonly string[]
  readonly weakened?: readonly WeakenedPlace[]
  /** The parts of `done_when` that are judged without running anything. */
  readonly promises?: Pick<DoneWhen, 'criteria' | 'changes' | 'keeps'> & {
    readonly leftOut?: readonly Promised[]
  }
  readonly checks?: readonly CheckFact[]
  readonly content?: string | null
  readonly contradictedSubtasks?: readonly TaskId[]
}

/** The files that a completion names and that nothing changed. A verdict knows the task's other attempts too. */
export function claimsWithNoChange(
  evidence: Pick<AttemptMeasurement, 'claimedPaths'>,
  verdict: Pick<Verdict, 'reasons'> | null,
): readonly string[] {
  if (verdict === null) return unchangedClaims(evidence)
  return verdict.reasons.flatMap(({ rule, paths = [] }) => (rule === 'claimed_not_changed' ? paths : []))
}

export function isContradiction(rule: VerdictRule): boolean {
  return contradictionRules.some((one) => one === rule)
}

export function isDoubted(verdict: VerdictValue | null | undefined): boolean {
  return verdict === 'unproven' || verdict === 'contradicted'
}

/** Whether nothing changed, or nothing since a person sent it back. */
export function isOfNoChange(verdict: Pick<Verdict, 'reasons'> | null | undefined): boolean {
  return verdict?.reasons.some(({ rule }) => rule === 'nothing_changed' || rule === 'no_change') ?? false
}

/** Judges the claim of a completion. Null for a failed attempt: it claims nothing. */
export function judgeClaim(facts: VerdictFacts): Verdict | null {
  if (facts.status === 'failed') return null
  const contradictions = [
    ...nothingChanged(facts),
    ...claimedNotChanged(facts),
    ...failedChecks(facts),
    ...missingPackages(facts),
    ...missingChanges(facts),
    ...changedKeeps(facts),
    ...weakenedTests(facts),
  ]
  const doubts = [
    ...lostFiles(facts),
    ...explainedNoChange(facts),
    ...openChecks(facts),
    ...openCriteria(facts),
    ...partialMeasurement(facts),
    ...contradictedSubtasks(facts),
    ...promisesLeftOut(facts),
    ...uncertainChanges(facts),
    ...unknownSinceSentBack(facts),
    ...workElsewhere(facts),
    ...untrackedFiles(facts),
    ...claimedNotFound(facts),
    ...claimedNotOwn(facts),
  ]
  return verdictOf(contradictions, doubts, facts)
}

function verdictOf(
  contradictions: readonly VerdictReason[],
  doubts: readonly VerdictReason[],
  { checks = [], content }: Pick<VerdictFacts, 'checks' | 'content'>,
): Verdict {
  const is = contradictions.length > 0 ? 'contradicted' : doubts.length > 0 ? 'unproven' : 'proven'
  return { is, reasons: [...contradictions, ...doubts], checks, ...(content != null && { content }) }
}

const checkRules: readonly VerdictRule[] = [
  'no_check',
  'check_failed',
  'check_failed_shared',
  'check_not_approved',
  'check_not_run',
  'check_disturbed',
]

/** The verdict with later results of its checks, which ran on the same content. */
export function withCheckResults(
  { reasons, content }: Verdict,
  { status, checks }: { readonly status: TaskOutcome; readonly checks: readonly CheckFact[] },
): Verdict {
  const others = reasons.filter(({ rule }) => !checkRules.includes(rule))
  const contradictions = others.filter(({ rule }) => isContradiction(rule))
  const doubts = others.filter(({ rule }) => !isContradiction(rule))
  return verdictOf(
    [...contradictions, ...failedChecks({ status, checks })],
    [...openChecks({ status, checks }), ...doubts],
    { checks, content: content ?? null },
  )
}

/** The rules whose reasons name changed files, each of which can leave a task. */
const rulesOfFiles: readonly VerdictRule[] = ['keeps_changed', 'tests_weakened', 'check_on_untracked']

/** The verdict without what it says about files that turned out to be others'. Nothing new is held against it. */
export function withoutFiles(
  verdict: Verdict,
  {
    status,
    prefix,
    paths,
  }: { readonly status: TaskOutcome; readonly prefix: string; readonly paths: readonly string[] },
): Verdict {
  const gone = new Set(paths)
  const goneInside = new Set(paths.flatMap((path) => pathInsidePrefix(path, prefix) ?? []))
  const reasons = verdict.reasons.flatMap((reason): readonly VerdictReason[] => {
    if (!rulesOfFiles.includes(reason.rule)) return [reason]
    const left = reason.rule === 'keeps_changed' ? goneInside : gone
    const kept = (reason.paths ?? []).filter((path) => !left.has(path))
    if (kept.length === reason.paths?.length) return [reason]
    if (kept.length === 0) return []
    // The places in its text include those of the other files.
    const text = reason.rule === 'tests_weakened' ? { text: 'Tests check less than before:' } : {}
    return [{ ...reason, ...text, paths: kept }]
  })
  if (reasons.every((reason, at) => reason === verdict.reasons[at])) return verdict
  return withCheckResults({ ...verdict, reasons }, { status, checks: verdict.checks })
}

/** Whether two verdicts state the same; when a check ran last is no statement. */
export function isSameVerdict(a: Verdict, b: Verdict): boolean {
  const [before, after] = [a, b].map((verdict) =>
    JSON.stringify({ ...verdict, checks: verdict.checks.map((check) => ({ ...check, ranAt: null })) }),
  )
  return before === after
}

/** Whether a person would decide about the same: the same rules, and the same failed checks. */
export function asksTheSame(a: Verdict, b: Verdict): boolean {
  const [before, after] = [a, b].map(({ is, reasons, checks }) =>
    JSON.stringify([
      is,
      // Whose files they are is settled by words, without a person.
      reasons.flatMap(({ rule }) => (rule === 'measurement_partial' ? [] : [rule])),
      checks.filter(hasFailed).map(({ command }) => command),
    ]),
  )
  return before === after
}

/** Whether a person who answered the first verdict knows all that the second one is about. */
export function asksNothingNew(answered: Verdict, verdict: Verdict): boolean {
  const rules = new Set(answered.reasons.map(({ rule }) => rule))
  const failed = new Set(answered.checks.filter(hasFailed).map(({ command }) => command))
  return (
    verdict.reasons.every(({ rule }) => rules.has(rule)) &&
    verdict.checks.filter(hasFailed).every(({ command }) => failed.has(command))
  )
}

/** Whether a success changed nothing although a change was to be expected. */
function lacksChange(facts: VerdictFacts): boolean {
  const { status, measurement, changed, hasOtherWork, sinceSentBack, promises } = facts
  const isUnchanged = sinceSentBack ? sinceSentBack.is === 'unchanged' : changed.length === 0 && !hasOtherWork
  const isEmpty = isUnchanged && lostClaims(facts).length === 0
  return status === 'success' && measurement !== 'unknown' && isEmpty && promises?.changes?.length !== 0
}

/** The claimed paths whose contents are gone. */
function lostClaims({ lost = [], claimedUnchanged, prefix }: VerdictFacts): readonly string[] {
  return lost.filter((path) => claimedUnchanged.some((claimed) => isSamePath(claimed, path, prefix)))
}

/** A check that passes does not prove that no change was needed. */
function explainedNoChange(facts: VerdictFacts): readonly VerdictReason[] {
  const { noChangeReason = '' } = facts.outcome
  if (!lacksChange(facts) || !hasText(noChangeReason)) return []
  const { sinceSentBack, betweenAttempts = [] } = facts
  const isPlain = !sinceSentBack && betweenAttempts.length === 0
  const what = isPlain ? 'No file changed.' : unchangedSince(facts)
  return [{ rule: 'no_change', text: `${what} The agent says: ${noChangeReason.trim()}`, fix: askToAccept }]
}

const changedBefore = 'Files changed only while the task was not started'

function unchangedSince({ sinceSentBack, betweenAttempts = [] }: VerdictFacts): string {
  if (betweenAttempts.length > 0) return `${changedBefore}.`
  if (sinceSentBack?.is === 'unchanged' && sinceSentBack.isOnlyOfOthers)
    return 'Since the task was sent back, only other tasks, an undo or a restore changed files.'
  return `No file changed since the task ${sinceSentBack ? 'was sent back' : 'began'}.`
}

function unknownSinceSentBack(facts: VerdictFacts): readonly VerdictReason[] {
  const { status, measurement, sinceSentBack: since, promises } = facts
  const isJudged = status === 'success' && measurement !== 'unknown' && promises?.changes?.length !== 0
  if (!isJudged || since?.is !== 'unknown') return []
  const text =
    since.paths.length === 0
      ? 'What changed since the task was sent back could not be compared.'
      : 'Since the task was sent back, only files changed that may be the work of others:'
  const paths = since.paths.length > 0 && { paths: since.paths }
  return [{ rule: 'changes_uncertain', text, ...paths, fix: askToAccept }]
}

function nothingChanged(facts: VerdictFacts): readonly VerdictReason[] {
  const { outcome, betweenAttempts: paths = [] } = facts
  if (!lacksChange(facts) || hasText(outcome.noChangeReason)) return []
  return [
    {
      rule: 'nothing_changed',
      ...(paths.length > 0 ? { text: `${changedBefore}:`, paths } : { text: unchangedSince(facts) }),
      fix: `If no change was needed, complete again with "no_change_reason": "…" in the outcome. If not, complete as partial_success or failed, or make the change. ${startAgain} What you change before that does not count.`,
    },
  ]
}

/** What another command destroyed does not contradict the agent that wrote it. */
function lostFiles({ lost = [], changed }: VerdictFacts): readonly VerdictReason[] {
  const paths = lost.filter((path) => !changed.some((one) => one.path === path))
  if (paths.length === 0) return []
  return [
    {
      rule: 'files_lost',
      text: 'Changed, and lost since:',
      paths,
      fix: `Ask a person to bring them back (waymark inbox), or write them anew. ${onceEnded}`,
    },
  ]
}

/** Only another outcome answers a verdict: a correction stands beside the first one. */
function completeAgain(withWhat: string): string {
  return `Call complete_task again, with ${withWhat}.`
}

/** Where nothing that the agent does clears a doubt. */
const askToAccept = `Ask a person to accept the task. ${completeAgain('"manual_review_needed": true in the outcome')}`

/** In a fix that says more than who accepts the task. */
const askByOutcome =
  '"manual_review_needed": true in the outcome of complete_task asks for it, also after the end.'

/** A contradicted task can be started again, any other one that has ended is done. */
const startAgain = 'Once the task has ended, first: start_task { "planned_task_id": "<task>" }.'
const onceEnded =
  'Once the task has ended, first reopen it: taskman_task_edit { "id": "<task>", "status": "to_do" }, then start_task { "planned_task_id": "<task>" }.'

const verifyCommand = 'waymark verify <task>'

/** A fix for an agent: it names the task, and asks for no review where an inbox item already does. */
export function fixText(
  fix: string,
  taskId: TaskId,
  /** The open item that asks a person about the task; without an id in a preview. */
  asking?: { readonly item_id: string | null },
): string {
  const item = asking?.item_id == null ? 'the completion' : `inbox item ${asking.item_id}`
  const text =
    asking === undefined
      ? fix
      : fix
          .replace(
            askToAccept,
            `A person is asked to accept the task, by ${item}. Nothing else is to be done about it.`,
          )
          .replace(askByOutcome, `A person is asked, by ${item}.`)
  return text.replaceAll('<task>', taskId)
}

function isSamePath(claimed: string, path: string, prefix: string): boolean {
  return claimed === path || `${prefix}${claimed}` === path || path.endsWith(`/${claimed}`)
}

function claimedNotChanged({
  claimedUnchanged: claimed,
  claimedNew = [],
  lost = [],
  prefix,
}: VerdictFacts): readonly VerdictReason[] {
  const left = claimed.filter((one) => !lost.some((path) => isSamePath(one, path, prefix)))
  const reason = (text: string, paths: readonly string[]): readonly VerdictReason[] =>
    paths.length === 0
      ? []
      : [
          {
            rule: 'claimed_not_changed',
            text,
            paths,
            fix: `${completeAgain('a summary that names only files that you changed')} Or change them. ${startAgain}`,
          },
        ]
  return [
    ...reason(
      'Claimed as new, but not added:',
      left.filter((path) => claimedNew.includes(path)),
    ),
    ...reason(
      'Claimed but unchanged:',
      left.filter((path) => !claimedNew.includes(path)),
    ),
  ]
}

/** No contradiction: words can name files of other projects too. */
function claimedNotFound({ claimedMissing: paths = [] }: VerdictFacts): readonly VerdictReason[] {
  if (paths.length === 0) return []
  return [
    {
      rule: 'claimed_not_found',
      text: paths.length === 1 ? 'Claimed but does not exist:' : 'Claimed but do not exist:',
      paths,
      fix: `${completeAgain('a summary that names only files that you changed')} Or add the file. ${onceEnded}`,
    },
  ]
}

/** No contradiction: the agent may have written them between two attempts, or its work may be on another branch. */
function claimedNotOwn({ claimedNotOwn: notOwn = [], claimedRestored: restored = [] }: VerdictFacts) {
  const reason = (text: string, paths: readonly string[]): readonly VerdictReason[] =>
    paths.length === 0
      ? []
      : [
          {
            rule: 'claimed_not_own',
            text,
            paths,
            fix: completeAgain('a summary that names only files that you changed'),
          },
        ]
  return [
    ...reason('Claimed, but changed by no attempt at this task that was measured:', notOwn),
    ...reason('Claimed, but as before this task again:', restored),
  ]
}

function failedChecks({
  status,
  checks = [],
}: Pick<VerdictFacts, 'status' | 'checks'>): readonly VerdictReason[] {
  if (status !== 'success') return []
  return checks
    .filter((check) => hasFailed(check) && check.isShared !== true)
    .map(({ command, exitCode }) => ({
      rule: 'check_failed' as const,
      text: `${command} failed (${exitText(exitCode)}) on exactly this content.`,
      fix: `Complete as partial_success or failed, or fix it. ${startAgain}`,
    }))
}

function missingPackages({ missingPackages: missing = [] }: VerdictFacts): readonly VerdictReason[] {
  if (missing.length === 0) return []
  return [
    {
      rule: 'packages_mismatch',
      text: `No manifest or lock file contains ${missing.join(', ')}.`,
      fix: completeAgain('"metadata": { "packages_added": […] } that lists only packages that you added'),
    },
  ]
}

/** The paths of changes that promised patterns match. */
export function promisedChanges(
  changed: readonly TaskChange[],
  { prefix, promises }: Pick<VerdictFacts, 'prefix' | 'promises'>,
): readonly string[] {
  const patterns = promises?.changes ?? []
  if (patterns.length === 0) return []
  const { matches } = pathPatterns(patterns)
  const paths = changed.map(({ path }) => path)
  return [...new Set(paths)].filter((path) => matches(pathInsidePrefix(path, prefix) ?? ''))
}

/** The changes that count for promised patterns: more than white space. */
function countedChanges({ changed, respaced = [] }: VerdictFacts): readonly TaskChange[] {
  return changed.filter(({ path, from }) => from !== undefined || !respaced.includes(path))
}

function missingChanges(facts: VerdictFacts): readonly VerdictReason[] {
  const { status, prefix, promises } = facts
  const patterns = promises?.changes ?? []
  if (status !== 'success' || patterns.length === 0) return []
  const paths = projectPaths(countedChanges(facts), prefix)
  const lost = projectPaths(
    (facts.lost ?? []).map((path) => ({ path })),
    prefix,
  )
  const missing = patterns.filter((pattern) => !matchesSome(pattern, paths) && !matchesSome(pattern, lost))
  if (missing.length === 0) return []
  return [
    {
      rule: 'changes_missing',
      text: 'No changed file matches:',
      paths: missing,
      fix: `Complete as partial_success or failed, or make the change. ${startAgain}`,
    },
  ]
}

/** A promised change that git brought, or that another agent may have made, contradicts nothing and proves nothing. */
function uncertainChanges(facts: VerdictFacts): readonly VerdictReason[] {
  const { status, prefix, promises } = facts
  const patterns = promises?.changes ?? []
  if (status !== 'success' || patterns.length === 0) return []
  const counted = countedChanges(facts)
  const [all, own] = [counted, counted.filter(({ isForeign }) => isForeign !== true)].map((changes) =>
    projectPaths(changes, prefix),
  )
  const paths = patterns.filter(
    (pattern) => matchesSome(pattern, all ?? []) && !matchesSome(pattern, own ?? []),
  )
  if (paths.length === 0) return []
  return [
    {
      rule: 'changes_uncertain',
      text: 'Only files that git brought, or that another agent may have changed, match:',
      paths,
      fix: askToAccept,
    },
  ]
}

/** Checks ran on a content that has none of the work, which may even be others'. */
function workElsewhere(facts: VerdictFacts): readonly VerdictReason[] {
  const { status, outcome, promises, checks = [], onlyElsewhere: paths = [] } = facts
  const needsNone = promises?.changes?.length === 0 || hasText(outcome.noChangeReason)
  if (status !== 'success' || needsNone || checks.length === 0 || paths.length === 0) return []
  return [
    {
      rule: 'changes_uncertain',
      text: 'No file changed here, where the checks ran. On other branches or in other work trees these did:',
      paths,
      fix: `Complete the task in an attempt that was started in the work tree that has the work. ${onceEnded}`,
    },
  ]
}

function changedKeeps({ changed, prefix, promises }: VerdictFacts): readonly VerdictReason[] {
  const patterns = promises?.keeps ?? []
  const own = changed.filter(({ isForeign }) => isForeign !== true)
  const paths = projectPaths(own, prefix).filter((path) =>
    patterns.some((pattern) => matchesSome(pattern, [path])),
  )
  if (paths.length === 0) return []
  return [
    {
      rule: 'keeps_changed',
      text: 'Changed, but must not change:',
      paths,
      fix: `Restore it. ${startAgain}`,
    },
  ]
}

function weakenedTests({ outcome, weakened = [] }: VerdictFacts): readonly VerdictReason[] {
  const places = unexplainedPlaces(outcome, weakened)
  if (places.length === 0) return []
  const paths = [...new Set(places.map(({ path }) => path))]
  return [
    {
      rule: 'tests_weakened',
      text: `Tests check less than before: ${placesText(places)}.`,
      paths,
      fix: `If it is on purpose: ${completeAgain(`${listField('weakened', paths)} in the outcome`)} Otherwise restore ${paths.length === 1 ? 'it' : 'them'}. ${startAgain}`,
    },
  ]
}

/** The places that the outcome neither lists nor says to check less: naming a file in passing explains nothing. */
export function unexplainedPlaces<Place extends WeakenedPlace>(
  outcome: Outcome,
  weakened: readonly Place[],
): readonly Place[] {
  const paths = [...new Set(weakened.map(({ path }) => path))]
  const explained = new Set([
    ...(outcome.weakened ?? []).map(plainPath),
    ...pathsNamedBeside(outcome, paths, admission),
  ])
  return weakened.filter(({ path }) => !explained.has(path))
}

const admission =
  /\b(?:skip|disabl|ignor|todo|xfail|delet|remov|drop|weaken|loosen|lower|quarantin|focus|exclud|comment\w* out)/i

/** The first places by file and line, with what happened there. */
export function placesText(places: readonly WeakenedPlace[]): string {
  const named = places
    .slice(0, maxNamed)
    .map(({ path, line, text }) => `${path}${line === null ? '' : `:${line}`} (${text})`)
  const more = places.length > maxNamed ? ` and ${places.length - maxNamed} more` : ''
  return `${named.join(', ')}${more}`
}

function openChecks({
  status,
  checks = [],
}: Pick<VerdictFacts, 'status' | 'checks'>): readonly VerdictReason[] {
  if (checks.length === 0) {
    return [
      {
        rule: 'no_check',
        text: 'The task has no check.',
        fix: 'A check must be there before the completion: for the next task, pass "done_when": { "check": ["npm test"] } to start_task or plan_tasks.',
      },
    ]
  }
  return checks.flatMap((check): readonly VerdictReason[] => {
    const { command, state, exitCode } = check
    if (hasFailed(check)) {
      if (status === 'success' && check.isShared !== true) return []
      return [
        {
          rule: check.isShared === true ? 'check_failed_shared' : 'check_failed',
          text:
            check.isShared === true
              ? `${command} failed (${exitText(exitCode)}) and other agents worked in the same work tree during the task: their changes may be the cause.`
              : `${command} failed (${exitText(exitCode)}).`,
          fix:
            check.isShared === true
              ? `Run it yourself and read what it prints. If your change is at fault, mend it. ${onceEnded} When it passes on the same content: ${verifyCommand}`
              : `Fix it. ${startAgain}`,
        },
      ]
    }
    if (state === 'not_approved' && check.refusal !== undefined)
      return [{ rule: 'check_not_approved', text: refusalText(command, check.refusal), fix: askToAccept }]
    if (state === 'not_approved')
      return [
        {
          rule: 'check_not_approved',
          text: `"${command}" did not run: ${check.isRevoked ? 'a person revoked the answer about it' : 'no person had approved it'}.`,
          fix: `A person approves it in the inbox, and then runs it in a terminal: ${verifyCommand}`,
        },
      ]
    if (state === 'disturbed')
      return [
        {
          rule: 'check_disturbed',
          text: `Files were written while ${command} ran.`,
          fix: `Run it on the same content while nobody writes, in a terminal: ${verifyCommand}`,
        },
      ]
    if (state === 'ended' && check.sameContent && exitCode === 0) return []
    return [
      {
        rule: 'check_not_run',
        text: `${command} has not run on exactly this content.`,
        fix: `Run it on the same content, in a terminal: ${verifyCommand}`,
      },
    ]
  })
}

function refusalText(command: string, { author, reason, hash }: CheckRefusal): string {
  const why = reason === '' ? '' : `: ${reason.replace(/\.$/, '')}`
  return `"${command}" did not run: ${author} rejected it${why}. To take the rejection back: ${revokeCommand(hash)}`
}

/** The command that takes back the answer to a command. */
export function revokeCommand(hash: string): string {
  return `waymark command revoke ${hash.slice(0, 12)}`
}

function openCriteria({ outcome, promises }: VerdictFacts): readonly VerdictReason[] {
  const criteria = promises?.criteria ?? []
  const answers = new Map((outcome.criteria ?? []).map((answer) => [plainText(answer.criterion), answer]))
  return criteria.flatMap((criterion): readonly VerdictReason[] => {
    const answer = answers.get(plainText(criterion))
    if (answer?.met === true) return []
    if (answer === undefined) {
      return [
        {
          rule: 'criterion_unanswered',
          text: `Not answered: "${criterion}".`,
          fix: `Call complete_task again and answer it in the outcome: "criteria": [{ "criterion": ${JSON.stringify(criterion)}, "met": true, "how": "…" }].`,
        },
      ]
    }
    const how = hasText(answer.how) ? `: ${answer.how}` : ''
    return [
      {
        rule: 'criterion_unmet',
        text: `Not met: "${criterion}"${how}`,
        fix: `Meet it, and complete the task again. ${onceEnded} Or leave it: ${askToAccept}`,
      },
    ]
  })
}

function partialMeasurement(facts: VerdictFacts): readonly VerdictReason[] {
  const { measurement, uncertain = [], measureDoubts: doubts = [] } = facts
  if (measurement === 'exact') return []
  const isUnmeasured = measurement === 'unknown'
  const text = isUnmeasured
    ? 'The changes could not be measured.'
    : 'Not all changes could be measured exactly.'
  const measuring =
    isUnmeasured || doubts.length > 0
      ? [
          {
            rule: 'measurement_partial' as const,
            text: [text, ...doubts.slice(0, 1)].join(' '),
            fix: askToAccept,
          },
        ]
      : []
  const owners = [...Map.groupBy(uncertain, (file) => file.isProbablyOthers)].map(([isOthers, files]) => {
    const paths = files.map(({ path }) => path)
    return {
      rule: 'measurement_partial' as const,
      text: ownerText(isOthers, [...new Set(files.flatMap(({ agents }) => agents))]),
      paths,
      fix: ownerFix(files, pathsNamedIn(withoutDenials(facts.outcome), paths)),
    }
  })
  return [...measuring, ...owners]
}

/** What the agent can say of files that may be another's; it named some of them in its words. */
function ownerFix(files: readonly UncertainFile[], named: readonly string[]): string {
  const pronoun = (some: readonly unknown[]) => (some.length === 1 ? 'it' : 'them')
  const denial = `complete_task { "task_id": "<id>", "correction": "<why>", "not_mine": ["<path>"] }`
  const open = files.filter(({ path }) => !named.includes(path)).map(({ path }) => path)
  const own = files.filter(({ path }) => named.includes(path))
  if (open.length > 0) {
    const rest =
      own.length === 0
        ? ''
        : ` You named ${nameSome(own.map(({ path }) => path))}: no more is needed for ${pronoun(own)}.`
    return `Where you changed ${nameSome(open)}, name ${pronoun(open)} in the summary. Where not, send "not_mine": ["<path>"] in the outcome, or later ${denial}.${rest} Next time, start a work tree of your own.`
  }
  const it = pronoun(own)
  const said = own.every(({ isContested }) => isContested === true)
    ? `You and another agent named ${it}.`
    : `You named ${it}, which is enough unless another agent names ${it} too.`
  return `${said} If both of you changed ${it}, deny nothing: both tasks stay unproven until a person accepts them. ${askByOutcome} If only one of you did, the other one sends ${denial}.`
}

function ownerText(isProbablyOthers: boolean, agents: readonly string[]): string {
  const others = agents.length === 0 ? 'Another agent' : nameAuthors(agents)
  return `${others} worked in the same folder and ${isProbablyOthers ? 'probably' : 'may have'} changed:`
}

/**
 * The verdict without doubts about files of which it is known by now whose they are, or that they were meant to go.
 */
export function withoutDoubts(
  verdict: Verdict,
  {
    status,
    paths,
    rule = 'measurement_partial',
  }: {
    readonly status: TaskOutcome
    readonly paths: readonly string[]
    readonly rule?: 'measurement_partial' | 'files_lost'
  },
): Verdict {
  const known = new Set(paths)
  const reasons = verdict.reasons.flatMap((reason): readonly VerdictReason[] => {
    if (reason.rule !== rule || reason.paths === undefined) return [reason]
    const left = reason.paths.filter((path) => !known.has(path))
    return left.length === 0 ? [] : [{ ...reason, paths: left }]
  })
  return withCheckResults({ ...verdict, reasons }, { status, checks: verdict.checks })
}

function contradictedSubtasks({ contradictedSubtasks: ids = [] }: VerdictFacts): readonly VerdictReason[] {
  if (ids.length === 0) return []
  return [
    {
      rule: 'subtask_contradicted',
      text: `${formatCount(ids.length, 'subtask')} contradicted: ${ids.slice(0, maxNamed).join(', ')}.`,
      fix: `Do what their verdicts say, and complete this task after them. ${onceEnded}`,
    },
  ]
}

/** A check reads files on disk that are not part of the content any more: a checkout will lack them. */
function untrackedFiles({ checks = [], untracked = [] }: VerdictFacts): readonly VerdictReason[] {
  if (checks.length === 0 || untracked.length === 0) return []
  return [
    {
      rule: 'check_on_untracked',
      text: 'No longer tracked, but on disk while the checks ran:',
      paths: untracked,
      fix: 'Track or delete the files.',
    },
  ]
}

/** A person may leave out what mission and project promise; of an agent it is shown. */
function promisesLeftOut({ promises }: VerdictFacts): readonly VerdictReason[] {
  const { leftOut = [] } = promises ?? {}
  if (leftOut.length === 0) return []
  const named = leftOut.slice(0, maxNamed).map(({ list, text }) => `${list} "${excerpt(text, 120)}"`)
  const more = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : ''
  return [
    {
      rule: 'promises_left_out',
      text: `An agent left out what mission or project promise: ${named.join(', ')}${more}.`,
      fix: 'For the next task, pass "done_when": { "inherit": true, "changes": ["<path>"] }; or ask a person to leave it out.',
    },
  ]
}

const maxNamed = 5

function hasFailed({ state, exitCode, sameContent }: CheckFact): boolean {
  return state === 'ended' && sameContent && exitCode !== 0
}

function exitText(exitCode: number | null): string {
  return exitCode === null ? 'no exit code' : `exit ${exitCode}`
}

function projectPaths(changed: readonly TaskChange[], prefix: string): readonly string[] {
  const paths = changed.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
  return [...new Set(paths.flatMap((path) => pathInsidePrefix(path, prefix) ?? []))]
}

function matchesSome(pattern: string, paths: readonly string[]): boolean {
  const { matches } = pathPatterns([pattern])
  return paths.some(matches)
}

function plainPath(path: string): string {
  return path.trim().replace(/^\.\//, '')
}

function plainText(text: string): string {
  return text.normalize('NFC').trim().replace(/\s+/g, ' ').replace(/\.$/, '').toLowerCase()
}

function hasText(text: string | null | undefined): boolean {
  return (text ?? '').trim() !== ''
}
