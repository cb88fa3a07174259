import { useCallback, useState } from 'preact/hooks'
import { joinNames } from '../../../src/kernel/text.ts'
import { type Access, accesses, accessWords } from '../../../src/people/domain/access.ts'
import { call, errorText } from '../../api/call.ts'
import type { Invitation, MemberData } from '../../api/entities.ts'
import { isPermitted, ownPermissions, readSession } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, NewSecret, OperationDialog, TextField, Verb, WhyNot, wordsIn } from './parts.tsx'

type MemberDialog =
  | { readonly is: 'add' }
  | { readonly is: 'roles' | 'remove' | 'invitation'; readonly member: MemberData }

/** The members of the project and their access. */
export function Members() {
  const members = useQuery('member_list', {})
  const [dialog, setDialog] = useState<MemberDialog | null>(null)
  const [created, setCreated] = useState<Invitation | null>(null)
  const close = useCallback(() => setDialog(null), [])
  const answer = members.answer.value
  if (answer === null) return <Pending failure={members.failure} />
  const confirm = (text: string) => {
    showToast({ kind: 'done', text })
    members.refresh()
    // The person's own permissions may have changed.
    void readSession().catch(() => undefined)
  }
  return (
    <>
      {created === null ? null : (
        <NewSecret
          title={created.person.name}
          kind={`invitation, ${created.access}`}
          what="invitation"
          secret={created.invitation}
          onDone={() => setCreated(null)}
        >
          Send it to {created.person.name}, who signs in with it here or enters it after{' '}
          <code>
            waymark connect {location.origin}/p/{created.project}
          </code>
          . It works once, within 24 hours.
        </NewSecret>
      )}
      <div class="settings-bar">
        <Verb operation="member_add" kind="primary" run={() => setDialog({ is: 'add' })}>
          Add a member
        </Verb>
        <WhyNot operation="member_set" />
      </div>
      {answer.members.length === 0 ? (
        <EmptyState title="No members yet. Only admins of the server see this project." />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Members">
          {answer.members.map((member) => (
            <Row
              key={member.person.id}
              member={member}
              ask={setDialog}
              confirm={confirm}
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
      {dialog?.is === 'add' ? (
        <AddMember
          members={answer.members}
          close={close}
          onDone={({ person }) => confirm(`${person.name} is now a member.`)}
        />
      ) : null}
      {dialog?.is === 'roles' ? (
        <Roles
          member={dialog.member}
          close={close}
          onDone={({ person, roles }) =>
            confirm(`Gate roles of ${person.name}: ${roles.length === 0 ? 'none' : roles.join(', ')}.`)
          }
        />
      ) : null}
      {dialog?.is === 'invitation' ? (
        <OperationDialog
          title={`Invite ${dialog.member.person.name} without single sign-on?`}
          operation="invitation_create"
          input={() => ({ person: dialog.member.person.id })}
          verb="Create the invitation"
          close={close}
          onDone={setCreated}
        >
          <p>
            An invitation works once, within 24 hours, for a member who never signed in. It replaces an
            earlier one.
          </p>
        </OperationDialog>
      ) : null}
      {dialog?.is === 'remove' ? (
        <OperationDialog
          title={`Remove ${dialog.member.person.name}?`}
          operation="member_remove"
          input={() => ({ person: dialog.member.person.id })}
          verb="Remove"
          isDangerous
          close={close}
          onDone={({ removed }) => confirm(`${removed} is no longer a member.`)}
        >
          <p>
            {dialog.member.person.name} and their agents lose access to this project within five seconds.
            Their work stays.
          </p>
        </OperationDialog>
      ) : null}
    </>
  )
}

interface MemberRowProps {
  readonly member: MemberData
  readonly ask: (dialog: MemberDialog) => void
  readonly confirm: (text: string) => void
  readonly refresh: () => void
}

function Row({ member, ask, confirm, refresh }: MemberRowProps) {
  const { person, email, access, roles, state, admin } = member
  const isOwn = ownPermissions.value?.person.id === person.id
  const change = async (next: Access) => {
    try {
      const { limited_tokens: tokens } = await call('member_set', { person: person.id, access: next })
      const limits = tokens.map((token) => `"${token.name}" permits ${token.access}`)
      confirm(
        limits.length === 0
          ? `${person.name} now has ${next} access.`
          : `${person.name} now has ${next} access. Their tokens permit less: ${joinNames(limits)}. An admin can create another.`,
      )
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
          {admin ? (
            <b class="settings-access">admin</b>
          ) : (
            <AccessChoice name={person.name} access={access} change={(next) => void change(next)} />
          )}
          <button
            type="button"
            class="button"
            data-kind="plain"
            aria-label={`Gate roles of ${person.name}`}
            onClick={() => ask({ is: 'roles', member })}
          >
            Roles
          </button>
          {admin ? null : (
            <button
              type="button"
              class="button"
              data-kind="plain"
              aria-label={`Remove ${person.name}`}
              onClick={() => ask({ is: 'remove', member })}
            >
              Remove
            </button>
          )}
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
      // A refusal restores the current value.
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
  readonly onDone: (member: MemberData) => void
}

/** Adds a person of the server, or invites one by email address. */
function AddMember({ members, close, onDone }: AddMemberProps) {
  const people = useQuery('person_list', {})
  const [who, setWho] = useState('')
  const [email, setEmail] = useState('')
  const [access, setAccess] = useState<Access>('contributor')
  const [roles, setRoles] = useState('')
  const others = (people.answer.value?.people ?? []).filter(
    ({ id, state }) => state !== 'disabled' && !members.some(({ person }) => person.id === id),
  )
  const options: [string, string][] = [
    ['', 'A new person, by email address'],
    ...others.map(({ id, name, email: address }): [string, string] => [
      id,
      address === null ? name : `${name}, ${address}`,
    ]),
  ]
  const common = { access, roles: wordsIn(roles) }
  const fields = (
    <>
      <ChoiceField label="Who" value={who} options={options} set={setWho} />
      {who === '' ? (
        <TextField
          label="Email address"
          isEmail
          value={email}
          set={setEmail}
          required
          hint="The member signs in with this address. Waymark sends no email: send them the address of this server. Without single sign-on, create an invitation."
        />
      ) : null}
      <ChoiceField label="Access" value={access} options={accessOptions} set={setAccess} />
      <TextField
        label="Gate roles"
        value={roles}
        set={setRoles}
        hint="Role names of processes, such as reviewer. Optional."
      />
    </>
  )
  const shared = { title: 'Add a member', close, onDone }
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
  readonly onDone: (member: MemberData) => void
}

function Roles({ member, close, onDone }: RolesProps) {
  const [roles, setRoles] = useState(member.roles.join(' '))
  return (
    <OperationDialog
      title={`Gate roles of ${member.person.name}`}
      operation="member_set"
      input={() => ({ person: member.person.id, roles: wordsIn(roles) })}
      verb="Save"
      close={close}
      onDone={onDone}
    >
      <TextField
        label="Gate roles"
        value={roles}
        set={setRoles}
        hint="Role names of processes, such as reviewer, separated by spaces. They decide which events of a run the person may send."
      />
    </OperationDialog>
  )
}
