import { denialReason, isPermitted, isSingleUser } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { href, navigate } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Members } from './members.tsx'
import { Notifications } from './notifications.tsx'
import { People } from './people.tsx'
import { ProjectSettings } from './project.tsx'
import { Tokens } from './tokens.tsx'
import './settings.css'

const members = { name: 'members', title: 'Members', operation: 'member_list', Tab: Members } as const
const tokens = { name: 'tokens', title: 'Tokens', operation: 'token_list', Tab: Tokens } as const
const people = { name: 'people', title: 'People', operation: 'person_list', Tab: People } as const
const notifications = {
  name: 'notifications',
  title: 'Notifications',
  operation: 'notify_list',
  Tab: Notifications,
} as const

const project = {
  name: 'project',
  title: 'Project',
  operation: 'setting_list',
  Tab: ProjectSettings,
} as const

/** Notifications, tokens and sessions, and the settings of the project; on a team server also members and people. */
export function View({ params }: ViewProps) {
  const tabs = isSingleUser.value
    ? ([notifications, tokens, project] as const)
    : ([members, tokens, people, notifications, project] as const)
  const go = (at: number) => () => navigate(href(`/settings/${tabs[at]?.name ?? ''}`))
  useCommands({ 'tab 1': go(0), 'tab 2': go(1), 'tab 3': go(2), 'tab 4': go(3), 'tab 5': go(4) })
  const current = tabs.find(({ name }) => name === params['tab']) ?? tabs[0]
  return (
    <div class="page-inner settings">
      <header class="page-head">
        <h1>Settings</h1>
      </header>
      <nav class="tabs" aria-label="Settings">
        {tabs.map(({ name, title }) => (
          <a
            key={name}
            href={href(`/settings/${name}`)}
            {...(name === current.name && { 'aria-current': 'page' })}
          >
            {title}
          </a>
        ))}
      </nav>
      {isPermitted(current.operation) ? (
        <current.Tab />
      ) : (
        <EmptyState title={denialReason(current.operation) ?? ''} />
      )}
      {isSingleUser.value && current.name === 'notifications' ? (
        <EmptyState title="Single-user server: anyone signed in has full access. To add members, start a team server with a database of its own." />
      ) : null}
    </div>
  )
}
