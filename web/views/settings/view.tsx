import { may, standing, whyNot } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { href, navigate } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Members } from './members.tsx'
import { People } from './people.tsx'
import { Tokens } from './tokens.tsx'
import './settings.css'

const tabs = [
  { name: 'members', title: 'Members', operation: 'member_list', Tab: Members },
  { name: 'tokens', title: 'Tokens', operation: 'token_list', Tab: Tokens },
  { name: 'people', title: 'People', operation: 'person_list', Tab: People },
] as const

/** Who may do what: the members of the project, the tokens, and the persons of the server. */
export function View({ params }: ViewProps) {
  const go = (at: number) => () => navigate(href(`/settings/${tabs[at]?.name ?? ''}`))
  useCommands({ 'tab 1': go(0), 'tab 2': go(1), 'tab 3': go(2) })
  const shown = tabs.find(({ name }) => name === params['tab']) ?? tabs[0]
  return (
    <div class="page-inner settings">
      <header class="page-head">
        <h1>{standing.value === null ? 'Settings' : shown.title}</h1>
      </header>
      {standing.value === null ? (
        <EmptyState
          title="This server knows no persons: whoever is logged in here may do everything. Members and tokens appear here once it has a database for all its projects."
          command="WAYMARK_DATABASE=postgres://… waymark token create --admin"
        />
      ) : (
        <>
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
          {may(shown.operation) ? <shown.Tab /> : <EmptyState title={whyNot(shown.operation) ?? ''} />}
        </>
      )}
    </div>
  )
}
