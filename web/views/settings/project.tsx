import { useQuery } from '../../live/query.ts'
import { Pending } from '../../parts/empty-state.tsx'
import { TerminalCommand } from '../../parts/terminal-command.tsx'

/** The settings of the project: a person changes them in a terminal. */
export function ProjectSettings() {
  const listed = useQuery('setting_list', {})
  const answer = listed.answer.value
  if (answer === null) return <Pending failure={listed.failure} />
  return (
    <>
      <div class="settings-bar">
        <span>Change a setting in a terminal:</span>
        <TerminalCommand words="setting set <setting> <value>" />
      </div>
      <ul class="rows full-width settings-rows" aria-label="Settings of the project">
        {answer.settings.map(({ name, value, values, meaning }) => (
          <li key={name} class="settings-row project-setting">
            <span>
              <b>{name}</b> <code>{value}</code>
            </span>
            <span class="muted">
              {meaning}{' '}
              {values.every((one) => meaning.includes(`"${one}"`)) ? '' : `Values: ${values.join(', ')}.`}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
