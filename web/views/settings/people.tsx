import { useCallback, useState } from 'preact/hooks'
import type { InputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { PersonData } from '../../api/entities.ts'
import { ownPermissions } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { Pending } from '../../parts/empty-state.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { OperationDialog, TextField, Verb, WhyNot } from './parts.tsx'

type PersonDialog =
  | { readonly is: 'add' }
  | { readonly is: 'disable'; readonly person: PersonData }
  | { readonly is: 'admin'; readonly person: PersonData }

/** The people of the server. */
export function People() {
  const people = useQuery('person_list', {})
  const [dialog, setDialog] = useState<PersonDialog | null>(null)
  const close = useCallback(() => setDialog(null), [])
  const answer = people.answer.value
  if (answer === null) return <Pending failure={people.failure} />
  const confirm = (text: string) => {
    showToast({ kind: 'done', text })
    people.refresh()
  }
  const enable = async ({ id, name }: PersonData) => {
    try {
      await call('person_enable', { person: id })
      confirm(`${name} is enabled.`)
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  return (
    <>
      <div class="settings-bar">
        <Verb operation="person_add" kind="primary" run={() => setDialog({ is: 'add' })}>
          Add a person
        </Verb>
        <WhyNot operation="person_add" />
      </div>
      <ul class="rows full-width settings-rows" aria-label="People">
        {answer.people.map((person) => (
          <li key={person.id} class="settings-row" data-state={person.state}>
            <span class="wide settings-who">
              <Agent name={person.name} />
              <span class="muted cut">
                {ownPermissions.value?.person.id === person.id ? 'you' : ''}
                {ownPermissions.value?.person.id === person.id && person.email !== null ? ' · ' : ''}
                {person.email}
              </span>
              {person.admin ? <span class="tag">admin</span> : null}
              {person.state === 'active' ? null : <span class="tag">{person.state}</span>}
            </span>
            <span class="muted cut settings-roles">
              {person.issuer === null ? '' : `with ${hostOf(person.issuer)}`}
            </span>
            <span class="muted settings-time">
              since <TimeOfDay at={person.created_at} />
            </span>
            {person.state === 'disabled' ? null : (
              <Verb
                operation="person_admin"
                kind="plain"
                label={`${person.admin ? 'Remove admin' : 'Make admin'}: ${person.name}`}
                run={() => setDialog({ is: 'admin', person })}
              >
                {person.admin ? 'Remove admin' : 'Make admin'}
              </Verb>
            )}
            {person.state === 'disabled' ? (
              <Verb
                operation="person_enable"
                kind="plain"
                label={`Enable ${person.name}`}
                run={() => void enable(person)}
              >
                Enable
              </Verb>
            ) : (
              <Verb
                operation="person_disable"
                kind="plain"
                label={`Disable ${person.name}`}
                run={() => setDialog({ is: 'disable', person })}
              >
                Disable
              </Verb>
            )}
          </li>
        ))}
      </ul>
      {dialog?.is === 'add' ? (
        <AddPerson
          close={close}
          onDone={({ name }) => confirm(`${name} added. Add them to a project, or create a token for them.`)}
        />
      ) : null}
      {dialog?.is === 'admin' ? (
        <OperationDialog
          title={
            dialog.person.admin
              ? `Remove admin rights of ${dialog.person.name}?`
              : `Make ${dialog.person.name} an admin?`
          }
          operation="person_admin"
          input={() => ({ person: dialog.person.id, ...(dialog.person.admin && { end: true }) })}
          verb={dialog.person.admin ? 'Remove admin' : 'Make admin'}
          isDangerous={dialog.person.admin}
          close={close}
          onDone={({ name, admin }) =>
            confirm(admin ? `${name} is now an admin.` : `${name} is no longer an admin.`)
          }
        >
          <p>An admin manages projects and people, and has owner access to every project.</p>
        </OperationDialog>
      ) : null}
      {dialog?.is === 'disable' ? (
        <OperationDialog
          title={`Disable ${dialog.person.name}?`}
          operation="person_disable"
          input={() => ({ person: dialog.person.id })}
          verb="Disable"
          isDangerous
          close={close}
          onDone={({ name }) => confirm(`${name} is disabled.`)}
        >
          <p>
            Their tokens, agents and browsers are refused within five seconds. Their work stays, and you can
            enable them again.
          </p>
        </OperationDialog>
      ) : null}
    </>
  )
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer
}

interface AddPersonProps {
  readonly close: () => void
  readonly onDone: (person: PersonData) => void
}

function AddPerson({ close, onDone }: AddPersonProps) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [admin, setAdmin] = useState(false)
  const input = (): InputOf<'person_add'> => ({
    name,
    ...(email !== '' && { email }),
    ...(admin && { admin }),
  })
  return (
    <OperationDialog
      title="Add a person"
      operation="person_add"
      input={input}
      verb="Add"
      close={close}
      onDone={onDone}
    >
      <TextField
        label="Name"
        value={name}
        set={setName}
        required
        hint="Their actions are recorded under this name."
      />
      <TextField
        label="Email address"
        isEmail
        value={email}
        set={setEmail}
        hint="For single sign-on. Without it, create a token for the person."
      />
      <label class="settings-check">
        <input
          type="checkbox"
          checked={admin}
          onChange={({ currentTarget }) => setAdmin(currentTarget.checked)}
        />
        Admin: manages projects and people
      </label>
    </OperationDialog>
  )
}
