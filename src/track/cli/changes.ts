import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { conflictWords, stayWords } from '../../lines/domain/undo-file.ts'
import { blocks, bullets, cutNote, indentText, section, warnings } from '../../surfaces/cli/render/parts.ts'
import { escapeLineBreaks } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'
import type { TextStyle } from '../../surfaces/cli/terminal.ts'
import { broughtByGit, namesWithMore } from '../domain/changes.ts'
import { repeatsScope } from '../domain/scope/repeats-scope.ts'

export const changes: AnswerView<'changes'> = (answer, page) => {
  const { changes: files, counts } = answer
  const soFar = answer.status === 'open' ? ' so far' : ''
  return blocks(
    `${page.ink('bold', `"${answer.task_name}"`)} ${page.ink('dim', answer.attempt_id)}${soFar}: ${countsInWords(counts)}`,
    changedFiles(files, page),
    sharedTreeText(answer, page),
    scopeText(answer, page, { counts, listed: files }),
  )
}

/** Every file that a mission changed, in the form of the changes of a task. */
export const missionChanges: AnswerView<'mission_changes'> = (answer, page) => {
  const { files, total } = answer
  if (files.length === 0) return 'No file was changed.'
  const out = files.filter((file) => file.scope === 'out').length
  const head = `${formatCount(total, 'file')} changed in ${answer.id}`
  return blocks(
    out === 0 ? head : `${head}, ${page.ink('red', `${out} outside the declared scope`)}`,
    changedFiles(files, page),
  )
}

export const diff: AnswerView<'diff'> = (answer, page) => {
  const { contested_files: others = [], contested_files_total: total = others.length } = answer
  return blocks(
    section('Probably by others, not counted', indentText(contestedRows(others, page)), page),
    cutNote(others.length, total, 'waymark changes shows the whole task.'),
    diffText(answer, page),
  )
}

export const diffOfTurn: AnswerView<'sessions_diff'> = (answer, page) => diffText(answer, page)

export const undo: AnswerView<'undo'> = (answer, page) => {
  const { id, title, files, files_total: total, conflicts, stays, dependents, notes } = answer
  const { ink } = page
  const name = `"${title}" ${ink('dim', id)}`
  const head = answer.written
    ? `${ink('green', 'Undid')} ${name}: ${formatCount(total, 'file')} in ${answer.work_tree}.`
    : `Would undo ${name}: ${formatCount(total, 'file')} in ${answer.work_tree}.${page.isAsked === true ? '' : ' Nothing was written.'}`
  const rows = (entries: readonly (readonly [path: string, note: string])[]) =>
    indentText(entries.map(([path, note]) => `${escapeLineBreaks(path)}  ${ink('dim', note)}`).join('\n'))
  const markWords = (isMarked: boolean) => (isMarked ? ', marked in the file' : '')
  return blocks(
    answer.written ? '' : diffText({ ...answer, left_out_total: 0 }, page),
    head,
    answer.written ? section('Files', rows(files.map(({ path, action }) => [path, action])), page) : '',
    cutNote(answer.written ? files.length : total, total, 'the others are not listed here.'),
    section(
      'Conflicts',
      rows(conflicts.map((one) => [one.path, `${conflictWords[one.reason]}${markWords(one.marked)}`])),
      page,
    ),
    cutNote(conflicts.length, answer.conflicts_total, 'the others are not listed here.'),
    section(
      'Stays',
      rows(
        stays.map(({ path, reason, lines }) => [
          path,
          `${lines === null ? 'the file' : formatCount(lines, 'line')}: ${stayWords[reason]}`,
        ]),
      ),
      page,
    ),
    cutNote(stays.length, answer.stays_total, 'the others are not listed here.'),
    section('Depend on it', rows(dependents.map((one) => [one.id, one.name])), page),
    warnings(notes, page),
    answer.reopened ? `${id} is to do again.` : '',
    answer.snapshot_id === null ? '' : `To take the undo back: waymark restore ${answer.snapshot_id}`,
    answer.written || page.isAsked === true ? '' : writeLine(answer),
  )
}

function writeLine({ id, conflicts }: OutputOf<'undo'>): string {
  const command = `waymark undo ${id} --yes`
  return conflicts.length === 0
    ? `Write it: ${command}`
    : `Nothing is written while there are conflicts. To write them into the files, between git's marks: ${command} --conflicts`
}

export function diffText(
  answer: Pick<OutputOf<'diff'>, 'diff' | 'truncated' | 'left_out_total'>,
  { ink }: RenderContext,
): string {
  if (answer.diff === '') return 'Nothing changed.'
  const { left_out_total: leftOut = 0 } = answer
  const cut = !answer.truncated
    ? ''
    : leftOut > 0
      ? `\nThe diff is cut: ${formatCount(leftOut, 'file')} without lines. Name a path to see one file.`
      : '\nThe diff is longer; name a path to see one file.'
  const lines = answer.diff.trimEnd().split('\n')
  return `${lines.map((line) => styleDiffLine(line, ink)).join('\n')}${cut}`
}

function styleDiffLine(line: string, ink: (style: TextStyle, text: string) => string): string {
  if (/^(diff|index|---|\+\+\+|similarity|rename|new file|deleted file|old mode|new mode)/.test(line)) {
    return ink('bold', line)
  }
  if (line.startsWith('@@')) return ink('cyan', line)
  if (line.startsWith('+')) return ink('green', line)
  return line.startsWith('-') ? ink('red', line) : line
}

type ScopeAnswer = Pick<OutputOf<'changes'>, 'measurement' | 'verification'>
type ChangeCountsAnswer = OutputOf<'changes'>['counts']
type SharedTree = Pick<
  OutputOf<'changes'>,
  | 'contested_files'
  | 'contested_files_total'
  | 'commits'
  | 'commits_total'
  | 'claimed_paths'
  | 'claimed_paths_total'
>
/** A changed file of an attempt; a mission's files have no attribution. */
type ChangedFileRow = OutputOf<'changes'>['changes'][number]
type ChangedFileLine = Pick<ChangedFileRow, 'path' | 'change' | 'added_lines' | 'deleted_lines'> &
  Partial<ChangedFileRow>

/** Git's letter for a change. */
const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const
const kinds = ['added', 'modified', 'deleted', 'renamed'] as const

/** Measured changes, one a line. */
export function changedFiles(changes: readonly ChangedFileLine[], { ink }: RenderContext): string {
  return changes
    .map((change) => {
      const letter = letters[change.change]
      const path = [change.from ?? [], change.path].flat().map(escapeLineBreaks)
      const out = change.scope === 'out'
      const notes = notesOf(change).map((note) => ink('dim', note))
      return [ink(out ? 'red' : 'green', letter), path.join(' -> '), lineCounts(change), ...notes]
        .filter((part) => part !== '')
        .join('  ')
    })
    .join('\n')
}

/** Other activity in the work tree: contested files, commits and claimed paths. */
function contestedRows(files: NonNullable<SharedTree['contested_files']>, { ink }: RenderContext): string {
  return files
    .map((file) => `${escapeLineBreaks(file.path)}  ${ink('dim', candidateNames(file).join(' or '))}`)
    .join('\n')
}

/** `verdict` lists the claimed files that did not change or do not exist, so they are not listed again. */
export function sharedTreeText(
  answer: SharedTree & { readonly verdict?: unknown },
  page: RenderContext,
): string {
  const contested = contestedRows(answer.contested_files ?? [], page)
  const commits = (answer.commits ?? []).map((commit) => {
    const committer = page.ink('dim', committers[commit.whose])
    return `${page.ink('yellow', commit.id.slice(0, 8))}  ${escapeLineBreaks(commit.subject)}  ${committer}`
  })
  const paths = answer.claimed_paths ?? []
  const unnamed = answer.verdict ? paths.filter(({ found: what }) => what === 'uncontested') : paths
  const claimed = unnamed.map(
    (path) => `${escapeLineBreaks(path.path)}  ${page.ink('dim', found[path.found])}`,
  )
  const total = answer.commits_total ?? 0
  const { contested_files: others = [], contested_files_total: othersTotal = others.length } = answer
  return blocks(
    section('Probably by others, not counted', indentText(contested), page),
    cutNote(others.length, othersTotal, 'the others are not listed here.'),
    section('Commits made meanwhile', indentText(commits.join('\n')), page),
    total > commits.length ? cutNote(commits.length, total, 'git log shows the others.') : '',
    section('Files named in the claim', indentText(claimed.join('\n')), page),
    cutNote(paths.length, answer.claimed_paths_total ?? paths.length, 'the others are not listed here.'),
  )
}

const committers = {
  own: 'its own',
  other: 'of another agent',
  unknown: 'agent unknown',
} as const

const found = {
  uncontested: 'several agents could have changed it; no other had claimed it when this one ended',
  unchanged: 'did not change here',
  missing: 'does not exist',
} as const

/** `1 file modified`, or `4 files: 1 added, 2 modified, 1 renamed`. */
export function countsInWords(counts: ChangeCountsAnswer): string {
  const total = countAllKinds(counts)
  if (total === 0) return 'no file changed'
  const present = kinds.filter((kind) => counts[kind] > 0)
  if (present.length === 1) return `${formatCount(total, 'file')} ${present[0]}`
  return `${formatCount(total, 'file')}: ${present.map((kind) => `${counts[kind]} ${kind}`).join(', ')}`
}

export function countAllKinds(counts: ChangeCountsAnswer): number {
  return kinds.reduce((sum, kind) => sum + counts[kind], 0)
}

/** How complete the measurement is, the scope result, and the files out of scope that are not `listed`. */
export function scopeText(
  { measurement, verification }: ScopeAnswer,
  page: RenderContext,
  { counts, listed }: { readonly counts: ChangeCountsAnswer; readonly listed: readonly ChangedFileLine[] },
): string {
  const { ink } = page
  const shown = new Set(listed.flatMap(({ path, scope }) => (scope === 'out' ? [path] : [])))
  const { unexpected_files: unexpected, unexpected_total: total = unexpected.length } = verification
  const rest = unexpected.filter((path) => !shown.has(path))
  const shownWarnings = verification.warnings.filter((warning) => !repeatsScope(warning, unexpected))
  const lines = [
    `${measurementLine(measurement, page)} ${scopeInWords({ measurement, verification }, page, counts)}`.trimEnd(),
    ink('red', indentText(bullets(rest.map(escapeLineBreaks)))),
    rest.length === 0
      ? ''
      : indentText(cutNote(unexpected.length, total, 'waymark changes <task> lists all files.')),
    warnings(shownWarnings, page),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

/** Ignored files that changed. */
export function ignoredFiles(
  ignored: Record<'added' | 'modified' | 'deleted', readonly string[]>,
  total?: number,
): string {
  const lines = (['added', 'modified', 'deleted'] as const).flatMap((kind) =>
    ignored[kind].map((path) => `${letters[kind]}  ${escapeLineBreaks(path)}`),
  )
  return [...lines, cutNote(lines.length, total ?? lines.length, 'the others are not listed here.')]
    .filter((line) => line !== '')
    .join('\n')
}

function measurementLine(measurement: ScopeAnswer['measurement'], { ink }: RenderContext): string {
  if (measurement === 'exact') return ink('green', '● Measured exactly.')
  if (measurement === 'partial') return ink('yellow', '◐ Partially measured.')
  return ink('red', '○ Unknown: it could not be measured.')
}

function scopeInWords(
  { measurement, verification }: ScopeAnswer,
  { ink }: RenderContext,
  counts: ChangeCountsAnswer,
): string {
  const matches = verification.scope_match
  const total = countAllKinds(counts)
  const files = formatCount(total, 'file')
  if (matches === true) {
    return total === 0 ? 'No file was changed.' : `${files} changed, none out of scope.`
  }
  if (matches === false) {
    const { unexpected_files: listed, unexpected_total: outside = listed.length } = verification
    const outsideCount = total === 0 ? `${outside}` : `${outside} of ${files}`
    return ink('red', `Out of scope: ${outsideCount}.`)
  }
  return measurement === 'unknown' ? '' : 'No scope was declared.'
}

function lineCounts(change: ChangedFileLine): string {
  const { added_lines: added, deleted_lines: deleted } = change
  return added === null && deleted === null ? '' : linesInWords(change)
}

/** `+3 -1`; never 0 for an unknown count. */
export function linesInWords({
  added_lines: added,
  deleted_lines: deleted,
}: Pick<ChangedFileLine, 'added_lines' | 'deleted_lines'>): string {
  return added === null || deleted === null ? 'lines not counted' : `+${added} -${deleted}`
}

function candidateNames({ candidates, candidates_total: total }: ContestedEntry): readonly string[] {
  return namesWithMore(candidates.map(escapeLineBreaks), total)
}

type ContestedEntry = NonNullable<SharedTree['contested_files']>[number]

function sharedWithLines(change: ChangedFileLine): readonly string[] {
  const others = (change.with ?? []).map(({ agent, task_id: task }) => `${escapeLineBreaks(agent)} (${task})`)
  const agents = [...new Set(others)]
  if (agents.length === 0) return []
  const hidden = (change.with_total ?? others.length) - others.length
  return [
    `or ${namesWithMore(agents, agents.length + hidden).join(' or ')}`,
    ...(change.lines === 'all' ? ['lines counted together'] : []),
  ]
}

/** The share of a file that git brought. */
function broughtInWords({
  origin = 'task',
  added_lines: added = null,
  brought_lines: brought,
  brought_by: by,
}: Partial<ChangedFileRow>): string {
  if (origin === 'imported' || (brought !== undefined && brought === added)) return broughtByGit(by)
  if (brought !== undefined)
    return `${brought} of ${formatCount(added ?? brought, 'added line')} ${broughtByGit(by)}`
  return origin === 'mixed' ? 'partly brought by git' : ''
}

const ownerWords = { probable: 'probably this task', contested: 'unclear who' } as const

function notesOf(change: ChangedFileLine): readonly string[] {
  const { scope, attribution = 'certain', via, uncertain = '' } = change
  return [
    scope === 'out' ? 'out of scope' : '',
    broughtInWords(change),
    attribution === 'certain' ? '' : [ownerWords[attribution], ...sharedWithLines(change)].join(', '),
    via === undefined ? '' : `by the attempt ${via}`,
    uncertain,
  ].filter((note) => note !== '')
}
