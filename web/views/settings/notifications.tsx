import { useCallback, useState } from 'preact/hooks'
import { noticeKinds } from '../../../src/notifications/domain/notification.ts'
import type { InputOf, OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, FailureMessage } from '../../parts/empty-state.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, Field, OperationDialog, Verb, wordsIn } from './parts.tsx'

type NotificationRow = OutputOf<'notify_list'>['notifications'][number]
type CreatedNotification = OutputOf<'notify_add'>
type NotificationKind = NonNullable<InputOf<'notify_add'>['kinds']>[number]

type NotificationDialog =
  | { readonly is: 'add' }
  | { readonly is: 'edit'; readonly of: NotificationRow }
  | { readonly is: 'remove'; readonly of: NotificationRow }

/** Milliseconds after which what was sent or not is seen: it is no log entry. */
const soonEnough = 5_000

/** The notifications of whoever is signed in, in this project. */
export function Notifications() {
  const listed = useQuery('notify_list', {}, { every: soonEnough })
  const [asked, setAsked] = useState<NotificationDialog | null>(null)
  const [made, setMade] = useState<CreatedNotification | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const answer = listed.answer.value
  return (
    <>
      {made?.secret ? <Secret made={made} secret={made.secret} done={() => setMade(null)} /> : null}
      <div class="settings-bar">
        <Verb operation="notify_add" kind="primary" run={() => setAsked({ is: 'add' })}>
          Add a notification
        </Verb>
      </div>
      {answer === null ? (
        <FailureMessage failure={listed.failure} />
      ) : answer.notifications.length === 0 ? (
        <EmptyState
          title="Nothing tells you what waits here: a message on the desktop, a webhook, or Slack can."
          command="waymark notify add desktop"
        />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Notifications">
          {answer.notifications.map((of) => (
            <Row
              key={of.id}
              of={of}
              edit={() => setAsked({ is: 'edit', of })}
              remove={() => setAsked({ is: 'remove', of })}
            />
          ))}
        </ul>
      )}
      {asked?.is === 'add' ? (
        <Add
          close={close}
          done={(answered) => {
            setMade(answered)
            listed.refresh()
          }}
        />
      ) : null}
      {asked?.is === 'edit' ? (
        <Edit
          of={asked.of}
          close={close}
          done={(answered) => {
            setMade(answered)
            showToast({ kind: 'said', text: `${answered.name} is changed.` })
            listed.refresh()
          }}
        />
      ) : null}
      {asked?.is === 'remove' ? (
        <OperationDialog
          title={`Remove ${asked.of.name}?`}
          operation="notify_remove"
          input={() => ({ name: asked.of.id })}
          verb="Remove"
          isDangerous
          close={close}
          done={({ name }) => {
            showToast({ kind: 'said', text: `${name} is told nothing any more.` })
            listed.refresh()
          }}
        >
          <p>Its address and its secret are forgotten, and what waits to be sent is not sent.</p>
        </OperationDialog>
      ) : null}
    </>
  )
}

interface NotificationRowProps {
  readonly of: NotificationRow
  readonly edit: () => void
  readonly remove: () => void
}

function Row({ of, edit, remove }: NotificationRowProps) {
  const { id, name, form, to, kinds, last_sent_at, waiting, last_error: error } = of
  const test = async () => {
    try {
      const { success, says } = await call('notify_test', { name: id })
      showToast({ kind: success ? 'said' : 'refused', text: says })
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  return (
    <li class="settings-row">
      <span class="wide settings-who">
        <b class="cut">{name}</b>
        <span class="tag">{form}</span>
        <span class="muted cut" title={kinds.join(', ')}>
          {to}
        </span>
        {error === null ? null : (
          <span class="settings-late cut" title={error}>
            {error}
          </span>
        )}
      </span>
      <span class="muted settings-time">{waiting === 0 ? '' : `${waiting} waiting`}</span>
      <span class="muted settings-time">
        {last_sent_at === null ? (
          'nothing sent yet'
        ) : (
          <>
            sent <Since at={last_sent_at} /> ago
          </>
        )}
      </span>
      <Verb operation="notify_test" kind="plain" label={`Try ${name}`} run={() => void test()}>
        Try
      </Verb>
      <Verb operation="notify_edit" kind="plain" label={`Edit ${name}`} run={edit}>
        Edit
      </Verb>
      <Verb operation="notify_remove" kind="plain" label={`Remove ${name}`} run={remove}>
        Remove
      </Verb>
    </li>
  )
}

/** The one time that a secret can be read. */
function Secret(props: {
  readonly made: CreatedNotification
  readonly secret: string
  readonly done: () => void
}) {
  const { made, secret, done } = props
  return (
    <section class="made-token" aria-label={`The secret of ${made.name}`}>
      <h2>{made.name}</h2>
      <p>What the webhook is signed with. It is shown only now.</p>
      <p class="snippet">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <button type="button" class="button" onClick={done}>
        I have kept it
      </button>
    </section>
  )
}

const forms = [
  ['slack', 'Slack, or what takes its form'],
  ['webhook', 'a webhook of yours, signed'],
  ['desktop', 'the desktop of the machine that serves this'],
] as const

function Add({
  close,
  done,
}: {
  readonly close: () => void
  readonly done: (made: CreatedNotification) => void
}) {
  const [form, setForm] = useState<NotificationRow['form']>('slack')
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [kinds, setKinds] = useState('')
  const input = (): InputOf<'notify_add'> => ({
    form,
    ...(form !== 'desktop' && { url: url.trim() }),
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(kinds.trim() !== '' && { kinds: wordsIn(kinds) as NotificationKind[] }), // the server refuses what is none
  })
  return (
    <OperationDialog
      title="Add a notification"
      operation="notify_add"
      input={input}
      verb="Add it"
      close={close}
      done={done}
    >
      <ChoiceField label="By" value={form} set={setForm} options={forms} />
      {form === 'desktop' ? null : (
        <Field
          label="Address"
          value={url}
          set={setUrl}
          required
          hint="http or https. It is shown to nobody afterwards."
        />
      )}
      <Field label="Name" value={name} set={setName} hint="What you call it. May be left empty." />
      <Field
        label="Of what"
        value={kinds}
        set={setKinds}
        hint={`${noticeKinds.join(', ')}; empty for everything.`}
      />
    </OperationDialog>
  )
}

const secrets = [
  ['same', 'stays'],
  ['new', 'a new one, which is shown once'],
] as const

interface EditProps {
  readonly of: NotificationRow
  readonly close: () => void
  readonly done: (made: CreatedNotification) => void
}

function Edit({ of, close, done }: EditProps) {
  const [url, setUrl] = useState('')
  const [name, setName] = useState(of.name)
  const [kinds, setKinds] = useState(of.kinds.length === noticeKinds.length ? '' : of.kinds.join(', '))
  const [secret, setSecret] = useState<(typeof secrets)[number][0]>('same')
  const input = (): InputOf<'notify_edit'> => ({
    name: of.id,
    new_name: name.trim(),
    kinds: wordsIn(kinds) as NotificationKind[], // the server refuses what is none
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(secret === 'new' && { new_secret: true }),
  })
  return (
    <OperationDialog
      title={`Edit ${of.name}`}
      operation="notify_edit"
      input={input}
      verb="Change it"
      close={close}
      done={done}
    >
      {of.form === 'desktop' ? null : (
        <Field label="Address" value={url} set={setUrl} hint={`Empty: it stays where it is, at ${of.to}.`} />
      )}
      <Field label="Name" value={name} set={setName} required />
      <Field
        label="Of what"
        value={kinds}
        set={setKinds}
        hint={`${noticeKinds.join(', ')}; empty for everything.`}
      />
      {of.form === 'webhook' ? (
        <ChoiceField label="Secret" value={secret} set={setSecret} options={secrets} />
      ) : null}
    </OperationDialog>
  )
}
