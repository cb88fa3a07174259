import { useCallback, useState } from 'preact/hooks'
import { type Access, accesses, accessWords, lowerAccess } from '../../../src/people/domain/access.ts'
import type { InputOf } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type { CreatedToken, SignInSessionData, TokenData } from '../../api/entities.ts'
import { isPermitted, isSingleUser, ownPermissions, projectName, readSession } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { durationText } from '../../parts/duration.ts'
import { EmptyState, FailureMessage } from '../../parts/empty-state.tsx'
import { shortId } from '../../parts/text.tsx'
import { now, Since } from '../../parts/time.tsx'
import { query, setQuery } from '../../router/location.ts'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, Field, MadeSecret, OperationDialog, Verb } from './parts.tsx'

type TokenDialog = { readonly is: 'create' } | { readonly is: 'revoke'; readonly token: TokenData }

type TokenKindInput = NonNullable<InputOf<'token_create'>['kind']>

const aMinute = 60_000

/** The tokens that let somebody in, and the browsers that are signed in. */
export function Tokens() {
  const seesOthers =
    !isSingleUser.value && (ownPermissions.value?.admin === true || isPermitted('member_set'))
  const all = seesOthers && query.value.get('of') === 'all'
  const revoked = query.value.has('revoked')
  const tokens = useQuery(
    'token_list',
    { ...(all && { all }), ...(revoked && { revoked }) },
    // That one was used is no log entry.
    { every: aMinute },
  )
  const [asked, setAsked] = useState<TokenDialog | null>(null)
  const [made, setMade] = useState<CreatedToken | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const answer = tokens.answer.value
  return (
    <>
      {made === null ? null : (
        <MadeSecret
          title={made.name}
          kind={made.kind}
          what="token"
          secret={made.secret}
          done={() => setMade(null)}
        >
          Keep it where only its user can read it.
        </MadeSecret>
      )}
      <div class="settings-bar">
        <Verb operation="token_create" kind="primary" run={() => setAsked({ is: 'create' })}>
          Make a token
        </Verb>
        {seesOthers ? (
          <label class="settings-check">
            <input
              type="checkbox"
              checked={all}
              onChange={({ currentTarget }) => setQuery({ of: currentTarget.checked ? 'all' : null })}
            />
            Those of others
          </label>
        ) : null}
        <label class="settings-check">
          <input
            type="checkbox"
            checked={revoked}
            onChange={({ currentTarget }) => setQuery({ revoked: currentTarget.checked ? 'yes' : null })}
          />
          Revoked ones
        </label>
      </div>
      {answer === null ? (
        <FailureMessage failure={tokens.failure} />
      ) : answer.tokens.length === 0 ? (
        <EmptyState
          title="Tokens appear here: they let an agent, a machine or a command line of yours in."
          command="waymark token create ci --kind agent"
        />
      ) : (
        <ul class="rows full-width settings-rows" aria-label="Tokens">
          {answer.tokens.map((token) => (
            <Row key={token.id} token={token} revoke={() => setAsked({ is: 'revoke', token })} />
          ))}
        </ul>
      )}
      <Sessions />
      {asked?.is === 'create' ? (
        <CreateToken
          close={close}
          done={(token) => {
            setMade(token)
            tokens.refresh()
          }}
        />
      ) : null}
      {asked?.is === 'revoke' ? (
        <OperationDialog
          title={`Revoke ${asked.token.name}?`}
          operation="token_revoke"
          input={() => ({ token: asked.token.id })}
          verb="Revoke"
          isDangerous
          close={close}
          done={({ name }) => {
            showToast({ kind: 'said', text: `The token ${name} lets nobody in any more.` })
            tokens.refresh()
          }}
        >
          <p>
            Whoever uses it is refused within five seconds, on every server, and browsers that signed in with
            it are signed out.
          </p>
        </OperationDialog>
      ) : null}
    </>
  )
}

const kindWords = {
  agent: 'an agent: works for its person, and decides nothing',
  person: 'a person: may do what the person may',
  runner: 'a machine that hands in results, such as CI',
  invitation: 'an invitation: lets nobody in, and becomes the first token of its person',
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
          <span class="tag" title={`Lets no more than this: ${accessWords[access]}`}>
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

const soon = 7 * 24 * 60 * 60_000

function Expiry({ token: { state, expires_at } }: { readonly token: TokenData }) {
  const left = Date.parse(expires_at) - now.value
  if (state === 'disabled') return <span>its person is disabled</span>
  if (left <= 0) {
    return (
      <b class="settings-late">
        expired <Since at={expires_at} /> ago
      </b>
    )
  }
  const text = `expires in ${durationText(left)}`
  return <span {...(left < soon && { class: 'settings-late' })}>{text}</span>
}

const dayChoices = [7, 30, 90, 180, 365].map((days): [string, string] => [String(days), `${days} days`])

interface CreateTokenProps {
  readonly close: () => void
  readonly done: (token: CreatedToken) => void
}

function CreateToken({ close, done }: CreateTokenProps) {
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
      title="Make a token"
      operation="token_create"
      input={input}
      verb="Make the token"
      close={close}
      done={done}
    >
      <Field
        label="Name"
        value={name}
        set={setName}
        required
        hint="An agent is called by it in the record."
      />
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
        label="Where"
        value={reach}
        set={setReach}
        options={[
          ['this', `${projectName()} alone`],
          ['all', 'Every project of the person'],
        ]}
      />
      <ChoiceField label="At most" value={most} set={setMost} options={limits} />
      <ChoiceField label="For how long" value={days} set={setDays} options={dayChoices} />
      <Field label="Gate role" value={role} set={setRole} hint="That it acts in. May be left empty." />
    </OperationDialog>
  )
}

/** What a token may be limited to: less than its kind may anyhow, and no more than that by which one signed in. */
function limitsOf(kind: TokenKindInput, own: Access | null): readonly (readonly [Access | '', string])[] {
  const highest = kind === 'person' ? (own ?? 'owner') : 'contributor'
  const person =
    own === null ? 'All that its person may' : `What the token that you signed in with lets: ${own}`
  return [
    ['', kind === 'person' ? person : 'All that its kind may'],
    ...accesses
      .filter((access) => lowerAccess(access, own === null ? highest : lowerAccess(highest, own)) === access)
      .map((access) => [access, `${access}: ${accessWords[access]}`] as const),
  ]
}

/** Whose token it is: an admin makes them for others, too. */
function TokenOwner({ person, set }: { readonly person: string; readonly set: (person: string) => void }) {
  const persons = useQuery('person_list', {})
  const known = (persons.answer.value?.people ?? []).filter(({ state }) => state !== 'disabled')
  if (known.length < 2) return null
  const options = known.map(({ id, name }): [string, string] => [id, name])
  return <ChoiceField label="Whose" value={person} options={options} set={set} />
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
              <span class="muted">{signedIn.token_id === null ? 'single sign-on' : 'by a token'}</span>
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
