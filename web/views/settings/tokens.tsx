import { useCallback, useEffect, useState } from 'preact/hooks'
import { type Access, accesses, accessWords, lowerAccess } from '../../../src/people/domain/access.ts'
import type { InputOf, OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { CreatedToken, SignInSessionData, TokenData } from '../../api/entities.ts'
import { isPermitted, isSingleUser, ownPermissions, projectName, readSession } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { durationText } from '../../parts/duration.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { shortId } from '../../parts/text.tsx'
import { now, Since } from '../../parts/time.tsx'
import { query, setQuery } from '../../router/location.ts'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, NewSecret, OperationDialog, TextField, Verb } from './parts.tsx'

type TokenDialog = { readonly is: 'create' } | { readonly is: 'revoke'; readonly token: TokenData }

type TokenKindInput = NonNullable<InputOf<'token_create'>['kind']>

const aMinute = 60_000

/** The tokens, and the browsers that are signed in. */
export function Tokens() {
  const seesOthers =
    !isSingleUser.value && (ownPermissions.value?.admin === true || isPermitted('member_set'))
  const all = seesOthers && query.value.get('of') === 'all'
  const revoked = query.value.has('revoked')
  const tokens = useQuery(
    'token_list',
    { ...(all && { all }), ...(revoked && { revoked }) },
    // The use of a token is no log entry.
    { every: aMinute },
  )
  const [dialog, setDialog] = useState<TokenDialog | null>(null)
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const close = useCallback(() => setDialog(null), [])
  const answer = tokens.answer.value
  return (
    <>
      {created === null ? null : (
        <NewSecret
          title={created.name}
          kind={created.kind}
          what="token"
          secret={created.secret}
          onDone={() => setCreated(null)}
        >
          Store it where only its user can read it.
        </NewSecret>
      )}
      <div class="settings-bar">
        <Verb operation="token_create" kind="primary" run={() => setDialog({ is: 'create' })}>
          Create a token
        </Verb>
        {seesOthers ? (
          <label class="settings-check">
            <input
              type="checkbox"
              checked={all}
              onChange={({ currentTarget }) => setQuery({ of: currentTarget.checked ? 'all' : null })}
            />
            Tokens of others
          </label>
        ) : null}
        <label class="settings-check">
          <input
            type="checkbox"
            checked={revoked}
            onChange={({ currentTarget }) => setQuery({ revoked: currentTarget.checked ? 'yes' : null })}
          />
          Revoked tokens
        </label>
      </div>
      {answer === null ? (
        <Pending failure={tokens.failure} />
      ) : answer.tokens.length === 0 ? (
        <EmptyState title="Tokens appear here. With a token an agent, a machine or a script can call this server." />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Tokens">
          {answer.tokens.map((token) => (
            <Row key={token.id} token={token} revoke={() => setDialog({ is: 'revoke', token })} />
          ))}
        </ul>
      )}
      <Sessions />
      {dialog?.is === 'create' ? (
        <CreateToken
          close={close}
          onDone={(token) => {
            setCreated(token)
            tokens.refresh()
          }}
        />
      ) : null}
      {dialog?.is === 'revoke' ? (
        <RevokeToken token={dialog.token} close={close} onDone={() => tokens.refresh()} />
      ) : null}
    </>
  )
}

function RevokeToken(props: {
  readonly token: TokenData
  readonly close: () => void
  readonly onDone: () => void
}) {
  const { token, close, onDone } = props
  const [also, setAlso] = useState<OutputOf<'token_revoke'>['also']>([])
  useEffect(() => {
    // The dialog opens without the list if it cannot be read; revoking then says why.
    call('token_revoke', { token: token.id, dry_run: true }).then(
      (answer) => setAlso(answer.also),
      () => undefined,
    )
  }, [token.id])
  return (
    <OperationDialog
      title={`Revoke ${token.name}?`}
      operation="token_revoke"
      input={() => ({ token: token.id })}
      verb="Revoke"
      isDangerous
      close={close}
      onDone={({ name }) => {
        showToast({ kind: 'done', text: `Token ${name} revoked.` })
        onDone()
      }}
    >
      <p>
        Calls with this token are refused within five seconds. Browsers that signed in with it are signed out.
      </p>
      {also.length === 0 ? null : (
        <p>
          These were made with it, and are revoked too:{' '}
          <b>{also.map(({ name, person }) => `${name} (${person})`).join(', ')}</b>.
        </p>
      )}
    </OperationDialog>
  )
}

const kindWords = {
  agent: 'an agent: works for its person, cannot approve',
  person: 'a person: has the access of the person',
  runner: 'a runner that reports results, such as CI',
  invitation: 'an invitation: can only be exchanged for the first token of its person',
} as const satisfies Record<TokenData['kind'], string>

function Row({ token, revoke }: { readonly token: TokenData; readonly revoke: () => void }) {
  const { id, name, kind, person, project_id, role, access, state, last_used_at, revoked_at, revoked_by } =
    token
  return (
    <li class="settings-row" data-state={state}>
      <span class="wide settings-who">
        <b class="cut">{name}</b>
        <span class="tag" title={kindWords[kind]}>
          {kind}
        </span>
        {role === null ? null : <span class="muted cut">as {role}</span>}
        {access === null ? null : (
          <span class="tag" title={`Limited to: ${accessWords[access]}`}>
            at most {access}
          </span>
        )}
        <span class="id">{shortId(id)}</span>
      </span>
      <span class="settings-person">
        <Agent name={person.name} />
      </span>
      <span class="muted settings-project">{project_id === null ? 'all projects' : 'one project'}</span>
      <span class="muted settings-time">
        {last_used_at === null ? (
          'never used'
        ) : (
          <>
            used <Since at={last_used_at} /> ago
          </>
        )}
      </span>
      <span class="muted settings-time">
        {revoked_at === null ? (
          <Expiry token={token} />
        ) : (
          <>
            revoked <Since at={revoked_at} /> ago{revoked_by === null ? '' : ` by ${revoked_by}`}
          </>
        )}
      </span>
      {state === 'revoked' ? (
        <span class="settings-verb" />
      ) : (
        <Verb operation="token_revoke" kind="plain" label={`Revoke ${name}`} run={revoke}>
          Revoke
        </Verb>
      )}
    </li>
  )
}

const dayMs = 24 * 60 * 60_000
const soon = 7 * dayMs
const monthMs = 31 * dayMs

function Expiry({ token: { state, expires_at } }: { readonly token: TokenData }) {
  const left = Date.parse(expires_at) - now.value
  if (state === 'disabled') return <span>person disabled</span>
  if (left <= 0) {
    return (
      <b class="settings-late">
        expired <Since at={expires_at} /> ago
      </b>
    )
  }
  const text = left < monthMs ? `expires in ${durationText(left)}` : `expires ${expires_at.slice(0, 10)}`
  return <span {...(left < soon && { class: 'settings-late' })}>{text}</span>
}

const dayChoices = [7, 30, 90, 180, 365].map((days): [string, string] => [String(days), `${days} days`])

interface CreateTokenProps {
  readonly close: () => void
  readonly onDone: (token: CreatedToken) => void
}

function CreateToken({ close, onDone }: CreateTokenProps) {
  const own = ownPermissions.value
  const [name, setName] = useState('')
  const [kind, setKind] = useState<TokenKindInput>('agent')
  const [person, setPerson] = useState(own?.person.id ?? '')
  const [role, setRole] = useState('')
  const [most, setMost] = useState<Access | ''>('')
  const [days, setDays] = useState('90')
  const [reach, setReach] = useState<'this' | 'all'>('this')
  const limits = limitsOf(kind, own?.max_access ?? null)
  const input = (): InputOf<'token_create'> => ({
    name,
    kind,
    days: Number(days),
    all_projects: reach === 'all',
    ...(limits.some(([limit]) => limit === most) && most !== '' && { access: most }),
    ...(role.trim() !== '' && { role: role.trim() }),
    ...(person !== own?.person.id && { person }),
  })
  return (
    <OperationDialog
      title="Create a token"
      operation="token_create"
      input={input}
      verb="Create the token"
      close={close}
      onDone={onDone}
    >
      <TextField label="Name" value={name} set={setName} required hint="The name of the agent in Waymark." />
      <ChoiceField
        label="For"
        value={kind}
        set={setKind}
        options={[
          ['agent', kindWords.agent],
          ['person', kindWords.person],
          ['runner', kindWords.runner],
        ]}
      />
      {own?.admin && !isSingleUser.value ? <TokenOwner person={person} set={setPerson} /> : null}
      <ChoiceField
        label="Projects"
        value={reach}
        set={setReach}
        options={[
          ['this', `Only ${projectName()}`],
          ['all', 'All projects of the person'],
        ]}
      />
      <ChoiceField label="Access limit" value={most} set={setMost} options={limits} />
      <ChoiceField label="Expires after" value={days} set={setDays} options={dayChoices} />
      <TextField
        label="Gate role"
        value={role}
        set={setRole}
        hint="The role for events of a run. Optional."
      />
    </OperationDialog>
  )
}

/** The limits for a token: below the access of its kind, and of the token of the person. */
function limitsOf(kind: TokenKindInput, own: Access | null): readonly (readonly [Access | '', string])[] {
  const highest = kind === 'person' ? (own ?? 'owner') : 'contributor'
  const person = own === null ? 'The access of its person' : `The access of your own token: ${own}`
  return [
    ['', kind === 'person' ? person : 'No limit beyond its kind'],
    ...accesses
      .filter((access) => lowerAccess(access, own === null ? highest : lowerAccess(highest, own)) === access)
      .map((access) => [access, `${access}: ${accessWords[access]}`] as const),
  ]
}

/** The person of the token. An admin creates tokens for others too. */
function TokenOwner({ person, set }: { readonly person: string; readonly set: (person: string) => void }) {
  const people = useQuery('person_list', {})
  const enabled = (people.answer.value?.people ?? []).filter(({ state }) => state !== 'disabled')
  if (enabled.length < 2) return null
  const options = enabled.map(({ id, name }): [string, string] => [id, name])
  return <ChoiceField label="Person" value={person} options={options} set={set} />
}

/** The browsers that are signed in as this person. */
function Sessions() {
  const sessions = useQuery('session_list', {})
  const answer = sessions.answer.value
  if (answer === null || answer.sessions.length === 0) return null
  const end = async ({ id, own }: SignInSessionData) => {
    try {
      await call('session_end', { id })
      if (own) await readSession()
      sessions.refresh()
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
    }
  }
  return (
    <section class="settings-sessions">
      <h2>Signed in</h2>
      <ul class="rows full-width settings-rows" aria-label="Sessions">
        {answer.sessions.map((signedIn) => (
          <li key={signedIn.id} class="settings-row">
            <span class="wide settings-who">
              <span>{signedIn.own ? 'This browser' : 'Another browser'}</span>
              <span class="muted">{signedIn.token_id === null ? 'with single sign-on' : 'with a token'}</span>
            </span>
            <span class="muted settings-time">
              for <Since at={signedIn.started_at} />
            </span>
            <span class="muted settings-time">
              ends in {durationText(Date.parse(signedIn.expires_at) - now.value)}
            </span>
            <button type="button" class="button" data-kind="plain" onClick={() => void end(signedIn)}>
              Sign out
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
