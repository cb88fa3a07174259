import { useCallback, useState } from 'preact/hooks'
import type { InputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { PersonData } from '../../api/entities.ts'
import { ownPermissions } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { FailureMessage } from '../../parts/empty-state.tsx'
import { Clock } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { Field, OperationDialog, Verb, WhyNot } from './parts.tsx'

type PersonDialog =
  | { readonly is: 'add' }
  | { readonly is: 'disable'; readonly person: PersonData }
  | { readonly is: 'admin'; readonly person: PersonData }

/** Everybody who may use the server. */
export function People() {
  const persons = useQuery('person_list', {})
  const [asked, setAsked] = useState<PersonDialog | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const answer = persons.answer.value
  if (answer === null) return <FailureMessage failure={persons.failure} />
  const said = (text: string) => {
    showToast({ kind: 'said', text })
    persons.refresh()
  }
  const enable = async ({ id, name }: PersonData) => {
    try {
      await call('person_enable', { person: id })
      said(`${name} is let in again.`)
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  return (
    <>
      <div class="settings-bar">
        <Verb operation="person_add" kind="primary" run={() => setAsked({ is: 'add' })}>
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
              {person.issuer === null ? '' : `by ${hostOf(person.issuer)}`}
            </span>
            <span class="muted settings-time">
              since <Clock at={person.created_at} />
            </span>
            {person.state === 'disabled' ? null : (
              <Verb
                operation="person_admin"
                kind="plain"
                label={`${person.admin ? 'No longer an admin' : 'Make an admin'}: ${person.name}`}
                run={() => setAsked({ is: 'admin', person })}
              >
                {person.admin ? 'No longer an admin' : 'Make an admin'}
              </Verb>
            )}
            {person.state === 'disabled' ? (
              <Verb
                operation="person_enable"
                kind="plain"
                label={`Let ${person.name} in again`}
                run={() => void enable(person)}
              >
                Let in again
              </Verb>
            ) : (
              <Verb
                operation="person_disable"
                kind="plain"
                label={`Disable ${person.name}`}
                run={() => setAsked({ is: 'disable', person })}
              >
                Disable
              </Verb>
            )}
          </li>
        ))}
      </ul>
      {asked?.is === 'add' ? (
        <AddPerson
          close={close}
          done={({ name }) =>
            said(`${name} may use the server now. Add them to a project, or make a token for them.`)
          }
        />
      ) : null}
      {asked?.is === 'admin' ? (
        <OperationDialog
          title={
            asked.person.admin
              ? `${asked.person.name} is no longer an admin?`
              : `Make ${asked.person.name} an admin?`
          }
          operation="person_admin"
          input={() => ({ person: asked.person.id, ...(asked.person.admin && { end: true }) })}
          verb={asked.person.admin ? 'No longer an admin' : 'Make an admin'}
          isDangerous={asked.person.admin}
          close={close}
          done={({ name, admin }) =>
            said(admin ? `${name} is an admin now.` : `${name} is no longer an admin.`)
          }
        >
          <p>An admin decides about projects and persons, and may do in every project what its owners may.</p>
        </OperationDialog>
      ) : null}
      {asked?.is === 'disable' ? (
        <OperationDialog
          title={`Disable ${asked.person.name}?`}
          operation="person_disable"
          input={() => ({ person: asked.person.id })}
          verb="Disable"
          isDangerous
          close={close}
          done={({ name }) => said(`${name} is let in no more.`)}
        >
          <p>
            Their tokens, their agents and their browsers are refused within five seconds, on every server.
            What they did stays, and they can be let in again.
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
  readonly done: (person: PersonData) => void
}

function AddPerson({ close, done }: AddPersonProps) {
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
      done={done}
    >
      <Field label="Name" value={name} set={setName} required hint="What they do is recorded under it." />
      <Field
        label="E-mail address"
        isEmail
        value={email}
        set={setEmail}
        hint="Who signs in with it by single sign-on is this person. Without one, make a token for them."
      />
      <label class="settings-check">
        <input
          type="checkbox"
          checked={admin}
          onChange={({ currentTarget }) => setAdmin(currentTarget.checked)}
        />
        An admin: decides about projects and persons
      </label>
    </OperationDialog>
  )
}
