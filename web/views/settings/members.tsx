import { useCallback, useState } from 'preact/hooks'
import { type Access, accesses, accessWords } from '../../../src/people/domain/access.ts'
import { call, errorText } from '../../api/call.ts'
import type { Invitation, MemberData } from '../../api/entities.ts'
import { isPermitted, ownPermissions, readSession } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, FailureMessage } from '../../parts/empty-state.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, Field, MadeSecret, OperationDialog, Verb, WhyNot, wordsIn } from './parts.tsx'

type MemberDialog =
  | { readonly is: 'add' }
  | { readonly is: 'roles' | 'remove' | 'invitation'; readonly member: MemberData }

/** Who may do what in the project. */
export function Members() {
  const members = useQuery('member_list', {})
  const [asked, setAsked] = useState<MemberDialog | null>(null)
  const [made, setMade] = useState<Invitation | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const answer = members.answer.value
  if (answer === null) return <FailureMessage failure={members.failure} />
  const said = (text: string) => {
    showToast({ kind: 'said', text })
    members.refresh()
    // What one may oneself may be another now.
    void readSession().catch(() => undefined)
  }
  return (
    <>
      {made === null ? null : (
        <MadeSecret
          title={made.person.name}
          kind={`invitation, ${made.access}`}
          what="invitation"
          secret={made.invitation}
          done={() => setMade(null)}
        >
          Send it to {made.person.name} with the address of this server. They sign in with it once, within 24
          hours.
        </MadeSecret>
      )}
      <div class="settings-bar">
        <Verb operation="member_add" kind="primary" run={() => setAsked({ is: 'add' })}>
          Add a member
        </Verb>
        <WhyNot operation="member_set" />
      </div>
      {answer.members.length === 0 ? (
        <EmptyState
          title="Nobody is a member of this project yet: only admins of the server see it."
          command="waymark member add <person> maintainer"
        />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Members">
          {answer.members.map((member) => (
            <Row
              key={member.person.id}
              member={member}
              ask={setAsked}
              said={said}
              refresh={members.refresh}
            />
          ))}
        </ul>
      )}
      <dl class="access-words muted">
        {accesses.map((access) => (
          <div key={access}>
            <dt>{access}</dt>
            <dd>{accessWords[access]}</dd>
          </div>
        ))}
      </dl>
      {asked?.is === 'add' ? (
        <AddMember
          members={answer.members}
          close={close}
          done={({ person }) => said(`${person.name} is a member now.`)}
        />
      ) : null}
      {asked?.is === 'roles' ? (
        <Roles
          member={asked.member}
          close={close}
          done={({ person, roles }) =>
            said(`Gate roles of ${person.name}: ${roles.length === 0 ? 'none' : roles.join(', ')}.`)
          }
        />
      ) : null}
      {asked?.is === 'invitation' ? (
        <OperationDialog
          title={`Let ${asked.member.person.name} in without single sign-on?`}
          operation="invitation_create"
          input={() => ({ person: asked.member.person.id })}
          verb="Make the invitation"
          close={close}
          done={setMade}
        >
          <p>
            An invitation works once, within 24 hours, for a member who never signed in. An earlier one for
            them ends.
          </p>
        </OperationDialog>
      ) : null}
      {asked?.is === 'remove' ? (
        <OperationDialog
          title={`Remove ${asked.member.person.name}?`}
          operation="member_remove"
          input={() => ({ person: asked.member.person.id })}
          verb="Remove"
          isDangerous
          close={close}
          done={({ removed }) => said(`${removed} is no member any more.`)}
        >
          <p>
            {asked.member.person.name} and their agents are let into this project no more, within five
            seconds. What they did stays.
          </p>
        </OperationDialog>
      ) : null}
    </>
  )
}

interface MemberRowProps {
  readonly member: MemberData
  readonly ask: (asked: MemberDialog) => void
  readonly said: (text: string) => void
  readonly refresh: () => void
}

function Row({ member, ask, said, refresh }: MemberRowProps) {
  const { person, email, access, roles, state } = member
  const isOwn = ownPermissions.value?.person.id === person.id
  const change = async (next: Access) => {
    try {
      await call('member_set', { person: person.id, access: next })
      said(`${person.name} has ${next} access now.`)
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
      refresh()
    }
  }
  return (
    <li class="settings-row">
      <span class="wide settings-who">
        <Agent name={person.name} />
        <span class="muted cut">
          {isOwn ? 'you' : ''}
          {isOwn && email !== null ? ' · ' : ''}
          {email}
        </span>
        {state === 'active' || isOwn ? null : <span class="tag">{state}</span>}
      </span>
      <span
        class="muted cut settings-roles"
        title={roles.length > 0 ? `Gate roles: ${roles.join(', ')}` : ''}
      >
        {roles.join(', ')}
      </span>
      {isPermitted('member_set') ? (
        <>
          {state === 'invited' ? (
            <button
              type="button"
              class="button"
              data-kind="plain"
              aria-label={`Invitation for ${person.name}`}
              onClick={() => ask({ is: 'invitation', member })}
            >
              Invitation
            </button>
          ) : null}
          <AccessChoice name={person.name} access={access} change={(next) => void change(next)} />
          <button
            type="button"
            class="button"
            data-kind="plain"
            aria-label={`Gate roles of ${person.name}`}
            onClick={() => ask({ is: 'roles', member })}
          >
            Roles
          </button>
          <button
            type="button"
            class="button"
            data-kind="plain"
            aria-label={`Remove ${person.name}`}
            onClick={() => ask({ is: 'remove', member })}
          >
            Remove
          </button>
        </>
      ) : (
        <b class="settings-access">{access}</b>
      )}
    </li>
  )
}

interface AccessChoiceProps {
  readonly name: string
  readonly access: Access
  readonly change: (access: Access) => void
}

function AccessChoice({ name, access, change }: AccessChoiceProps) {
  return (
    <select
      // A refusal puts back what is so.
      key={access}
      class="field settings-access"
      aria-label={`Access of ${name}`}
      value={access}
      onChange={({ currentTarget }) => {
        const next = accesses.find((known) => known === currentTarget.value)
        currentTarget.value = access
        if (next && next !== access) change(next)
      }}
    >
      {accesses.map((known) => (
        <option key={known} value={known}>
          {known}
        </option>
      ))}
    </select>
  )
}

const accessOptions = accesses.map((access): [Access, string] => [
  access,
  `${access}: ${accessWords[access]}`,
])

interface AddMemberProps {
  readonly members: readonly MemberData[]
  readonly close: () => void
  readonly done: (member: MemberData) => void
}

/** Somebody whom the server knows, or somebody who will sign in with an e-mail address. */
function AddMember({ members, close, done }: AddMemberProps) {
  const persons = useQuery('person_list', {})
  const [who, setWho] = useState('')
  const [email, setEmail] = useState('')
  const [access, setAccess] = useState<Access>('contributor')
  const [roles, setRoles] = useState('')
  const strangers = (persons.answer.value?.people ?? []).filter(
    ({ id, state }) => state !== 'disabled' && !members.some(({ person }) => person.id === id),
  )
  const options: [string, string][] = [
    ['', 'Somebody new, by e-mail address'],
    ...strangers.map(({ id, name, email: known }): [string, string] => [
      id,
      known === null ? name : `${name}, ${known}`,
    ]),
  ]
  const common = { access, roles: wordsIn(roles) }
  const fields = (
    <>
      <ChoiceField label="Who" value={who} options={options} set={setWho} />
      {who === '' ? (
        <Field
          label="E-mail address"
          isEmail
          value={email}
          set={setEmail}
          required
          hint="Whoever signs in with this address is the member. Nothing is sent: tell them the address of this server, and without single sign-on make them an invitation."
        />
      ) : null}
      <ChoiceField label="Access" value={access} options={accessOptions} set={setAccess} />
      <Field
        label="Gate roles"
        value={roles}
        set={setRoles}
        hint="As processes name them, such as reviewer. May be left empty."
      />
    </>
  )
  const shared = { title: 'Add a member', close, done }
  return who === '' ? (
    <OperationDialog {...shared} operation="member_invite" input={() => ({ email, ...common })} verb="Invite">
      {fields}
    </OperationDialog>
  ) : (
    <OperationDialog {...shared} operation="member_add" input={() => ({ person: who, ...common })} verb="Add">
      {fields}
    </OperationDialog>
  )
}

interface RolesProps {
  readonly member: MemberData
  readonly close: () => void
  readonly done: (member: MemberData) => void
}

function Roles({ member, close, done }: RolesProps) {
  const [roles, setRoles] = useState(member.roles.join(' '))
  return (
    <OperationDialog
      title={`Gate roles of ${member.person.name}`}
      operation="member_set"
      input={() => ({ person: member.person.id, roles: wordsIn(roles) })}
      verb="Save"
      close={close}
      done={done}
    >
      <Field
        label="Gate roles"
        value={roles}
        set={setRoles}
        hint="As processes name them, such as reviewer; with spaces between. They decide which events of a run a person may send."
      />
    </OperationDialog>
  )
}
