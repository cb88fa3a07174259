import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ReviewCommentData, ReviewDraft } from '../../api/entities.ts'
import { isPermitted } from '../../api/session.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { Agent } from '../../parts/agent.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import { Prose } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import type { CommentTarget, CommentText, ReviewModel } from './model.ts'

/** A sent comment with its replies. */
export function Conversation({
  review,
  comment,
}: {
  readonly review: ReviewModel
  readonly comment: ReviewCommentData
}) {
  const {
    comment_id,
    author,
    created_at: createdAt,
    kind,
    text,
    status,
    replies,
    now,
    line,
    quoted,
  } = comment
  const [isReplying, setReplying] = useState(false)
  const isGone = now.line_is === 'gone' || now.line_is === 'unknown'
  return (
    <article
      class="comment"
      id={comment_id}
      data-status={status}
      aria-label={`Comment by ${author}`}
      tabIndex={-1}
    >
      <header>
        <b>{author}</b>
        <span class="comment-kind" data-kind={kind}>
          {kindWords[kind]}
        </span>
        <span class="muted">
          <Since at={createdAt} />
        </span>
        <span class="comment-status" data-status={status}>
          {statusWords[status]}
        </span>
      </header>
      {isGone ? (
        <p class="comment-gone">
          {now.line_is === 'gone' ? 'The line was deleted' : 'The line was not found'}
          {line === null ? '' : `; it was line ${line}`}.
          {quoted === null ? null : <code>{plainText(quoted)}</code>}
        </p>
      ) : null}
      <p class="comment-text">
        <Prose text={text} />
      </p>
      {replies.map((reply) => (
        <div class="comment-reply" key={reply.reply_id}>
          <header>
            {reply.is_person ? <b>{reply.author}</b> : <Agent name={reply.agent_name ?? reply.author} />}
            <span class="muted">
              <Since at={reply.created_at} />
            </span>
            {reply.done ? (
              <span class="comment-status" data-status="done">
                {reply.is_person ? 'resolved it' : 'claims it is done'}
              </span>
            ) : null}
          </header>
          <p class="comment-text">
            <Prose text={reply.text} />
          </p>
        </div>
      ))}
      {isReplying ? (
        <TextForm
          label="Your reply"
          action="Reply"
          leave={() => setReplying(false)}
          send={async (sent) => {
            if (await review.answer(comment, sent.text, false)) setReplying(false)
          }}
        />
      ) : isPermitted('reply_to_review') ? (
        <p class="comment-verbs">
          <button type="button" class="button" data-kind="plain" onClick={() => setReplying(true)}>
            Reply
          </button>
          {status === 'done' ? null : (
            <button
              type="button"
              class="button"
              data-kind="plain"
              onClick={() => void review.answer(comment, 'Resolved.', true)}
            >
              Resolve
            </button>
          )}
        </p>
      ) : null}
    </article>
  )
}

const kindWords = { question: 'asks', request: 'requests' } as const
const statusWords = { open: 'Open', answered: 'Answered', done: 'Done' } as const

/** A comment that is not sent yet. No one else sees it. */
export function DraftNote({ review, draft }: { readonly review: ReviewModel; readonly draft: ReviewDraft }) {
  const { comment_id, kind, text, path, line } = draft
  if (review.editing.value === comment_id) {
    return (
      <TextForm
        label="Edit the comment"
        action="Save"
        first={{ kind, text }}
        leave={() => {
          review.editing.value = null
        }}
        send={async (words) => {
          if (await review.edit(draft, words)) review.editing.value = null
        }}
      />
    )
  }
  return (
    <article class="comment" data-status="draft" id={comment_id} aria-label="Your draft" tabIndex={-1}>
      <header>
        <b>You</b>
        <span class="comment-kind" data-kind={kind}>
          {kind === 'question' ? 'ask' : 'request'}
        </span>
        <span class="comment-status" data-status="draft">
          Draft
        </span>
        {path !== null && line !== null ? <span class="muted">line {line}</span> : null}
      </header>
      <p class="comment-text">
        <Prose text={text} />
      </p>
      <p class="comment-verbs">
        <button
          type="button"
          class="button"
          data-kind="plain"
          onClick={() => {
            review.editing.value = comment_id
          }}
        >
          Edit
        </button>
        <button type="button" class="button" data-kind="plain" onClick={() => void review.drop(draft)}>
          Delete
        </button>
      </p>
    </article>
  )
}

/** A new comment. It stays a draft until all comments are sent. */
export function CommentForm({
  review,
  place,
}: {
  readonly review: ReviewModel
  readonly place: CommentTarget
}) {
  const about =
    place.file === null
      ? 'all changes'
      : place.line === null
        ? plainText(place.file.path)
        : `${place.side === 'old' ? 'old line' : 'line'} ${place.line}`
  const leave = () => {
    review.composing.value = null
  }
  return (
    <TextForm
      label={`Comment on ${about}`}
      action="Save draft"
      first={{ kind: 'request', text: '' }}
      leave={leave}
      send={async (words) => {
        if (await review.comment(place, words)) leave()
      }}
    />
  )
}

interface TextFormProps {
  readonly label: string
  readonly action: string
  /** Without it, the form has no kind. */
  readonly first?: CommentText
  readonly send: (words: CommentText) => Promise<void>
  readonly leave: () => void
}

/** A text and its kind. Ctrl or ⌘ with Enter sends it, Esc cancels. */
function TextForm({ label, action, first, send, leave }: TextFormProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [kind, setKind] = useState<CommentText['kind']>(first?.kind ?? 'request')
  const [isSending, setSending] = useState(false)
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [])
  useLayoutEffect(() => field.current?.scrollIntoView({ block: 'nearest' }), [])
  const submit = async () => {
    const text = field.current?.value.trim() ?? ''
    if (text === '' || isSending) return field.current?.focus()
    setSending(true)
    await send({ kind, text })
    setSending(false)
  }
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave()
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit()
      }}
    >
      <label for={id}>{label}</label>
      <textarea
        id={id}
        ref={field}
        class="field"
        rows={3}
        maxLength={8_000}
        required
        defaultValue={first?.text ?? ''}
      />
      <div class="comment-verbs">
        {first === undefined ? null : (
          <fieldset class="comment-kinds" aria-label="Kind of comment">
            {(['request', 'question'] as const).map((one) => (
              <label key={one}>
                <input
                  type="radio"
                  name={`kind ${id}`}
                  checked={kind === one}
                  onChange={() => setKind(one)}
                />
                {one === 'request' ? 'Request' : 'Question'}
              </label>
            ))}
          </fieldset>
        )}
        <button type="submit" class="button" data-kind="primary" disabled={isSending}>
          {action} <KeyCap keys="mod+Enter" />
        </button>
        <button type="button" class="button" onClick={leave}>
          Cancel
        </button>
      </div>
    </form>
  )
}
