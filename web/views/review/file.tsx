import { useRef, useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { errorText } from '../../api/call.ts'
import type { ReviewData, ReviewedFileData, ReviewFileRow } from '../../api/entities.ts'
import { failureOf } from '../../api/session.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { attributionWords } from '../../geometry/line-ranges.ts'
import { Agent } from '../../parts/agent.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { linesOf } from '../../parts/line-links.ts'
import { base } from '../../router/location.ts'
import { CommentForm, Conversation, DraftNote } from './comments.tsx'
import { commentsAbout, DiffLines, draftsAbout } from './lines.tsx'
import { fileKey, type Lines, type ReviewModel } from './model.ts'
import { useNear } from './use-near.ts'

export function fileId(file: ReviewFileRow): string {
  return `reviewed ${fileKey(file)}`
}

interface FileProps {
  readonly review: ReviewModel
  readonly file: ReviewFileRow
  readonly isFirst: boolean
}

/** A file under review, and its lines once it is near the visible part. */
export function FileSection({ review, file, isFirst }: FileProps) {
  const element = useRef<HTMLElement>(null)
  const near = useNear(element, isFirst)
  const isOpen = review.isOpen(file)
  const isCurrent = review.cursor.value?.file === fileKey(file)
  return (
    <section
      ref={element}
      class="review-file"
      id={fileId(file)}
      aria-label={plainText(file.path)}
      {...(isCurrent && { 'data-current': '' })}
    >
      <FileHead review={review} file={file} isOpen={isOpen} />
      {isOpen ? (
        near ? (
          <FileBody review={review} file={file} isFirst={isFirst} />
        ) : (
          <div style={{ height: `${estimateHeight(file)}px` }} />
        )
      ) : file.folded !== null && !review.isViewed(file) ? (
        <p class="review-note">
          {foldWords[file.folded]}{' '}
          <button type="button" class="gap-button" onClick={() => review.unfold(file, true)}>
            Show the diff
          </button>
        </p>
      ) : null}
    </section>
  )
}

const foldWords = {
  'lock file': 'Lock file, folded.',
  generated: 'Generated file, folded.',
  large: 'Large diff, folded.',
} as const satisfies Record<NonNullable<ReviewFileRow['folded']>, string>

const lineHeight = 20

/** The height before the lines are loaded: each changed line and some context. */
function estimateHeight({ added, removed }: ReviewFileRow): number {
  return lineHeight * Math.min(6_000, (added ?? 0) + (removed ?? 0) + 8)
}

function FileHead({ review, file, isOpen }: { review: ReviewModel; file: ReviewFileRow; isOpen: boolean }) {
  const { path, from, status, added, removed, mode, certainty, attempts } = file
  const slash = path.lastIndexOf('/') + 1
  const isViewed = review.isViewed(file)
  const { open, answered, drafts } = file.comments
  return (
    <header class="review-file-head">
      <button
        type="button"
        class="fold-button"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${plainText(path)}`}
        onClick={() => review.unfold(file, !isOpen)}
      >
        <svg viewBox="0 0 10 10" aria-hidden="true">
          <path d="M3 2 7 5 3 8" />
        </svg>
      </button>
      <h2 class="mono review-path" title={plainText(path)}>
        <bdi dir="ltr">
          <span class="muted review-wide">{plainText(path.slice(0, slash))}</span>
          {plainText(path.slice(slash))}
        </bdi>
      </h2>
      <span class="review-file-words">
        {slash === 0 ? null : (
          <span class="muted mono cut review-narrow" aria-hidden="true">
            {plainText(path.slice(0, slash))}
          </span>
        )}
        {status === 'modified' ? null : <span class="status-word">{status}</span>}
        {from !== null && from !== path ? <span class="muted mono">from {plainText(from)}</span> : null}
        {mode === null ? null : (
          <span class="muted mono">
            mode {mode.before} → {mode.after}
          </span>
        )}
        {file.tree_name === null ? null : <span class="muted">in {plainText(file.tree_name)}</span>}
        {certainty === 'certain' ? null : <span class="uncertain">{certaintyWords[certainty]}</span>}
        {attempts.length > 1 ? <span class="muted">{attempts.length} attempts</span> : null}
        {open + answered > 0 ? (
          <span class="comment-count">{formatCount(open + answered, 'comment')} not done</span>
        ) : null}
        {drafts > 0 ? <span class="comment-count">{formatCount(drafts, 'draft')}</span> : null}
      </span>
      {added === null || removed === null ? (
        <span class="muted">{file.kind === 'text' ? '' : file.kind}</span>
      ) : (
        <PlusMinus added_lines={added} deleted_lines={removed} />
      )}
      <label class="viewed-label">
        <input
          type="checkbox"
          checked={isViewed}
          onChange={({ currentTarget }) => void review.mark(file, currentTarget.checked)}
        />
        Viewed
      </label>
    </header>
  )
}

const certaintyWords = {
  probable: 'probably by this work',
  contested: attributionWords.contested,
} as const

function FileBody({ review, file, isFirst }: FileProps) {
  const comments = commentsAbout(review, file)
  const drafts = draftsAbout(review, file)
  const lines = file.kind === 'text' || file.kind === 'link' ? review.linesOf(file).value : null
  const seen = lines?.is === 'read' ? shownLines(lines) : new Set<string>()
  // Comments on lines that are not shown are above the lines.
  const isAbove = (side: string, line: number | null) => line === null || !seen.has(`${side}${line}`)
  const above = comments.filter(({ side, now }) => isAbove(side, now.line))
  const draftsAbove = drafts.filter(({ side, line }) => isAbove(side, line))
  const place = review.composing.value
  const isWholeFile = place?.file != null && place.line === null && fileKey(place.file) === fileKey(file)
  return (
    <div class="review-body">
      <Choices review={review} file={file} />
      {above.length + draftsAbove.length > 0 || isWholeFile ? (
        <div class="beneath">
          {above.map((comment) => (
            <Conversation key={comment.comment_id} review={review} comment={comment} />
          ))}
          {draftsAbove.map((draft) => (
            <DraftNote key={draft.comment_id} review={review} draft={draft} />
          ))}
          {isWholeFile && place ? <CommentForm review={review} place={place} /> : null}
        </div>
      ) : null}
      {lines === null ? (
        <UnlinedContent review={review} file={file} />
      ) : (
        <Read review={review} file={file} lines={lines} isFirst={isFirst} />
      )}
    </div>
  )
}

function shownLines({
  hunks,
}: {
  readonly hunks: ReviewedFileData['hunks'] | readonly LinesHunk[]
}): Set<string> {
  const seen = new Set<string>()
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.old !== undefined) seen.add(`old${line.old}`)
      if (line.new !== undefined) seen.add(`new${line.new}`)
    }
  }
  return seen
}

type LinesHunk = Extract<Lines, { readonly is: 'read' }>['hunks'][number]

/** How the file is shown: changes since the last view or all, hunks or the whole file. */
function Choices({ review, file }: { readonly review: ReviewModel; readonly file: ReviewFileRow }) {
  const key = fileKey(file)
  const wasViewed = file.viewed !== null && !file.viewed.current
  const isFromStart = review.fromStart.value.has(key)
  const isWhole = review.whole.value.has(key)
  return (
    <p class="review-choices">
      {wasViewed ? (
        <>
          <b>{isFromStart ? 'All changes.' : 'Only the changes since you viewed it.'}</b>
          <button type="button" class="gap-button" onClick={() => review.toggle(review.fromStart, file)}>
            {isFromStart ? 'Show changes since you viewed it' : 'Show all changes'}
          </button>
        </>
      ) : null}
      {file.kind === 'text' ? (
        <button
          type="button"
          class="gap-button"
          aria-pressed={isWhole}
          onClick={() => review.toggle(review.whole, file)}
        >
          Whole file
        </button>
      ) : null}
      <button
        type="button"
        class="gap-button"
        onClick={() => {
          review.composing.value = { file, side: 'new', line: null, quoted: null }
        }}
      >
        Comment on the file
      </button>
      {file.kind === 'text' && file.status !== 'deleted' ? (
        <a class="link" href={linesOf(file.path)}>
          Line history
        </a>
      ) : null}
      {file.attempts.length > 1 ? <Writers review={review} file={file} /> : null}
    </p>
  )
}

/** Attempts at one task differ by number, those at several by the name of the task. */
function writingWords(
  attempts: ReviewData['attempts'],
  { task_name: task, number }: ReviewData['attempts'][number],
) {
  const isOne = attempts.every(({ task_name: other }) => other === task)
  return isOne ? `attempt ${number}` : number > 1 ? `${task}, attempt ${number}` : task
}

/** The agents of the signs in the margin. */
function Writers({ review, file }: { readonly review: ReviewModel; readonly file: ReviewFileRow }) {
  const attempts = review.data.value?.attempts ?? []
  return (
    <span class="writers">
      {file.attempts.map((id) => {
        const attempt = attempts.find(({ attempt_id }) => attempt_id === id)
        return attempt ? (
          <span key={id} title={attempt.task_name}>
            <Agent name={attempt.agent} /> <span class="muted">{writingWords(attempts, attempt)}</span>
          </span>
        ) : null
      })}
    </span>
  )
}

interface ReadProps extends FileProps {
  readonly lines: Lines
}

function Read({ review, file, lines, isFirst }: ReadProps) {
  if (lines.is === 'failed') {
    return (
      <p class="review-note" role="alert">
        {lines.why}
      </p>
    )
  }
  if (lines.is === 'reading') {
    return (
      <div class="review-note" aria-busy="true" style={{ height: `${estimateHeight(file)}px` }}>
        Loading…
      </div>
    )
  }
  const { hunks, answer } = lines
  const { error, no_newline } = answer
  return (
    <>
      {error === null ? null : <p class="review-note">{error}</p>}
      {hunks.length === 0 && error === null ? <p class="review-note">{noChangeText(file, answer)}</p> : null}
      <DiffLines review={review} file={file} hunks={hunks} isFirst={isFirst} />
      {no_newline.before === no_newline.after ? null : (
        <p class="review-note">
          {no_newline.after ? 'The newline at the end was removed.' : 'A newline was added at the end.'}
        </p>
      )}
      {answer.next_cursor === null ? null : (
        <p class="review-note">
          {hunks.reduce((sum, { lines }) => sum + lines.length, 0).toLocaleString('en')} of{' '}
          {answer.total.toLocaleString('en')} lines are shown.{' '}
          <button type="button" class="gap-button" onClick={() => review.readMore(file)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}

function noChangeText({ mode, from, path, status }: ReviewFileRow, { since }: ReviewedFileData): string {
  if (since !== null) return 'The lines have not changed since you viewed it.'
  if (mode !== null) return 'Only the mode changed.'
  if (from !== null && from !== path) return 'Only the name changed.'
  if (status === 'added') return 'The file is empty.'
  return 'Only whitespace changed.'
}

/** Files without lines: images side by side, others by name. */
function UnlinedContent({ review, file }: { readonly review: ReviewModel; readonly file: ReviewFileRow }) {
  if (file.kind !== 'image') {
    return (
      <p class="review-note">
        {file.error ?? (file.kind === 'binary' ? 'Binary file: no lines to show.' : 'A submodule.')}{' '}
        <span class="mono muted">
          {file.before?.slice(0, 12) ?? 'none'} → {file.after?.slice(0, 12) ?? 'none'}
        </span>
      </p>
    )
  }
  return (
    <div class="review-images">
      <Picture review={review} file={file} side="old" />
      <Picture review={review} file={file} side="new" />
    </div>
  )
}

interface PictureProps {
  readonly review: ReviewModel
  readonly file: ReviewFileRow
  readonly side: 'old' | 'new'
}

function Picture({ review, file, side }: PictureProps) {
  const id = side === 'old' ? file.before : file.after
  const word = side === 'old' ? 'Before' : 'After'
  return (
    <figure>
      <figcaption class="muted">{word}</figcaption>
      {id === null ? <p class="muted">No image.</p> : <Image key={id} {...{ review, file, side, word }} />}
    </figure>
  )
}

function Image({ review, file, side, word }: PictureProps & { readonly word: string }) {
  const [size, setSize] = useState<string | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const address = imageAddress({ review, file, side })
  // A missing image is requested again for the reason.
  const readFailure = async () => {
    const response = await fetch(address).catch(() => null)
    setFailure(
      response === null || response.ok ? 'Cannot show this image.' : errorText(await failureOf(response)),
    )
  }
  const measure = async ({ naturalWidth, naturalHeight }: HTMLImageElement) => {
    const pixels = `${naturalWidth} × ${naturalHeight}`
    setSize(pixels)
    // From the cache: no request.
    const cached = await fetch(address, { cache: 'force-cache' }).catch(() => null)
    if (cached?.ok) setSize(`${pixels}, ${(await cached.blob()).size.toLocaleString('en')} bytes`)
  }
  if (failure !== null) return <p class="muted">{failure}</p>
  return (
    <>
      <img
        src={address}
        alt={`${word}: ${plainText(file.path)}`}
        onLoad={({ currentTarget }) => void measure(currentTarget)}
        onError={() => void readFailure()}
      />
      <p class="muted">{size}</p>
    </>
  )
}

function imageAddress({ review: { subject }, file, side }: PictureProps): string {
  const parameters = new URLSearchParams({
    ...('since' in subject ? { since: 'true' } : subject),
    path: file.path,
    side,
    ...(file.tree !== null && { tree: file.tree }),
    content: (side === 'old' ? file.before : file.after) ?? '',
  })
  return `${base.peek()}/api/review/image?${parameters}`
}
