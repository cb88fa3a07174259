import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { excerpt, formatCount } from '../../../src/kernel/text.ts'
import type { ReviewData, ReviewFileRow } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { type LineRow, reviewRows } from '../../geometry/review-rows.ts'
import { keysOf } from '../../keys/bindings.ts'
import { useCommands } from '../../keys/commands.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, NotFound, Pending } from '../../parts/empty-state.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { linesOf } from '../../parts/line-links.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { CompletionVerdict } from '../../parts/verdict.tsx'
import { crumb } from '../../router/current.ts'
import { href, navigate, query } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Menu } from '../../shell/menu.tsx'
import { OperationButton } from '../../shell/operation-button.tsx'
import { CommentForm, Conversation, DraftNote } from './comments.tsx'
import { FileSection, fileId } from './file.tsx'
import { moveCursor, rowId, startComment } from './lines.tsx'
import {
  createReview,
  fileKey,
  layout,
  type ReviewActionName,
  type ReviewModel,
  type ReviewSubjectInput,
  space,
} from './model.ts'
import { SendDialog } from './send.tsx'
import { FileTree, inTreeOrder } from './tree.tsx'
import './review.css'

/** A review of a task, a mission, or all changes since the last review, with its comments. */
export function View({ params }: ViewProps) {
  const { kind, id } = params
  const subject = subjectOf(kind, id)
  if (subject === null) {
    return (
      <NotFound
        subject={reviewSubject}
        reason={`A review is about a task, a mission or all new changes, not about “${kind}”.`}
      />
    )
  }
  return <ReviewPage key={`${kind} ${id}`} subject={subject} />
}

const reviewSubject = { name: 'Review', list: { path: '/review', title: 'Review all new changes' } } as const

function subjectOf(kind: string | undefined, id: string | undefined): ReviewSubjectInput | null {
  if (kind === undefined) return { since: true }
  if (id === undefined) return null
  if (kind === 'task') return { task: id }
  return kind === 'mission' ? { mission: id } : null
}

function ReviewPage({ subject }: { readonly subject: ReviewSubjectInput }) {
  const review = useMemo(() => createReview(subject), [])
  useEffect(() => review.stop, [review])
  const data = review.data.value
  const name = data?.subject.name
  useEffect(() => {
    if (name !== undefined) crumb.value = [{ text: 'Review', href: href('/review') }, { text: name }]
  }, [name])
  if (data === null) return <Pending failure={review.failure} subject={reviewSubject} />
  return <ReviewContent review={review} data={data} />
}

function ReviewContent({ review, data }: { readonly review: ReviewModel; readonly data: ReviewData }) {
  const [action, setAction] = useState<ReviewActionName | null>(null)
  const words = (query.value.get('words') ?? '').toLowerCase()
  const files = useMemo(
    () => inTreeOrder(data.files).filter(({ path }) => path.toLowerCase().includes(words)),
    [data.files, words],
  )
  const go = (file: ReviewFileRow) => {
    review.readSoon(file)
    review.cursor.value = { file: fileKey(file), row: '' }
    document.getElementById(fileId(file))?.scrollIntoView({ block: 'start' })
  }
  // A decision stands until the files change, or the person takes it up again.
  const [reopened, setReopened] = useState<string | null>(null)
  const isDecided = data.decision !== null && reopened !== data.content
  useReviewKeys(review, files, { go, say: setAction, isDecided })
  // An address may name a file.
  const named = query.peek().get('file')
  const isMissing = named !== null && !data.files.some(({ path }) => path === named)
  useLayoutEffect(() => {
    const file = named === null ? undefined : data.files.find(({ path }) => path === named)
    if (file) go(file)
  }, [named])
  const whole = review.commentsOf.value.get('') ?? []
  const wholeDrafts = review.draftsOf.value.get('') ?? []
  const gone = useMemo(() => commentsElsewhere(review, data), [data])
  const place = review.composing.value
  return (
    <div class="review" data-layout={layout.value}>
      <Head
        review={review}
        data={data}
        decided={isDecided}
        say={setAction}
        reopen={() => setReopened(data.content)}
      />
      <Newer review={review} />
      {isMissing ? (
        <p class="review-note" role="status">
          {plainText(named)} is not part of this review. It has {formatCount(data.files.length, 'file')}.
        </p>
      ) : null}
      {data.notes.map((note) => (
        <p key={note} class="review-note">
          {note}
        </p>
      ))}
      {whole.length + wholeDrafts.length + gone.length > 0 || place?.file === null ? (
        <section class="beneath review-whole" aria-label="Comments on the whole">
          {[...whole, ...gone].map((comment) => (
            <Conversation key={comment.comment_id} review={review} comment={comment} />
          ))}
          {wholeDrafts.map((draft) => (
            <DraftNote key={draft.comment_id} review={review} draft={draft} />
          ))}
          {place?.file === null ? <CommentForm review={review} place={place} /> : null}
        </section>
      ) : null}
      {data.files.length === 0 ? (
        <EmptyState
          title={
            data.subject.kind === 'since'
              ? 'No attempt ended since your last review. The changes of agents appear here when an attempt ends.'
              : data.attempts.some(({ status }) => status !== 'open')
                ? 'No file differs from before this work.'
                : 'No changes yet. The changed files appear here when an attempt ends.'
          }
        >
          <a class="button" href={href('/board')}>
            See the board
          </a>
        </EmptyState>
      ) : (
        <div class="review-panes">
          <FileTree review={review} data={data} files={files} go={go} />
          <div class="review-files">
            {files.map((file, at) => (
              <FileSection key={fileKey(file)} review={review} file={file} isFirst={at < 2} />
            ))}
            {files.length === 0 ? <p class="review-note">No path matches the filter.</p> : null}
          </div>
        </div>
      )}
      {action === null ? null : (
        <SendDialog review={review} data={data} action={action} close={() => setAction(null)} />
      )}
    </div>
  )
}

/** Comments on files that are no longer part of the review. */
function commentsElsewhere(review: ReviewModel, data: ReviewData) {
  const present = new Set(data.files.flatMap((file) => [fileKey(file), file.path]))
  return [...review.commentsOf.value]
    .filter(([key]) => key !== '' && !present.has(key))
    .flatMap(([, comments]) => comments)
}

interface HeadProps {
  readonly review: ReviewModel
  readonly data: ReviewData
  /** It has its decision: the actions are put away. */
  readonly decided: boolean
  readonly say: (action: ReviewActionName) => void
  readonly reopen: () => void
}

const actionTitles = { approved: 'Approved', 'sent back': 'Sent back' } as const

/** What the agent asks and where it says its work ends: without both nobody can decide. */
function QuestionsAndLimits({ data }: { readonly data: ReviewData }) {
  const { waiting, claimed, verdict, unchanged_claims: unchanged, not_mine: denied } = data
  if (waiting.length === 0 && claimed === null) return null
  // The question of a verdict is its reasons.
  const questions = waiting.filter(({ kind }) => kind !== 'verdict' || verdict === null)
  return (
    <section class="review-questions" aria-label="Questions and limits">
      {questions.map(({ item_id, kind, reason }) => (
        <p key={item_id} class="review-question">
          <StatusIcon status={kind === 'scope' ? 'blocked' : 'review'} named={false} />{' '}
          <Prose text={reason} />{' '}
          {kind === 'review' || kind === 'blocker' ? (
            <OperationButton
              operation="resolve"
              request={{
                title: 'Answer',
                about: excerpt(reason, 80),
                note: 'The agent gets your answer, and the question is closed. It does not approve the work.',
                given: { id: item_id },
                fields: { answer: '' },
              }}
            >
              Answer
            </OperationButton>
          ) : null}
        </p>
      ))}
      <CompletionVerdict
        claimed={
          claimed && {
            author: claimed.author,
            status: claimed.status,
            text: <ClaimText claimed={claimed} />,
          }
        }
        measured={null}
        verdict={verdict}
        unchanged={unchanged}
        denied={denied}
      />
    </section>
  )
}

function ClaimText({ claimed }: { readonly claimed: NonNullable<ReviewData['claimed']> }) {
  return (
    <>
      <Prose text={claimed.summary} />
      {claimed.limitations.length === 0 ? null : (
        <ul class="review-limits">
          {claimed.limitations.map((limit) => (
            <li key={limit}>
              <span class="muted">Limit:</span> <Prose text={limit} />
            </li>
          ))}
        </ul>
      )}
      {claimed.correction === null ? null : (
        <p>
          <Prose text={claimed.correction} />
        </p>
      )}
    </>
  )
}

/** The title, the totals and the actions: on a phone two lines, with the rest in a menu. */
function Head({ review, data, decided, say, reopen }: HeadProps) {
  const { subject, totals, agents, may, drafts, decision } = data
  const viewed = data.files.filter((file) => review.isViewed(file)).length
  return (
    <header class="review-head">
      <div class="review-title">
        <h1 title={plainText(subject.name)}>{plainText(subject.name)}</h1>
        <span class="review-figures">
          <span>
            {subject.kind === 'task' && data.attempts.length > 1 ? 'The task now: ' : ''}
            {formatCount(totals.files, 'file')}
          </span>
          <PlusMinus added_lines={totals.added} deleted_lines={totals.removed} />
          <span class="muted review-wide">
            {viewed} of {totals.files} viewed
          </span>
          {agents.map((agent) => (
            <span key={agent} class="review-wide">
              <Agent name={agent} />
            </span>
          ))}
        </span>
      </div>
      <div class="review-wide">
        <About data={data} />
      </div>
      <QuestionsAndLimits data={data} />
      <div class="review-bar" role="toolbar" aria-label="Review">
        <span class="review-wide review-options">
          <Options review={review} />
        </span>
        <span class="review-narrow">
          <Menu class="button" button="More">
            {(close) => (
              <div class="review-menu">
                <p class="menu-head muted">
                  {viewed} of {totals.files} viewed
                </p>
                <About data={data} />
                <Options review={review} done={close} />
              </div>
            )}
          </Menu>
        </span>
        <span class="push" />
        {drafts.length > 0 ? (
          <button type="button" class="button" onClick={() => say('comment')}>
            <span>
              Send {drafts.length}
              <span class="review-wide"> {drafts.length === 1 ? 'comment' : 'comments'}</span>
            </span>
            <KeyCap keys={keysOf('send')} />
          </button>
        ) : null}
        {decided && decision ? (
          <>
            <span>
              {actionTitles[decision.action]} by <b>{decision.author}</b>, <Since at={decision.created_at} />{' '}
              ago
            </span>
            <button type="button" class="button" data-kind="plain" onClick={reopen}>
              Change the decision
            </button>
          </>
        ) : may.decide ? (
          <>
            <button type="button" class="button" onClick={() => say('send_back')}>
              Send back <KeyCap keys={keysOf('send back')} />
            </button>
            <button type="button" class="button" data-kind="primary" onClick={() => say('approve')}>
              {subject.kind === 'since' ? 'Mark all as viewed' : 'Approve'}{' '}
              <KeyCap keys={keysOf('approve')} />
            </button>
          </>
        ) : (
          <span class="muted cut" title={may.why ?? ''}>
            {may.why}
          </span>
        )}
      </div>
    </header>
  )
}

/** The goal, the links, and the last reviews. */
function About({ data: { subject, reviews, attempts, request } }: { readonly data: ReviewData }) {
  return (
    <>
      {subject.goal === null ? null : (
        <p class="review-goal">
          <Prose text={subject.goal} />
        </p>
      )}
      {request ? (
        <p class="review-request">
          <b>{request.author} asked for:</b> <Prose text={request.text} />
        </p>
      ) : null}
      <p class="review-links muted">
        {subject.task_id === null ? null : (
          <a class="link" href={href(`/tasks/${subject.task_id}`)}>
            Open the task
          </a>
        )}
        {subject.mission_id === null ? null : (
          <a class="link" href={href(`/missions/${subject.mission_id}`)}>
            {subject.task_id === null ? 'Open the mission' : (subject.mission_name ?? 'Open the mission')}
          </a>
        )}
        {reviews.slice(-3).map(({ review_id, author, action, created_at: createdAt, current, task_id }) => {
          // In the review of a mission some are of one of its tasks.
          const part =
            task_id === subject.task_id ? undefined : attempts.find((attempt) => attempt.task_id === task_id)
          return (
            <span key={review_id}>
              {author} {actionSentence(action, part === undefined ? 'it' : `“${part.task_name}”`)}{' '}
              <Since at={createdAt} /> ago
              {action === 'approve' && !current && part === undefined ? ', before the last change' : ''}
            </span>
          )
        })}
      </p>
    </>
  )
}

/** How the files are shown, and a comment on the whole. */
function Options({ review, done }: { readonly review: ReviewModel; readonly done?: () => void }) {
  return (
    <>
      <button
        type="button"
        class="tool"
        aria-pressed={layout.value === 'split'}
        onClick={() => {
          layout.value = layout.value === 'split' ? 'unified' : 'split'
        }}
      >
        Side by side
      </button>
      <button
        type="button"
        class="tool"
        aria-pressed={space.value === 'hidden'}
        onClick={() => {
          space.value = space.value === 'hidden' ? 'shown' : 'hidden'
        }}
      >
        Hide whitespace
      </button>
      <button
        type="button"
        class="button"
        data-kind="plain"
        onClick={() => {
          done?.()
          review.composing.value = { file: null, side: 'new', line: null, quoted: null }
        }}
      >
        Comment
      </button>
    </>
  )
}

function actionSentence(action: ReviewActionName, what: string): string {
  if (action === 'send_back') return `sent ${what} back`
  return `${action === 'approve' ? 'approved' : 'commented on'} ${what}`
}

/** A notice of newer changes: the page stays as it is until the person asks for them. */
function Newer({ review }: { readonly review: ReviewModel }) {
  const changed = review.changedSince.value
  if (review.newer.value === null) return null
  return (
    <p class="review-newer" role="status">
      <span>
        {changed.length === 0
          ? 'The inbox items have changed since you opened this page.'
          : `The files have changed since you opened this page: ${changed.slice(0, 3).map(plainText).join(', ')}${
              changed.length > 3 ? ` and ${changed.length - 3} more` : ''
            }.`}
      </span>
      <button type="button" class="button" onClick={review.showNewer}>
        Show the changes
      </button>
    </p>
  )
}

interface ReviewHandlers {
  readonly isDecided: boolean
  readonly go: (file: ReviewFileRow) => void
  readonly say: (action: ReviewActionName) => void
}

/** Files, changes, comments and lines by keys. */
function useReviewKeys(
  review: ReviewModel,
  files: readonly ReviewFileRow[],
  { go, say, isDecided }: ReviewHandlers,
): void {
  const cursor = () => review.cursor.peek()
  const current = () => files.find((file) => fileKey(file) === cursor()?.file) ?? files[0]
  const rowsOf = (file: ReviewFileRow): readonly LineRow[] => {
    if (!review.isOpen(file) || (file.kind !== 'text' && file.kind !== 'link')) return []
    const lines = review.linesOf(file).peek()
    return lines.is === 'read'
      ? reviewRows(lines.hunks, layout.peek()).filter((row) => row.kind === 'line')
      : []
  }
  const put = (file: ReviewFileRow, row: LineRow) => {
    moveCursor(review, file, row)
    scrollToRow(rowId(file, row.key), fileId(file))
  }
  const stepFile = (by: number) => () => {
    const file = current()
    const at = cursor() === null && by > 0 ? -1 : file === undefined ? -1 : files.indexOf(file)
    const next = files[Math.min(Math.max(at + by, 0), files.length - 1)]
    if (next) go(next)
  }
  // After the last line of a file comes the first line of the next loaded file.
  const stepRow = (by: number, wanted: (row: LineRow) => boolean) => () => {
    const file = current()
    if (!file) return
    let at = files.indexOf(file)
    let rows = rowsOf(file)
    let place = rows.findIndex(({ key }) => key === cursor()?.row) + by
    if (by < 0 && place === -1 - 1) place = -1
    for (; at >= 0 && at < files.length; ) {
      for (; place >= 0 && place < rows.length; place += by) {
        const row = rows[place]
        const here = files[at]
        if (row && here && wanted(row)) return put(here, row)
      }
      at += by
      const next = files[at]
      rows = next ? rowsOf(next) : []
      place = by > 0 ? 0 : rows.length - 1
    }
  }
  const stepComment = (by: number) => () => {
    const all = [...document.querySelectorAll<HTMLElement>('.review .comment')]
    const { activeElement: focused } = document
    const at = focused instanceof HTMLElement ? all.indexOf(focused) : -1
    const next = all[at === -1 && by < 0 ? all.length - 1 : Math.min(Math.max(at + by, 0), all.length - 1)]
    next?.focus({ preventScroll: true })
    next?.scrollIntoView({ block: 'center' })
  }
  const onLine = () => {
    const file = current()
    const row = file && rowsOf(file).find(({ key }) => key === cursor()?.row)
    if (file && row) startComment(review, { file, row, side: row.new === null ? 'old' : 'new' })
    else if (file && cursor() !== null)
      review.composing.value = { file, side: 'new', line: null, quoted: null }
    else review.composing.value = { file: null, side: 'new', line: null, quoted: null }
  }
  const onFile = (act: (file: ReviewFileRow) => void) => () => {
    const file = current()
    if (file) act(file)
  }
  const mayDecide = review.data.value?.may.decide === true && !isDecided
  useCommands({
    next: stepRow(1, () => true),
    previous: stepRow(-1, () => true),
    'next change': stepRow(1, ({ begins }) => begins),
    'previous change': stepRow(-1, ({ begins }) => begins),
    'next file': stepFile(1),
    'previous file': stepFile(-1),
    'next comment': stepComment(1),
    'previous comment': stepComment(-1),
    peek: onFile((file) => review.unfold(file, !review.isOpen(file))),
    viewed: onFile((file) => {
      const viewed = !review.isViewed(file)
      void review.mark(file, viewed)
      const next = files[files.indexOf(file) + 1]
      if (viewed && next) go(next)
    }),
    comment: onLine,
    'whose line': onFile((file) => {
      if (file.status === 'deleted' || (file.kind !== 'text' && file.kind !== 'link')) return
      const line = rowsOf(file).find(({ key }) => key === cursor()?.row)?.new
      navigate(linesOf(file.path, line?.new === undefined ? undefined : { line: line.new, text: line.text }))
    }),
    'comment file': onFile((file) => {
      review.unfold(file, true)
      review.composing.value = { file, side: 'new', line: null, quoted: null }
    }),
    'whole file': onFile((file) => review.toggle(review.whole, file)),
    'side by side': () => {
      layout.value = layout.peek() === 'split' ? 'unified' : 'split'
    },
    'white space': () => {
      space.value = space.peek() === 'hidden' ? 'shown' : 'hidden'
    },
    send: () => say('comment'),
    ...(mayDecide && { approve: () => say('approve'), 'send back': () => say('send_back') }),
    close: () => {
      review.cursor.value = null
    },
  })
}

/** A line that is not drawn yet comes with its block, so the file is scrolled to first. */
function scrollToRow(row: string, file: string): void {
  const element = document.getElementById(row)
  if (element) element.scrollIntoView({ block: 'center' })
  else document.getElementById(file)?.scrollIntoView({ block: 'start' })
}
