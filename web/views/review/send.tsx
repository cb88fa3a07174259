import { useId, useRef, useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { ReviewData } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import type { ReviewActionName, ReviewModel } from './model.ts'

interface SendProps {
  readonly review: ReviewModel
  readonly data: ReviewData
  readonly action: ReviewActionName
  readonly close: () => void
}

/** Sends the action for the shown version, with all drafts. */
export function SendDialog({ review, data, action, close }: SendProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const { title, button, label } =
    data.subject.kind === 'since' && action === 'approve' ? allViewed : texts[action]
  const drafts = data.drafts.length
  const unseen = data.files.filter((file) => !review.isViewed(file)).length
  const changed = review.changedSince.value
  const answered = data.waiting.filter(({ is_answered }) => is_answered)
  const others = data.waiting.filter(({ is_answered }) => !is_answered)
  const send = async () => {
    setSending(true)
    const why = await review.send(action, field.current?.value.trim() ?? '', data.content)
    setSending(false)
    if (why === null) close()
    else setRefusal(why)
  }
  return (
    <Dialog title={title} close={close} class="send-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send()
        }}
      >
        <p class="muted">
          {drafts === 0 ? 'No comments to send.' : `Sends ${formatCount(drafts, 'comment')}.`}{' '}
          {action === 'approve' && unseen > 0
            ? `${unseen} of ${data.files.length} files ${unseen === 1 ? 'is' : 'are'} not marked as viewed.`
            : ''}
        </p>
        {action === 'comment' ? null : (
          <>
            <ReviewQuestions
              of={answered}
              head={
                action === 'send_back' ? 'Closes these items of the inbox, too:' : approvalEffect(answered)
              }
            />
            <ReviewQuestions of={others} head={`${title} does not answer:`} />
          </>
        )}
        <label for={id}>{label}</label>
        <textarea id={id} ref={field} class="field" rows={3} maxLength={8_000} />
        {refusal === null ? null : (
          <p role="alert" class="refusal">
            {refusal}
          </p>
        )}
        {changed.length > 0 ? (
          <div class="refusal">
            Changed since you opened this page:
            <ul>
              {changed.slice(0, 12).map((path) => (
                <li key={path} class="mono">
                  {plainText(path)}
                </li>
              ))}
              {changed.length > 12 ? <li>{changed.length - 12} more</li> : null}
            </ul>
            <button
              type="button"
              class="button"
              onClick={() => {
                review.showNewer()
                close()
              }}
            >
              Show the current version
            </button>
          </div>
        ) : null}
        <div class="verbs">
          <button type="submit" class="button" data-kind="primary" disabled={isSending}>
            {button} <KeyCap keys="mod+Enter" />
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Questions of the inbox. */
function ReviewQuestions({ of, head }: { readonly of: ReviewData['waiting']; readonly head: string }) {
  if (of.length === 0) return null
  return (
    <>
      <p class="muted">{head}</p>
      <ul class="send-waiting">
        {of.map(({ item_id, reason }) => (
          <li key={item_id}>{reason}</li>
        ))}
      </ul>
    </>
  )
}

/** What Approve answers, and where it sends runs. */
function approvalEffect(answered: ReviewData['waiting']): string {
  const states = answered.flatMap(({ moves_to }) => moves_to ?? [])
  const runs = states.length === 1 ? 'the run' : 'the runs'
  const move =
    states.length === 0
      ? ''
      : `, and sends ${runs} to ${[...new Set(states)].join(' and ')} if the guards hold`
  return `Approve answers ${formatCount(answered.length, 'item')} of the inbox${move}:`
}

/** For all new changes this approves nothing: the next review begins here. */
const allViewed = {
  title: 'Mark all as viewed',
  button: 'Mark all as viewed',
  label: 'Comment (optional)',
} as const

const texts = {
  approve: { title: 'Approve', button: 'Approve', label: 'Comment (optional)' },
  send_back: { title: 'Send back', button: 'Send back', label: 'What should the agent change?' },
  comment: { title: 'Send the comments', button: 'Send', label: 'Comment (optional)' },
} as const satisfies Record<ReviewActionName, object>
