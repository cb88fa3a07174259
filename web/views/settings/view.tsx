import { denialReason, isPermitted, standing } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { href, navigate } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Members } from './members.tsx'
import { Notifications } from './notifications.tsx'
import { People } from './people.tsx'
import { Tokens } from './tokens.tsx'
import './settings.css'

const ofPersons = [
  { name: 'members', title: 'Members', operation: 'member_list', Tab: Members },
  { name: 'tokens', title: 'Tokens', operation: 'token_list', Tab: Tokens },
  { name: 'people', title: 'People', operation: 'person_list', Tab: People },
] as const
const ofEveryone = [
  { name: 'notifications', title: 'Notifications', operation: 'notify_list', Tab: Notifications },
] as const

/** How one is told what waits; and where the server knows persons, who may do what. */
export function View({ params }: ViewProps) {
  const tabs = standing.value === null ? ofEveryone : [...ofPersons, ...ofEveryone]
  const go = (at: number) => () => navigate(href(`/settings/${tabs[at]?.name ?? ''}`))
  useCommands({ 'tab 1': go(0), 'tab 2': go(1), 'tab 3': go(2), 'tab 4': go(3) })
  const shown = tabs.find(({ name }) => name === params['tab']) ?? tabs[0]
  return (
    <div class="page-inner settings">
      <header class="page-head">
        <h1>{shown.title}</h1>
      </header>
      {tabs.length < 2 ? null : (
        <nav class="tabs" aria-label="Settings">
          {tabs.map(({ name, title }) => (
            <a
              key={name}
              href={href(`/settings/${name}`)}
              {...(name === shown.name && { 'aria-current': 'page' })}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      {isPermitted(shown.operation) ? (
        <shown.Tab />
      ) : (
        <EmptyState title={denialReason(shown.operation) ?? ''} />
      )}
      {standing.value === null ? (
        <EmptyState
          title="Single-user server: anyone signed in has full access. Members and tokens appear here once the server has a database for all its projects."
          command="WAYMARK_DATABASE=postgres://… waymark token create --admin"
        />
      ) : null}
    </div>
  )
}
