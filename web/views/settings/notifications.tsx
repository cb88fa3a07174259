import { useCallback, useState } from 'preact/hooks'
import { noticeKinds } from '../../../src/notifications/domain/notification.ts'
import type { InputOf, OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ChecksField, ChoiceField, OperationDialog, TextField, Verb } from './parts.tsx'

type NotificationRow = OutputOf<'notify_list'>['notifications'][number]
type CreatedNotification = OutputOf<'notify_add'>
type NotificationKind = NonNullable<InputOf<'notify_add'>['kinds']>[number]

type NotificationDialog =
  | { readonly is: 'add' }
  | { readonly is: 'edit'; readonly of: NotificationRow }
  | { readonly is: 'remove'; readonly of: NotificationRow }

/** The delivery of a message is no log entry: it is read again after so many milliseconds. */
const refreshMs = 5_000

/** The notifications of the person in this project. */
export function Notifications() {
  const listed = useQuery('notify_list', {}, { every: refreshMs })
  const [dialog, setDialog] = useState<NotificationDialog | null>(null)
  const [created, setCreated] = useState<CreatedNotification | null>(null)
  const close = useCallback(() => setDialog(null), [])
  const answer = listed.answer.value
  return (
    <>
      {created?.secret ? (
        <Secret created={created} secret={created.secret} onDone={() => setCreated(null)} />
      ) : null}
      <div class="settings-bar">
        <Verb operation="notify_add" kind="primary" run={() => setDialog({ is: 'add' })}>
          Add a notification
        </Verb>
      </div>
      {answer === null ? (
        <Pending failure={listed.failure} />
      ) : answer.notifications.length === 0 ? (
        <EmptyState title="No notifications yet. Waymark can notify you on the desktop, by webhook or in Slack." />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Notifications">
          {answer.notifications.map((of) => (
            <Row
              key={of.id}
              of={of}
              edit={() => setDialog({ is: 'edit', of })}
              remove={() => setDialog({ is: 'remove', of })}
            />
          ))}
        </ul>
      )}
      {dialog?.is === 'add' ? (
        <Add
          close={close}
          onDone={(saved) => {
            setCreated(saved)
            listed.refresh()
          }}
        />
      ) : null}
      {dialog?.is === 'edit' ? (
        <EditDialog
          of={dialog.of}
          close={close}
          onDone={(saved) => {
            setCreated(saved)
            showToast({ kind: 'done', text: `${saved.name} saved.` })
            listed.refresh()
          }}
        />
      ) : null}
      {dialog?.is === 'remove' ? (
        <OperationDialog
          title={`Remove ${dialog.of.name}?`}
          operation="notify_remove"
          input={() => ({ name: dialog.of.id })}
          verb="Remove"
          isDangerous
          close={close}
          onDone={({ name }) => {
            showToast({ kind: 'done', text: `${name} removed.` })
            listed.refresh()
          }}
        >
          <p>Its address and secret are deleted. Messages that wait are not sent.</p>
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
      showToast({ kind: success ? 'done' : 'refused', text: says })
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
          'nothing sent'
        ) : (
          <>
            sent <Since at={last_sent_at} /> ago
          </>
        )}
      </span>
      <Verb operation="notify_test" kind="plain" label={`Test ${name}`} run={() => void test()}>
        Test
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

/** A new secret, shown once. */
function Secret(props: {
  readonly created: CreatedNotification
  readonly secret: string
  readonly onDone: () => void
}) {
  const { created, secret, onDone } = props
  return (
    <section class="made-token" aria-label={`The secret of ${created.name}`}>
      <h2>{created.name}</h2>
      <p>The secret that signs the webhook. It is shown only once.</p>
      <p class="snippet">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <button type="button" class="button" onClick={onDone}>
        I have stored it
      </button>
    </section>
  )
}

/** What each kind is about. */
const kindWords = [
  ['blocker', 'Blockers: questions'],
  ['review', 'Reviews'],
  ['verdict', 'Contradicted verdicts'],
  ['scope', 'Files out of scope'],
  ['approval', 'Approvals'],
  ['command', 'Commands to allow'],
  ['stale_attempt', 'Stale attempts: no calls'],
  ['loss', 'Lost files'],
  ['attempt_failed', 'Failed attempts'],
  ['mission_ended', 'Ended missions'],
] as const satisfies readonly (readonly [NotificationKind, string])[]

const forms = [
  ['slack', 'Slack, or a service with the same format'],
  ['webhook', 'Webhook, signed'],
  ['desktop', 'Desktop of the machine that runs this server'],
] as const

function Add({
  close,
  onDone,
}: {
  readonly close: () => void
  readonly onDone: (created: CreatedNotification) => void
}) {
  const [form, setForm] = useState<NotificationRow['form']>('slack')
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [kinds, setKinds] = useState<ReadonlySet<NotificationKind>>(new Set(noticeKinds))
  const input = (): InputOf<'notify_add'> => ({
    form,
    ...(form !== 'desktop' && { url: url.trim() }),
    ...(name.trim() !== '' && { name: name.trim() }),
    kinds: [...kinds],
  })
  return (
    <OperationDialog
      title="Add a notification"
      operation="notify_add"
      input={input}
      verb="Add"
      close={close}
      onDone={onDone}
    >
      <ChoiceField label="Send to" value={form} set={setForm} options={forms} />
      {form === 'desktop' ? null : (
        <TextField
          label="Address"
          value={url}
          set={setUrl}
          required
          hint="http or https. It is not shown again."
        />
      )}
      <TextField label="Name" value={name} set={setName} hint="Optional." />
      <ChecksField label="Notify about" values={kinds} set={setKinds} options={kindWords} />
    </OperationDialog>
  )
}

const secrets = [
  ['same', 'Keep the current secret'],
  ['new', 'Create a new secret, shown once'],
] as const

interface EditProps {
  readonly of: NotificationRow
  readonly close: () => void
  readonly onDone: (created: CreatedNotification) => void
}

function EditDialog({ of, close, onDone }: EditProps) {
  const [url, setUrl] = useState('')
  const [name, setName] = useState(of.name)
  const [kinds, setKinds] = useState<ReadonlySet<NotificationKind>>(
    new Set(noticeKinds.filter((kind) => of.kinds.includes(kind))),
  )
  const [secret, setSecret] = useState<(typeof secrets)[number][0]>('same')
  const input = (): InputOf<'notify_edit'> => ({
    name: of.id,
    new_name: name.trim(),
    kinds: [...kinds],
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(secret === 'new' && { new_secret: true }),
  })
  return (
    <OperationDialog
      title={`Edit ${of.name}`}
      operation="notify_edit"
      input={input}
      verb="Save"
      close={close}
      onDone={onDone}
    >
      {of.form === 'desktop' ? null : (
        <TextField label="Address" value={url} set={setUrl} hint={`Leave empty to keep ${of.to}.`} />
      )}
      <TextField label="Name" value={name} set={setName} required />
      <ChecksField label="Notify about" values={kinds} set={setKinds} options={kindWords} />
      {of.form === 'webhook' ? (
        <ChoiceField label="Secret" value={secret} set={setSecret} options={secrets} />
      ) : null}
    </OperationDialog>
  )
}
