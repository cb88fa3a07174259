import type { Style } from '../terminal.ts'
import { blocks, bullets, cutNote, indented, section, warnings } from './parts.ts'
import { inOneLine } from './text.ts'
import { type Entry, entriesAt, entryAt, numberAt, type Page, textAt, textsAt, type View } from './view.ts'

export const changes: View = (answer, page) => {
  const verification = entryAt(answer, 'verification')
  const files = entriesAt(answer, 'changes')
  const next = textAt(answer, 'next_offset')
  const soFar = textAt(answer, 'status') === 'open' ? ' so far' : ''
  return blocks(
    `Task ${textAt(answer, 'task_id')}, attempt ${textAt(answer, 'attempt_id')}${soFar}: ${countsInWords(entryAt(answer, 'counts') ?? {})}`,
    changedFiles(files, page),
    next === '' ? '' : cutNote(files.length, numberAt(answer, 'total'), `more: --offset ${next}`),
    sharedTree(answer, page),
    verification ? verdict(verification, page, entryAt(answer, 'counts')) : '',
  )
}

/** Every file that a mission changed, in the form of the changes of a task. */
export const missionChanges: View = (answer, page) => {
  const files = entriesAt(answer, 'files')
  if (files.length === 0) return 'No file was changed.'
  const out = files.filter((file) => file['scope'] === 'out').length
  const total = numberAt(answer, 'total')
  const head = `${total === 1 ? '1 file' : `${total} files`} changed in ${textAt(answer, 'id')}`
  return blocks(
    out === 0 ? head : `${head}, ${page.ink('red', `${out} outside the declared scope`)}`,
    changedFiles(files, page),
    cutNote(files.length, total, '--limit shows more.'),
  )
}

export const diff: View = (answer, { ink }) => {
  const text = textAt(answer, 'diff')
  if (text === '') return 'Nothing changed.'
  const cut = answer['truncated'] === true ? '\nThe diff is longer; name a path to see one file.' : ''
  const lines = text.trimEnd().split('\n')
  return `${lines.map((line) => styled(line, ink)).join('\n')}${cut}`
}

function styled(line: string, ink: (style: Style, text: string) => string): string {
  if (/^(diff|index|---|\+\+\+|similarity|rename|new file|deleted file|old mode|new mode)/.test(line)) {
    return ink('bold', line)
  }
  if (line.startsWith('@@')) return ink('cyan', line)
  if (line.startsWith('+')) return ink('green', line)
  return line.startsWith('-') ? ink('red', line) : line
}

/** The letter that git gives a change. */
const letters: Readonly<Record<string, string>> = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' }

/** Changed files, one a line, as they were measured. */
export function changedFiles(changes: readonly Entry[], { ink }: Page): string {
  return changes
    .map((change) => {
      const letter = letters[textAt(change, 'change')] ?? '?'
      const from = textAt(change, 'from')
      const path = [from, textAt(change, 'path')].filter((name) => name !== '').map(inOneLine)
      const out = textAt(change, 'scope') === 'out'
      const notes = notesOf(change).map((note) => ink('dim', note))
      return [ink(out ? 'red' : 'green', letter), path.join(' -> '), lineCounts(change), ...notes]
        .filter((part) => part !== '')
        .join('  ')
    })
    .join('\n')
}

/** What else happened in the work tree meanwhile: files that are probably others', commits, and paths that were named. */
export function sharedTree(answer: Entry, page: Page): string {
  const contested = entriesAt(answer, 'contested_files').map(
    (file) =>
      `${inOneLine(textAt(file, 'path'))}  ${page.ink('dim', textsAt(file, 'perhaps').map(inOneLine).join(' or '))}`,
  )
  const commits = entriesAt(answer, 'commits').map((commit) => {
    const by = committers[textAt(commit, 'by')] ?? ''
    return `${page.ink('yellow', textAt(commit, 'id').slice(0, 8))}  ${inOneLine(textAt(commit, 'subject'))}  ${page.ink('dim', by)}`
  })
  const claimed = entriesAt(answer, 'claimed_paths').map(
    (path) => `${inOneLine(textAt(path, 'path'))}  ${page.ink('dim', found[textAt(path, 'found')] ?? '')}`,
  )
  const total = numberAt(answer, 'commits_total')
  return blocks(
    section('Probably by others, not counted', indented(contested.join('\n')), page),
    section('Commits made meanwhile', indented(commits.join('\n')), page),
    total > commits.length ? cutNote(commits.length, total, 'git log shows the others.') : '',
    section('Paths that the report names', indented(claimed.join('\n')), page),
  )
}

const committers: Readonly<Record<string, string>> = {
  own: 'its own',
  other: 'of another agent',
  unknown: 'not known whose',
}

const found: Readonly<Record<string, string>> = {
  settled: 'several could have changed it: the agent’s word counts',
  unchanged: 'did not change here',
}

/** `4 files: 1 added, 2 modified, 1 renamed`. */
export function countsInWords(counts: Entry): string {
  const kinds = Object.keys(letters).filter((kind) => numberAt(counts, kind) > 0)
  const total = countOf(counts)
  if (total === 0) return 'no file changed'
  const parts = kinds.map((kind) => `${numberAt(counts, kind)} ${kind}`)
  return `${total === 1 ? '1 file' : `${total} files`}: ${parts.join(', ')}`
}

function countOf(counts: Entry): number {
  return Object.keys(letters).reduce((sum, kind) => sum + numberAt(counts, kind), 0)
}

/** How sure the measurement is and what it says of the scope, solid where it was verified. */
export function verdict(verification: Entry, page: Page, counts: Entry | null = null): string {
  const { ink } = page
  const unexpected = textsAt(verification, 'unexpected_files')
  const told = textsAt(verification, 'warnings').filter((warning) => !repeatsScope(warning, unexpected))
  const lines = [
    `${certainty(textAt(verification, 'status'), page)} ${scopeInWords(verification, page, counts)}`.trimEnd(),
    ink('red', indented(bullets(unexpected.map(inOneLine)))),
    warnings(told, page),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

// The seed words the verdict as a warning; the line above it says the same.
function repeatsScope(warning: string, unexpected: readonly string[]): boolean {
  return unexpected.length > 0 && /outside declared scope/.test(warning)
}

/** Files that git ignores and that changed none the less. */
export function ignoredFiles(ignored: Entry | null): string {
  if (!ignored) return ''
  return ['added', 'modified', 'deleted']
    .flatMap((kind) => textsAt(ignored, kind).map((path) => `${letters[kind]}  ${inOneLine(path)}`))
    .join('\n')
}

export function detailsOf(answer: Entry): readonly Entry[] {
  const details = entriesAt(answer, 'details')
  return details.length > 0 ? details : entriesAt(answer, 'changes')
}

function certainty(status: string, { ink }: Page): string {
  if (status === 'verified') return ink('green', '● Verified.')
  if (status === 'partial') return ink('yellow', '◐ Verified in part.')
  return ink('red', '○ Not known: it could not be measured.')
}

function scopeInWords(verification: Entry, { ink }: Page, counts: Entry | null): string {
  const matches = verification['scope_match']
  const total = counts === null ? 0 : countOf(counts)
  const files = total === 1 ? '1 file' : `${total} files`
  if (matches === true) {
    const changed = total === 0 ? '' : `${files} changed. `
    return `${changed}Nothing of its own lies outside the declared scope.`
  }
  if (matches === false) {
    const outside = textsAt(verification, 'unexpected_files').length
    const many = total === 0 ? `${outside}` : `${outside} of ${files}`
    return ink('red', `Changed outside the declared scope: ${many}`)
  }
  return textAt(verification, 'status') === 'unknown' ? '' : 'No scope was declared.'
}

function lineCounts(change: Entry): string {
  const [added, deleted] = [textAt(change, 'added_lines'), textAt(change, 'deleted_lines')]
  return added === '' && deleted === '' ? '' : `+${added} -${deleted}`
}

function sharedWith(change: Entry): readonly string[] {
  const agents = entriesAt(change, 'with').map((rival) => inOneLine(textAt(rival, 'agent')))
  if (agents.length === 0) return []
  return [
    `with ${agents.join(' and ')}`,
    ...(textAt(change, 'lines') === 'all' ? ['lines of all of them'] : []),
  ]
}

function notesOf(change: Entry): readonly string[] {
  const origin = textAt(change, 'origin')
  const attribution = textAt(change, 'attribution')
  const via = textAt(change, 'via')
  return [
    textAt(change, 'scope') === 'out' ? 'out of scope' : '',
    origin === '' || origin === 'task' ? '' : origin,
    attribution === '' || attribution === 'certain' ? '' : [attribution, ...sharedWith(change)].join(', '),
    via === '' ? '' : `by ${via}`,
    textAt(change, 'uncertain'),
  ].filter((note) => note !== '')
}
