import { Failure } from '../../kernel/failure.ts'
import type { DiffLine } from './lines.ts'
import type { CommentKind, DiffSide } from './review.ts'

interface QuotedLine extends Pick<DiffLine, 'kind' | 'text'> {
  readonly old?: number | undefined
  readonly new?: number | undefined
}

/** A file quoted for comments in an editor. */
export interface QuotedFile {
  readonly path: string
  readonly tree: string | null
  readonly hunks: readonly { readonly lines: readonly QuotedLine[] }[]
  /** Why there are no lines, as a sentence. */
  readonly error: string | null
}

export interface EditorComment {
  /** Null for the whole. */
  readonly file: QuotedFile | null
  readonly side: DiffSide
  readonly line: number | null
  readonly quoted: string | null
  readonly kind: CommentKind
  readonly text: string
}

const marks = { '?': 'question', '!': 'request' } as const satisfies Record<string, CommentKind>

const explained = [
  '# Write below the line that you mean: "? " begins a question, "! " a request; what follows belongs to it.',
  "# Below a file's name it is about the file, at the top about the whole.",
  '# Lines that begin with "#" are not sent. Lines that begin with ">" are the difference: leave them as they are, or',
  '# delete them. An empty file, or none of your lines, sends nothing.',
]

const width = 6

/** The diff as quoted lines with their numbers, so that lines may be removed from it. */
export function quotedDiff(files: readonly QuotedFile[]): string {
  const lines = files.flatMap(({ path, hunks, error }, at) => [
    '',
    `> === ${at + 1} ${oneLine(path)}${error === null ? '' : ` (${error})`}`,
    ...hunks.flatMap((hunk) => ['> ...', ...hunk.lines.map(quotedLine)]),
  ])
  return [...explained, ...lines, ''].join('\n')
}

function quotedLine({ kind, old, new: now, text }: QuotedLine): string {
  return `> ${padNumber(old)} ${padNumber(now)} ${kind}${oneLine(text)}`
}

function padNumber(number: number | undefined): string {
  return `${number ?? ''}`.padStart(width)
}

/** A text in one line, without control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) =>
    character === '\t' ? character : '\ufffd',
  )
}

/**
 * Parses the comments below quoted lines. Fails with INVALID_INPUT for text without a mark, and for a line that the
 * diff does not have.
 */
export function parseComments(text: string, files: readonly QuotedFile[]): readonly EditorComment[] {
  const written: EditorComment[] = []
  let place: QuotedLocation = whole
  let current: { kind: CommentKind; lines: string[] } | null = null
  const finish = () => {
    const words = current?.lines.join('\n').trim() ?? ''
    if (current !== null && words !== '') written.push({ ...place, kind: current.kind, text: words })
    current = null
  }
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith('#')) continue
    if (line.startsWith('>')) {
      finish()
      place = placeOf({ text: line, number: at + 1 }, place, files)
      continue
    }
    const mark = line[0]
    if (mark === '?' || mark === '!') {
      finish()
      current = { kind: marks[mark], lines: [line.slice(1).trimStart()] }
    } else if (current !== null) (current as { lines: string[] }).lines.push(line)
    else if (line.trim() !== '') {
      throw new Failure(
        'INVALID_INPUT',
        `Line ${at + 1} of your text belongs to no comment: "${line.slice(0, 80)}".`,
        {
          reason: 'comment_mark_missing',
          hint: 'Start a comment with "? " for a question or "! " for a request.',
        },
      )
    }
  }
  finish()
  return written
}

const whole = { file: null, side: 'new', line: null, quoted: null } as const

type QuotedLocation = Pick<EditorComment, 'file' | 'side' | 'line' | 'quoted'>

interface NumberedLine {
  readonly text: string
  /** Its line number in the text, from 1. */
  readonly number: number
}

function placeOf(line: NumberedLine, before: QuotedLocation, files: readonly QuotedFile[]): QuotedLocation {
  if (line.text.trim() === '> ...') return before
  const head = /^> === (\d+) (.*)$/.exec(line.text)
  if (head !== null) {
    const [, number, name = ''] = head
    const file = files[Number(number) - 1]
    if (file === undefined || !isNameOfFile(name, file))
      throw unplacedQuoteFailure(line, 'names no file of this review')
    return { file, side: 'new', line: null, quoted: null }
  }
  // Editors remove white space at the ends of lines: of an empty unchanged line only its numbers stay.
  const match = /^> ( {6}| *\d+) ( {6}| *\d+)(?: ([ +-])(.*))? *$/.exec(line.text)
  if (match === null || before.file === null) throw unplacedQuoteFailure(line, 'is no line of the difference')
  const [, old = '', now = '', kind, text = ''] = match
  const side: DiffSide = kind === '-' ? 'old' : 'new'
  const number = Number(kind === '-' ? old : now)
  const quotedLine = before.file.hunks
    .flatMap(({ lines }) => lines)
    .find((one) => (side === 'old' ? one.kind === '-' && one.old === number : one.new === number))
  if (quotedLine === undefined || oneLine(quotedLine.text).trimEnd() !== text.trimEnd()) {
    throw unplacedQuoteFailure(line, `is not in the difference of ${oneLine(before.file.path)}`)
  }
  return { file: before.file, side, line: number, quoted: quotedLine.text }
}

/** Whether a quoted name is that of a file, with or without the sentence after it. */
function isNameOfFile(name: string, { path }: QuotedFile): boolean {
  const quoted = oneLine(path)
  return name.trimEnd() === quoted.trimEnd() || name.startsWith(`${quoted} (`)
}

function unplacedQuoteFailure({ text, number }: NumberedLine, what: string): Failure {
  return new Failure('INVALID_INPUT', `Line ${number} of your text ${what}: "${text.slice(0, 80)}".`, {
    reason: 'quoted_line_changed',
    hint: 'Keep lines that begin with ">" as --write showed them, or delete them. --again also shows viewed files.',
  })
}
