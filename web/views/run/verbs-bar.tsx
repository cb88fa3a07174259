import { useState } from 'preact/hooks'
import type { RunPage } from '../../api/answers.ts'
import { useCommands } from '../../keys/commands.ts'
import { sendings, sendLater } from '../../shell/send-later.ts'
import { VerbDialog } from './verb-dialog.tsx'
import { type RunVerb, verbsOf } from './verbs.ts'

/** What a person may do with the run; it can be taken back for five seconds. */
export function VerbsBar({ page, refresh }: { readonly page: RunPage; readonly refresh: () => void }) {
  const [asking, setAsking] = useState<RunVerb | null>(null)
  const { run_id, status } = page.run
  const sending = sendings.value.get(run_id)
  const verbs = verbsOf(page)
  const first = verbs.find(({ isYes, missing }) => isYes && missing === null)
  useCommands(first && !sending && !asking ? { approve: () => setAsking(first) } : {})
  if (status !== 'active') return null
  if (sending) return <p class="run-verbs muted">{sending.text}…</p>
  const send = (verb: RunVerb, reason: string, payload: object | null) => {
    setAsking(null)
    const { operation, done, input } = verb
    const decides = operation === 'approve' || operation === 'decide'
    const shown = decides && page.content !== null ? { content: page.content } : {}
    const said = { ...input(reason, payload), ...shown }
    sendLater({ about: run_id, operation, input: said, text: done, sent: refresh })
  }
  return (
    <fieldset class="run-verbs" aria-label="What you may do">
      {verbs.map((verb) => (
        <button
          key={verb.label}
          type="button"
          class="button"
          {...(verb === first && { 'data-kind': 'primary' })}
          {...(verb.operation.startsWith('run_') && { 'data-kind': 'plain' })}
          disabled={verb.missing !== null}
          title={verb.missing === null ? '' : `Not yet: ${verb.missing}`}
          onClick={() => setAsking(verb)}
        >
          {verb.label}
        </button>
      ))}
      {asking ? (
        <VerbDialog
          verb={asking}
          send={(reason, payload) => send(asking, reason, payload)}
          close={() => setAsking(null)}
        />
      ) : null}
    </fieldset>
  )
}
