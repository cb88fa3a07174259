import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { leftOutReasons, type UnifiedDiff } from '../../git/ports/work-tree.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt, plainLine } from '../../kernel/text.ts'
import type { NameBehind } from '../../people/operations/agent-owners.ts'
import {
  bringingCommands,
  type ChangeKind,
  type ContestedFile,
  countChanges,
  maxAuthors,
  type ReportedChange,
  sortOutOfScopeFirst,
} from '../domain/changes.ts'
import type { Correction } from '../domain/task.ts'
import { fixText, type Verdict, verdictRules, verdictValues } from '../domain/verdict.ts'
import type { RecordedUndo } from '../ports/tree-write-reads.ts'

/** The measurement of an attempt: its changes, the scope result, and what others did in the same tree. */

/** The limits keep an answer below 2,000 tokens. */
const maxPaths = 50
const pathCharacters = 2_000
const detailCharacters = 2_600
const maxContested = 20
const maxCommits = 10
const maxWarnings = 12

/** How completely the changes were seen. */
export const measurementLevel = z.enum(['exact', 'partial', 'unknown'])
const changeKind = z.enum(['added', 'modified', 'deleted', 'renamed'])

/** How git brought lines, as far as it is known. */
export const BroughtEntry = z.object({
  command: z.enum(bringingCommands).optional(),
  /** The commit or stash that has them. */
  commit: z.string().optional(),
})

export const ChangeEntry = z.object({
  path: z.string(),
  /** The old path of a rename. */
  from: z.string().optional(),
  change: changeKind,
  type_changed: z.literal(true).optional(),
  origin: z.enum(['task', 'imported', 'mixed']),
  /** Null where no areas were declared, and for contested changes. */
  scope: z.enum(['in', 'companion', 'shared', 'out', 'imported']).nullable(),
  attribution: z.enum(['certain', 'probable', 'contested']),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
  /** How many of the added lines git brought: nobody wrote them here. */
  brought_lines: z.int().optional(),
  brought_by: BroughtEntry.optional(),
  /** Other possible authors: the line counts are then shared. */
  with: list(z.object({ agent: z.string(), task_id: z.string() })).optional(),
  /** How many they are, if more than `with` lists. */
  with_total: z.int().optional(),
  lines: z.literal('all').optional(),
  /** The attempt at a subtask that made it. */
  via: z.string().optional(),
  /** The client's hooks report every edit, but not this one. */
  unseen: z.literal(true).optional(),
  uncertain: z.string().optional(),
})
export type ChangeEntry = z.output<typeof ChangeEntry>

export function changeEntry(change: ReportedChange): ChangeEntry {
  return {
    path: change.path,
    ...(change.from !== undefined && { from: change.from }),
    change: change.change,
    ...(change.typeChanged && { type_changed: true }),
    origin: change.origin,
    scope: change.scope,
    attribution: change.attribution,
    added_lines: change.addedLines,
    deleted_lines: change.deletedLines,
    ...(change.broughtLines !== undefined && { brought_lines: change.broughtLines }),
    ...(change.broughtBy && { brought_by: change.broughtBy }),
    ...(change.with !== undefined && {
      with: change.with.slice(0, maxAuthors).map(({ agent, taskId }) => ({ agent, task_id: taskId })),
      ...(change.with.length > maxAuthors && { with_total: change.with.length }),
      lines: 'all',
    }),
    ...(change.via !== undefined && { via: change.via }),
    ...(change.unseen && { unseen: true }),
    ...(change.uncertain !== undefined && { uncertain: change.uncertain }),
  }
}

export const ChangeCounts = z.object({
  added: z.int(),
  modified: z.int(),
  deleted: z.int(),
  renamed: z.int(),
})

export const Verification = z.object({
  scope_match: z.boolean().nullable(),
  unexpected_files: strings,
  /** The total, where the list is cut. */
  unexpected_total: z.int().optional(),
  warnings: strings,
})

/** That a person took the work of a task or turn back. It still counts as history. */
export const UndoneEntry = z.object({
  author: z.string(),
  undone_at: z.string(),
  /** The files before it: restoring it takes the undo back. */
  snapshot_id: z.string(),
})

export function undoneEntry({ id, author, undoneAt }: RecordedUndo): z.output<typeof UndoneEntry> {
  return { author, undone_at: instant(undoneAt), snapshot_id: id }
}

/** What the measurement says about the claim of a completion. */
export const VerdictEntry = z.object({
  is: z.enum(verdictValues),
  reasons: list(
    z.object({
      rule: z.enum(verdictRules),
      text: z.string(),
      paths: strings.optional(),
      /** The total, where the list is cut. */
      paths_total: z.int().optional(),
      /** What clears it. */
      fix: z.string().optional(),
    }),
  ),
  checks: list(
    z.object({
      command: z.string(),
      exit_code: z.int().nullable(),
      ran_at: z.string(),
      same_content: z.boolean(),
    }),
  ),
})

const maxReasons = 12
const maxReasonPaths = 10

export function verdictEntry(
  { is, reasons, checks }: Verdict,
  taskId: TaskId,
  /** The open items of the task, in the same answer. */
  waitsFor: readonly { readonly item_id: string | null; readonly kind: string }[] = [],
): z.output<typeof VerdictEntry> {
  const asking = waitsFor.find(({ kind }) => kind === 'review' || kind === 'verdict')
  return {
    is,
    reasons: reasons.slice(0, maxReasons).map(({ rule, text, paths, fix }) => ({
      rule,
      text: excerpt(text, 300),
      ...(paths && { paths: paths.slice(0, maxReasonPaths) }),
      ...(paths && paths.length > maxReasonPaths && { paths_total: paths.length }),
      ...(fix !== undefined && { fix: fixText(fix, taskId, asking) }),
    })),
    checks: checks.slice(0, maxReasons).flatMap(({ command, exitCode, ranAt, sameContent }) =>
      ranAt === null
        ? []
        : [
            {
              command: excerpt(command, 160),
              exit_code: exitCode,
              ran_at: instant(ranAt),
              same_content: sameContent,
            },
          ],
    ),
  }
}

/** Present only where there is content: contested files, commits, claimed paths. */
export const sharedTreeFields = {
  contested_files: list(
    z.object({ path: z.string(), candidates: strings, candidates_total: z.int().optional() }),
  ).optional(),
  contested_files_total: z.int().optional(),
  commits: list(
    z.object({ id: z.string(), subject: z.string(), whose: z.enum(['own', 'other', 'unknown']) }),
  ).optional(),
  commits_total: z.int().optional(),
  claimed_paths: list(
    z.object({ path: z.string(), found: z.enum(['uncontested', 'unchanged', 'missing']) }),
  ).optional(),
  claimed_paths_total: z.int().optional(),
  areas_added: strings.optional(),
}

const SharedTree = z.object(sharedTreeFields)

function contestedEntry({ path, candidates }: ContestedFile) {
  return {
    path,
    candidates: candidates.slice(0, maxAuthors),
    ...(candidates.length > maxAuthors && { candidates_total: candidates.length }),
  }
}

export function sharedTree({
  contested,
  commits,
  claimedPaths,
  widened,
}: Omit<AttemptMeasurement, 'changes'>): z.output<typeof SharedTree> {
  const listedContested =
    contested &&
    takeWithinBudget(contested.slice(0, maxContested), pathCharacters, ({ path }) => path.length + 30)
  const listedClaims =
    claimedPaths &&
    takeWithinBudget(claimedPaths.slice(0, maxContested), pathCharacters / 2, ({ path }) => path.length)
  return {
    ...(contested && listedContested && { contested_files: listedContested.map(contestedEntry) }),
    ...(contested &&
      listedContested &&
      contested.length > listedContested.length && { contested_files_total: contested.length }),
    ...(commits && {
      commits: commits.slice(0, maxCommits).map(({ id, subject, author }) => ({
        id: id.slice(0, 12),
        subject: excerpt(subject, 80),
        whose: author,
      })),
    }),
    ...(commits && commits.length > maxCommits && { commits_total: commits.length }),
    ...(listedClaims && { claimed_paths: listedClaims }),
    ...(listedClaims &&
      claimedPaths.length > listedClaims.length && { claimed_paths_total: claimedPaths.length }),
    ...(widened && { areas_added: widened }),
  }
}

/** The measured part of complete_task's answer. */
export const reportFields = {
  files_changed: z.object({
    added: strings,
    modified: strings,
    deleted: strings,
    renamed: list(z.object({ from: z.string(), to: z.string() })),
  }),
  counts: ChangeCounts,
  details: list(ChangeEntry),
  ...sharedTreeFields,
  ignored: z.object({ added: strings, modified: strings, deleted: strings }),
  /** The total, where the lists are cut. */
  ignored_total: z.int().optional(),
  measurement: measurementLevel,
  verification: Verification,
  /** A link to the whole list, where the answer is cut. */
  all_changes: z.string().optional(),
}

const Report = z.object(reportFields)

/** The measured part of an answer, cut to fit; `counts` always has the totals. */
export function completionReport(evidence: AttemptMeasurement, taskId: string): z.output<typeof Report> {
  const ordered = sortOutOfScopeFirst(evidence.changes)
  const listed = takeWithinBudget(
    ordered.slice(0, maxPaths),
    pathCharacters,
    ({ path, from }) => path.length + (from?.length ?? 0) + 12,
  )
  const details = takeWithinBudget(
    listed.map(changeEntry),
    detailCharacters,
    (detail) => JSON.stringify(detail).length,
  )
  const cut = details.length < ordered.length
  const paths = (kind: ChangeKind) => listed.filter(({ change }) => change === kind).map(({ path }) => path)
  return {
    files_changed: {
      added: paths('added'),
      modified: paths('modified'),
      deleted: paths('deleted'),
      renamed: listed
        .filter(({ change }) => change === 'renamed')
        .map(({ from, path }) => ({ from: from ?? path, to: path })),
    },
    counts: countChanges(evidence.changes),
    details,
    ...sharedTree(evidence),
    ...ignoredOf(evidence.ignored),
    measurement: evidence.measurement,
    verification: {
      scope_match: evidence.scope.matches,
      ...unexpectedFiles(
        evidence.scope.unexpected,
        takeWithinBudget(
          evidence.scope.unexpected.slice(0, maxPaths),
          pathCharacters / 2,
          (path) => path.length,
        ),
      ),
      warnings: cutWarnings(evidence.warnings),
    },
    ...(cut && { all_changes: `waymark://tasks/${taskId}/changes` }),
  }
}

const maxIgnored = 10

function ignoredOf({ added, modified, deleted }: AttemptMeasurement['ignored']) {
  const all = [added, modified, deleted]
  const isCut = all.some(({ length }) => length > maxIgnored)
  return {
    ignored: {
      added: added.slice(0, maxIgnored),
      modified: modified.slice(0, maxIgnored),
      deleted: deleted.slice(0, maxIgnored),
    },
    ...(isCut && { ignored_total: all.reduce((sum, { length }) => sum + length, 0) }),
  }
}

/** The listed files out of scope, and their total where the list is cut. */
export function unexpectedFiles(
  all: readonly string[],
  listed: readonly string[],
): Pick<z.output<typeof Verification>, 'unexpected_files' | 'unexpected_total'> {
  return { unexpected_files: listed, ...(listed.length < all.length && { unexpected_total: all.length }) }
}

function cutWarnings(warnings: readonly string[]): readonly string[] {
  const listed = warnings.slice(0, maxWarnings).map((warning) => excerpt(warning, 300))
  const remaining = warnings.length - listed.length
  return remaining === 0 ? listed : [...listed, `${remaining} more warnings.`]
}

/** The first items whose sizes together stay within a budget; at least one. */
function takeWithinBudget<Item>(
  items: readonly Item[],
  budget: number,
  sizeOf: (item: Item) => number,
): readonly Item[] {
  let used = 0
  const end = items.findIndex((item, index) => {
    used += sizeOf(item)
    return index > 0 && used > budget
  })
  return end === -1 ? items : items.slice(0, end)
}

/** Most characters of a diff in one answer. */
export const maxShownDiff = 2_000_000
const maxLeftOut = 100

/** Whether a diff is complete, and the files that it only names. */
export const truncationFields = {
  truncated: z.boolean(),
  left_out: list(z.object({ path: z.string(), why: z.enum(leftOutReasons) })).optional(),
  left_out_total: z.int().optional(),
}

const DiffAnswer = z.object({ diff: z.string(), ...truncationFields })

/** Diffs one after the other. */
export function diffAnswer(
  parts: readonly (UnifiedDiff & { readonly cut: boolean })[],
): z.output<typeof DiffAnswer> {
  const text = parts.map((part) => part.text).join('')
  const leftOut = parts.flatMap((part) => part.leftOut)
  return {
    diff: text.slice(0, maxShownDiff),
    truncated: parts.some(({ cut }) => cut) || text.length > maxShownDiff || leftOut.length > 0,
    ...(leftOut.length > 0 && { left_out: leftOut.slice(0, maxLeftOut), left_out_total: leftOut.length }),
  }
}

/** A correction of an attempt after its end. */
export const CorrectionEntry = z.object({
  text: z.string(),
  agent_name: z.string().nullable(),
  author: z.string(),
  /** The person behind the agent, on a team server. */
  person: z.string().nullable(),
  created_at: z.string(),
})

export function correctionEntry(
  { text, agentName, author: saidBy, actor, createdAt }: Correction,
  personOf: NameBehind,
): z.output<typeof CorrectionEntry> {
  return {
    text: excerpt(text, 600),
    agent_name: agentName,
    author: saidBy,
    person: personOf(actor),
    created_at: instant(createdAt),
  }
}

/** The newest addition to a statement, in one line. */
export function lastCorrection(corrections: readonly Correction[], max: number): string | null {
  const last = corrections.at(-1)
  return last === undefined
    ? null
    : `Added later by ${plainLine(last.agentName ?? last.author, 80)}: ${plainLine(last.text, max)}`
}
