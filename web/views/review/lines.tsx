import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { ReviewCommentData, ReviewDraft, ReviewFileRow } from '../../api/entities.ts'
import { wordDifferences } from '../../geometry/line-parts.ts'
import {
  blocksOf,
  type LineRow,
  type ReviewHunk,
  type ReviewLine,
  type ReviewRow,
  reviewRows,
} from '../../geometry/review-rows.ts'
import { AgentMark } from '../../parts/agent.tsx'
import { runInFrames } from '../../parts/frame-queue.ts'
import { linesOf } from '../../parts/line-links.ts'
import { type ColorsByLine, colorLines } from '../../parts/syntax/colors.ts'
import { LineText } from '../../parts/syntax/line-text.tsx'
import { CommentForm, Conversation, DraftNote } from './comments.tsx'
import { fileKey, layout, type ReviewModel } from './model.ts'
import { useNear } from './use-near.ts'

interface DiffLinesProps {
  readonly review: ReviewModel
  readonly file: ReviewFileRow
  readonly hunks: readonly ReviewHunk[]
  /** Drawn at once: the first file. */
  readonly isFirst: boolean
}

/** A side of the diff. */
type LineSide = 'old' | 'new'

/** The lines of a file. Lines far from the visible part keep their space and are not drawn. */
export function DiffLines({ review, file, hunks, isFirst }: DiffLinesProps) {
  const asSplit = layout.value === 'split'
  const rows = useMemo(() => reviewRows(hunks, asSplit ? 'split' : 'unified'), [hunks, asSplit])
  const blocks = useMemo(() => blocksOf(rows), [rows])
  // A signal for each block: the colours of a long file come to a few blocks in a frame.
  const colours = useMemo(() => blocks.map(blockColors), [blocks])
  useEffect(
    () =>
      colorLines(file.path, hunks, (found) => {
        for (const block of colours) {
          const tell = () => {
            block.found.value = found
          }
          if (block.isDrawn) runInFrames(tell)
          else tell()
        }
      }),
    [file.path, hunks, colours],
  )
  return (
    <div class="review-lines" data-layout={asSplit ? 'split' : 'unified'} dir="ltr">
      {blocks.map((block, at) => (
        <Block
          key={block[0]?.key ?? at}
          review={review}
          file={file}
          rows={block}
          colours={colours[at] ?? blockColors()}
          isFirst={isFirst && at < 2}
        />
      ))}
    </div>
  )
}

interface BlockColors {
  readonly found: Signal<ColorsByLine>
  isDrawn: boolean
}

function blockColors(): BlockColors {
  return { found: signal(new Map()), isDrawn: false }
}

interface BlockProps {
  readonly review: ReviewModel
  readonly file: ReviewFileRow
  readonly rows: readonly ReviewRow[]
  readonly colours: BlockColors
  readonly isFirst: boolean
}

const lineHeight = 20
/** About how many letters fit beside each other. */
const lettersAcross = 120

function Block({ review, file, rows, colours, isFirst }: BlockProps) {
  const element = useRef<HTMLDivElement>(null)
  const near = useNear(element, isFirst)
  const height = useRef<number | null>(null)
  const isComposed = isComposingIn(review, file, rows)
  const drawn = near || isComposed
  useLayoutEffect(() => {
    colours.isDrawn = drawn
    if (!drawn) return
    return () => {
      height.current = element.current?.offsetHeight ?? null
    }
  }, [drawn, colours])
  return (
    <div
      ref={element}
      class="review-block"
      {...(!drawn && { style: { height: `${height.current ?? estimateRowsHeight(rows)}px` } })}
    >
      {drawn
        ? rows.map((row) =>
            row.kind === 'gap' ? (
              <HiddenLines key={row.key} review={review} file={file} hidden={row.hidden} />
            ) : (
              <Line key={row.key} review={review} file={file} row={row} colours={colours.found} />
            ),
          )
        : null}
    </div>
  )
}

/** A comment that is being written stays when it is scrolled out of sight. */
function isComposingIn(review: ReviewModel, file: ReviewFileRow, rows: readonly ReviewRow[]): boolean {
  const place = review.composing.value
  if (place?.file == null || fileKey(place.file) !== fileKey(file)) return false
  return rows.some((row) => row.kind === 'line' && row[place.side]?.[place.side] === place.line)
}

function estimateRowsHeight(rows: readonly ReviewRow[]): number {
  return rows.reduce((sum, row) => {
    const letters = row.kind === 'gap' ? 0 : Math.max(row.old?.text.length ?? 0, row.new?.text.length ?? 0)
    return sum + lineHeight * Math.max(1, Math.ceil(letters / lettersAcross))
  }, 0)
}

function HiddenLines({
  review,
  file,
  hidden,
}: {
  review: ReviewModel
  file: ReviewFileRow
  hidden: number | null
}) {
  return (
    <div class="review-gap">
      <button
        type="button"
        class="gap-button"
        onClick={() => review.toggle(review.whole, file)}
        title="Show the whole file"
      >
        {hidden === null ? 'More lines' : formatCount(hidden, 'line')} not shown
      </button>
    </div>
  )
}

interface LineProps {
  readonly review: ReviewModel
  readonly file: ReviewFileRow
  readonly row: LineRow
  readonly colours: ReadonlySignal<ColorsByLine>
}

/** The element of a row, so that keys find it. */
export function rowId(file: ReviewFileRow, row: string): string {
  return `line ${fileKey(file)} ${row}`
}

function Line({ review, file, row, colours }: LineProps) {
  const at = review.cursor.value
  const isCurrent = at !== null && at.row === row.key && at.file === fileKey(file)
  const asSplit = layout.value === 'split'
  const words = useMemo(() => wordsOf(row), [row])
  const found = colours.value
  const put = (side: LineSide) => () => startComment(review, { file, row, side })
  const text = (side: LineSide) => {
    const line = row[side]
    if (line === null) return null
    const changed = side === 'old' ? words?.before : words?.after
    return (
      <LineText
        text={line.text}
        colours={found.get(`${side}${line[side] ?? 0}`) ?? []}
        changed={changed ?? []}
      />
    )
  }
  const one = row.new ?? row.old
  const shared = {
    id: rowId(file, row.key),
    ...(row.begins && { 'data-begins': '' }),
    ...(isCurrent && { 'aria-current': 'true' as const }),
    onClick: () => moveCursor(review, file, row),
  }
  return (
    <>
      {asSplit ? (
        <div class="review-line" {...shared}>
          {(['old', 'new'] as const).map((side) => (
            <Half key={side} side={side} line={row[side]} file={file} review={review} put={put(side)}>
              {text(side)}
            </Half>
          ))}
        </div>
      ) : (
        <div class="review-line" data-kind={one?.kind} {...shared}>
          <NumberButton line={row.old} side="old" put={put('old')} />
          <NumberButton line={row.new} side="new" put={put('new')} />
          <LineOwner line={one} file={file} review={review} />
          <span class="line-sign">{signs[one?.kind ?? ' ']}</span>
          {text(row.new === null ? 'old' : 'new')}
        </div>
      )}
      <Beneath review={review} file={file} row={row} />
    </>
  )
}

const signs = { ' ': ' ', '+': '+', '-': '−' } as const

interface HalfProps {
  readonly side: LineSide
  readonly line: ReviewLine | null
  readonly file: ReviewFileRow
  readonly review: ReviewModel
  readonly put: () => void
  readonly children: ComponentChildren
}

function Half({ side, line, file, review, put, children }: HalfProps) {
  return (
    <div class="review-half" data-kind={line?.kind ?? 'none'}>
      <NumberButton line={line} side={side} put={put} />
      <LineOwner line={line} file={file} review={review} />
      <span class="line-sign">{signs[line?.kind ?? ' ']}</span>
      {children}
    </div>
  )
}

/** Keys reach a line by its cursor; the number is for the pointer. */
function NumberButton({
  line,
  side,
  put,
}: {
  readonly line: ReviewLine | null
  readonly side: LineSide
  readonly put: () => void
}) {
  const number = line?.[side]
  if (number === undefined) return <span class="line-number" />
  return (
    <button
      type="button"
      class="line-number"
      tabIndex={-1}
      aria-label={`Comment on ${side === 'old' ? 'old line' : 'line'} ${number}`}
      title="Comment on this line"
      data-number={number}
      onClick={put}
    />
  )
}

/** The attempt that changed a line, in a file with several attempts. */
function LineOwner({
  line,
  file,
  review,
}: {
  readonly line: ReviewLine | null
  readonly file: ReviewFileRow
  readonly review: ReviewModel
}) {
  if (file.attempts.length < 2) return null
  const attempt = review.data.value?.attempts.find(({ attempt_id }) => attempt_id === line?.attempt)
  const isUnknown = line !== null && line.kind !== ' ' && line.attempt === null
  const title = attempt
    ? `${attempt.agent}, attempt ${attempt.number} at ${attempt.task_name}`
    : isUnknown
      ? 'By no attempt: a person or git changed it'
      : null
  if (title === null) return <span class="line-by" />
  const sign = (
    <>
      {attempt ? <AgentMark name={attempt.agent} /> : <span aria-hidden="true">·</span>}
      {attempt ? <sub aria-hidden="true">{attempt.number}</sub> : null}
    </>
  )
  // Only a line that still exists has a history to open.
  return line?.new === undefined ? (
    <span class="line-by" title={title}>
      {sign}
    </span>
  ) : (
    <a
      class="line-by"
      href={linesOf(file.path, { line: line.new, text: line.text })}
      tabIndex={-1}
      title={title}
    >
      {sign}
      <span class="visually-hidden">
        History of line {line.new}: {title}
      </span>
    </a>
  )
}

function wordsOf({ old, new: next, partner }: LineRow) {
  if (old !== null && next !== null) return old === next ? null : wordDifferences(old.text, next.text)
  if (partner === null) return null
  return old === null
    ? wordDifferences(partner.text, next?.text ?? '')
    : wordDifferences(old.text, partner.text)
}

interface PointerTarget {
  readonly file: ReviewFileRow
  readonly row: LineRow
  readonly side: LineSide
}

/** Selects a line for the keys. */
export function moveCursor(review: ReviewModel, file: ReviewFileRow, row: LineRow): void {
  review.cursor.value = { file: fileKey(file), row: row.key }
}

/** Begins a comment on a line. */
export function startComment(review: ReviewModel, { file, row, side }: PointerTarget): void {
  const line = row[side]
  moveCursor(review, file, row)
  review.composing.value = { file, side, line: line?.[side] ?? null, quoted: line?.text ?? null }
}

/** The comments and drafts on a line, and the form for a new one. */
function Beneath({ review, file, row }: { review: ReviewModel; file: ReviewFileRow; row: LineRow }) {
  const comments = sidesOf(row).flatMap(({ side, number }) => commentsOn(review, file, { side, number }))
  const drafts = sidesOf(row).flatMap(({ side, number }) => draftsOn(review, file, { side, number }))
  const place = review.composing.value
  const isHere =
    place?.file != null &&
    fileKey(place.file) === fileKey(file) &&
    sidesOf(row).some(({ side, number }) => side === place.side && number === place.line)
  if (comments.length === 0 && drafts.length === 0 && !isHere) return null
  return (
    <div class="beneath">
      {comments.map((comment) => (
        <Conversation key={comment.comment_id} review={review} comment={comment} />
      ))}
      {drafts.map((draft) => (
        <DraftNote key={draft.comment_id} review={review} draft={draft} />
      ))}
      {isHere && place ? <CommentForm review={review} place={place} /> : null}
    </div>
  )
}

interface LineNumber {
  readonly side: LineSide
  readonly number: number
}

function sidesOf({ old, new: next }: LineRow): readonly LineNumber[] {
  return [
    ...(old?.old === undefined ? [] : [{ side: 'old' as const, number: old.old }]),
    ...(next?.new === undefined ? [] : [{ side: 'new' as const, number: next.new }]),
  ]
}

function commentsOn(
  review: ReviewModel,
  file: ReviewFileRow,
  { side, number }: LineNumber,
): readonly ReviewCommentData[] {
  return commentsAbout(review, file).filter((comment) => comment.side === side && comment.now.line === number)
}

function draftsOn(
  review: ReviewModel,
  file: ReviewFileRow,
  { side, number }: LineNumber,
): readonly ReviewDraft[] {
  return draftsAbout(review, file).filter((draft) => draft.side === side && draft.line === number)
}

/** Of a file, whether its tree was said or not. */
export function commentsAbout(review: ReviewModel, file: ReviewFileRow): readonly ReviewCommentData[] {
  const of = review.commentsOf.value
  return [...(of.get(fileKey(file)) ?? []), ...(file.tree === null ? [] : (of.get(file.path) ?? []))]
}

export function draftsAbout(review: ReviewModel, file: ReviewFileRow): readonly ReviewDraft[] {
  const of = review.draftsOf.value
  return [...(of.get(fileKey(file)) ?? []), ...(file.tree === null ? [] : (of.get(file.path) ?? []))]
}
