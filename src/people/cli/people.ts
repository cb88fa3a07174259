import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { quoteShellWord, shellCommand } from '../../kernel/shell-word.ts'
import { formatCount, joinNames } from '../../kernel/text.ts'
import { pairs } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import { clockTime, formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'

export const whoami: AnswerView<'whoami'> = (answer, page) => {
  const access = answer.restricted ? (answer.access ?? 'none in this project') : 'full'
  const limit = answer.max_access === null ? '' : `, limited to ${answer.max_access} by the token`
  return pairs(
    [
      ['name', answer.name],
      ['kind', answer.kind],
      ['person', answer.person?.name ?? ''],
      ['access', `${access}${limit}${answer.admin ? ', admin of the server' : ''}`],
      ['role', answer.role ?? ''],
      ['roles', answer.roles.join(', ')],
      ['token', answer.token_id ?? ''],
      ['expires', answer.expires_at === null ? '' : dateOf(answer.expires_at)],
      ['note', answer.note ?? ''],
    ],
    page,
  )
}

export const people: AnswerView<'person_list'> = ({ people: listed }, page) => {
  if (listed.length === 0) return 'There are no people yet. Add one: waymark person add "<name>"'
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'e-mail', shrinks: true },
    { title: 'state' },
    { title: 'id' },
  ]
  const rows = listed.map(({ name, email, state, admin, id }) => [
    name,
    email ?? '',
    admin ? `${state}, admin` : state,
    page.ink('dim', id),
  ])
  return table(columns, rows, page)
}

export function person(
  { name, state, admin, id }: OutputOf<'person_add' | 'person_disable' | 'person_enable' | 'person_admin'>,
  { ink }: RenderContext,
): string {
  return `${ink('bold', name)} ${ink('dim', id)} is ${admin ? `${state}, and an admin of the server` : state}.`
}

export const members: AnswerView<'member_list'> = ({ members: listed }, page) => {
  if (listed.length === 0)
    return 'The project has no members yet. Add one: waymark member add "<name>" --access <access>'
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'e-mail', shrinks: true },
    { title: 'access' },
    { title: 'roles', shrinks: true },
    { title: 'state' },
  ]
  const rows = listed.map((member) => [
    member.person.name,
    member.email ?? '',
    member.admin ? `${member.access}, admin` : member.access,
    member.roles.join(', '),
    member.state,
  ])
  return table(columns, rows, page)
}

export function member(
  { person: { name }, access, roles, state, admin }: OutputOf<'member_add' | 'member_invite' | 'member_set'>,
  { ink }: RenderContext,
): string {
  const also = roles.length === 0 ? '' : `, roles ${roles.join(', ')}`
  const origin = admin ? ' as an admin of the server' : ''
  return `${ink('bold', name)} has ${access} access${origin}${also}${state === 'active' ? '' : ` (${state})`}.`
}

export const memberInvited: AnswerView<'member_invite'> = (answer, page) => {
  const { person, email, state } = answer
  if (state !== 'invited') return member(answer, page)
  return [
    member(answer, page),
    `Nothing was sent. With single sign-on they sign in at ${page.address ?? 'the address of the server'}.`,
    `Without it, create an invitation to send: ${shellCommand`waymark invitation create ${email ?? person.id}`}${projectFlag(page)}`,
  ].join('\n')
}

export const memberChanged: AnswerView<'member_set'> = (answer, page) => {
  const { person, limited_tokens: tokens } = answer
  const limits = tokens.map(({ id, name, access }) => `"${name}" ${page.ink('dim', id)} permits ${access}`)
  return [
    member(answer, page),
    ...(limits.length === 0
      ? []
      : [
          `Their tokens permit less: ${joinNames(limits)}.`,
          `An admin of the server can create another: waymark token create --kind person --person ${person.id}${projectFlag(page)}`,
        ]),
  ].join('\n')
}

/** A command that a person copies is for the project of this call. */
function projectFlag({ project }: RenderContext): string {
  return project === undefined ? '' : ` --project ${quoteShellWord(project)}`
}

export const memberRemoved: AnswerView<'member_remove'> = ({ removed }, { ink }) =>
  `${ink('green', 'Removed')} ${removed} from the project.`

export const invited: AnswerView<'invitation_create'> = (answer, { ink, address }) => {
  const { person, access, project, invitation } = answer
  const url = address ?? `<address of the server>/p/${project}`
  return [
    `${ink('green', 'Created')} an invitation for ${person.name}, with ${access} access. It is shown only now. Send this:`,
    '',
    `You are invited to ${project} in Waymark. In your clone of it, run this and enter the invitation as the token:`,
    `  waymark connect ${url}`,
    `Or sign in with it at ${url}. It works once, until ${clockTime(answer.expires_at)}:`,
    `  ${invitation}`,
  ].join('\n')
}

export const tokens: AnswerView<'token_list'> = ({ tokens: listed }, page) => {
  if (listed.length === 0) return 'There are no tokens yet. Create one: waymark token create "<name>"'
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'person' },
    { title: 'kind' },
    { title: 'state' },
    { title: 'last used' },
    { title: 'expires' },
    { title: 'id' },
  ]
  const rows = listed.map((token) => [
    token.name,
    token.person.name,
    token.kind,
    token.state,
    token.last_used_at === null ? 'never' : formatAge(token.last_used_at, page.now),
    dateOf(token.expires_at),
    page.ink('dim', token.id),
  ])
  return table(columns, rows, page)
}

export const tokenCreated: AnswerView<'token_create'> = (token, { ink }) =>
  [
    `${ink('green', 'Created')} the ${token.kind} token ${ink('bold', `"${token.name}"`)} ${ink('dim', token.id)} of ${token.person.name}, valid until ${dateOf(token.expires_at)}.`,
    'Copy it now. It is not shown again:',
    token.secret,
  ].join('\n')

export const tokenRevoked: AnswerView<'token_revoke'> = ({ name, id, also, dry_run: isDry }, { ink }) =>
  [
    `${isDry ? 'Would revoke' : ink('green', 'Revoked')} the token ${ink('bold', `"${name}"`)} ${ink('dim', id)}.`,
    ...(also.length === 0
      ? []
      : [`Those made with it too: ${also.map((one) => `${one.name} (${one.person})`).join(', ')}.`]),
  ].join('\n')

export const signInSessions: AnswerView<'session_list'> = ({ sessions: listed }, page) => {
  if (listed.length === 0) return 'Nobody is signed in. Open the dashboard: waymark open'
  const columns = [{ title: 'person' }, { title: 'began' }, { title: 'expires' }, { title: 'id' }]
  const rows = listed.map(({ person: { name }, own, started_at, expires_at, id }) => [
    own ? `${name} (this one)` : name,
    formatAge(started_at, page.now),
    dateOf(expires_at),
    page.ink('dim', id),
  ])
  return table(columns, rows, page)
}

export const sessionsEnded: AnswerView<'session_end'> = ({ ended }, { ink }) =>
  ended === 0 ? 'No session was open.' : `${ink('green', 'Ended')} ${formatCount(ended, 'session')}.`

function dateOf(time: string): string {
  return clockTime(time).slice(0, 10)
}
