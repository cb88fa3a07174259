import { useId, useRef, useState } from 'preact/hooks'
import type { ReviewData } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { KeyCap } from '../../parts/key-cap.tsx'
import type { ReviewActionName, ReviewModel } from './model.ts'

interface SendProps {
  readonly review: ReviewModel
  readonly shown: ReviewData
  readonly verdict: ReviewActionName
  readonly close: () => void
}

/** Says a verdict on what is shown, with all drafts. */
export function SendDialog({ review, shown, verdict, close }: SendProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const { title, action, asks } =
    shown.subject.kind === 'since' && verdict === 'approve' ? looked : words[verdict]
  const drafts = shown.drafts.length
  const unseen = shown.files.filter((file) => !review.isViewed(file)).length
  const changed = review.changedSince.value
  const send = async () => {
    setSending(true)
    const why = await review.send(verdict, field.current?.value.trim() ?? '', shown.content)
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
          {drafts === 0
            ? 'No comments.'
            : `${drafts} ${drafts === 1 ? 'comment goes' : 'comments go'} with it.`}{' '}
          {verdict === 'approve' && unseen > 0
            ? `${unseen} of ${shown.files.length} files ${unseen === 1 ? 'is' : 'are'} not marked as viewed.`
            : ''}
        </p>
        {shown.waiting.length > 0 && verdict !== 'comment' ? (
          <ul class="send-waiting">
            {shown.waiting.map(({ item_id, reason }) => (
              <li key={item_id}>{reason}</li>
            ))}
          </ul>
        ) : null}
        <label for={id}>{asks}</label>
        <textarea id={id} ref={field} class="field" rows={3} maxLength={8_000} />
        {refusal === null ? null : (
          <p role="alert" class="refusal">
            {refusal}
          </p>
        )}
        {changed.length > 0 ? (
          <div class="refusal">
            Changed since you looked:
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
              Show what it is now
            </button>
          </div>
        ) : null}
        <div class="verbs">
          <button type="submit" class="button" data-kind="primary" disabled={isSending}>
            {action} <KeyCap keys="mod+Enter" />
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Of all that is new, a yes approves nothing: it is where the next look begins. */
const looked = { title: 'All looked at', action: 'All looked at', asks: 'Anything to add?' } as const

const words = {
  approve: { title: 'Approve', action: 'Approve', asks: 'Anything to add?' },
  send_back: { title: 'Send back', action: 'Send back', asks: 'What should be done?' },
  comment: { title: 'Send the comments', action: 'Send', asks: 'Anything to add?' },
} as const satisfies Record<ReviewActionName, object>
