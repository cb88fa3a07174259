import { isSingleUser, logOut, ownPermissions } from '../api/session.ts'
import { Agent } from '../parts/agent.tsx'
import { href } from '../router/location.ts'
import { Menu } from './menu.tsx'

/** The person, their access, and sign-out. */
export function Account() {
  const permissions = ownPermissions.value
  if (permissions === null) return null
  const { person, access, admin, roles } = permissions
  return (
    <Menu
      class="switcher account"
      toRight
      button={
        <>
          <Agent name={person.name} />
          <span class="muted account-access">{access ?? (admin ? 'admin' : 'no access')}</span>
        </>
      }
    >
      {(close) => (
        <>
          <p class="menu-head">
            <b>{person.name}</b>
            <span class="muted">
              {access === null ? 'Not a member of this project' : `${access} access`}
              {admin ? ' · admin of the server' : ''}
            </span>
            {roles.length > 0 ? <span class="muted">Gate roles: {roles.join(', ')}</span> : null}
          </p>
          <a href={href('/settings')} onClick={close}>
            {isSingleUser.value ? 'Settings and tokens' : 'Members and tokens'}
          </a>
          <a href={href('/agents')} onClick={close}>
            Agents and machines
          </a>
          <a href={href('/projects')} onClick={close}>
            Projects
          </a>
          <button type="button" onClick={() => void logOut()}>
            Sign out
          </button>
        </>
      )}
    </Menu>
  )
}
