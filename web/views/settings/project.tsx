import { useCallback, useState } from 'preact/hooks'
import type { InputOf, OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { isSingleUser } from '../../api/session.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { Since } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ChoiceField, OperationDialog, TextField, Verb } from './parts.tsx'

type Setting = OutputOf<'setting_list'>['settings'][number]
type ListedCommand = InputOf<'command_revoke'> & {
  readonly run: string
  readonly folder: string
  readonly author: string
  readonly created_at: string
  readonly state: 'allowed' | 'changed' | 'elsewhere' | 'refused'
  readonly why?: string
}

/** The settings of the project, and the commands that people allowed or refused. */
export function ProjectSettings() {
  return (
    <>
      <SettingRows />
      <h2>Commands</h2>
      {isSingleUser.value ? null : (
        <p class="muted">
          On this server’s machine, and those that people answered at this server. On another machine:{' '}
          <code>waymark command list</code>
        </p>
      )}
      <CommandRows />
    </>
  )
}

function SettingRows() {
  const listed = useQuery('setting_list', {})
  const [changing, setChanging] = useState<Setting | null>(null)
  const close = useCallback(() => setChanging(null), [])
  const answer = listed.answer.value
  if (answer === null) return <Pending failure={listed.failure} />
  return (
    <>
      <ul class="rows full-width settings-rows" aria-label="Settings of the project">
        {answer.settings.map((setting) => {
          const { name, value, meaning } = setting
          return (
            <li key={name} class="settings-row project-setting">
              <span>
                <b>{name}</b> <code>{value}</code>
                <span class="muted">{meaning}</span>
              </span>
              <Verb
                operation="setting_set"
                kind="plain"
                label={`Change ${name}`}
                run={() => setChanging(setting)}
              >
                Change
              </Verb>
            </li>
          )
        })}
      </ul>
      {changing === null ? null : <ChangeDialog setting={changing} close={close} onDone={listed.refresh} />}
    </>
  )
}

/** As much as the server takes. */
const maxValue = 10_000

function ChangeDialog(props: {
  readonly setting: Setting
  readonly close: () => void
  readonly onDone: () => void
}) {
  const { setting, close, onDone } = props
  const { name, values, others, meaning } = setting
  const [value, setValue] = useState(setting.value)
  return (
    <OperationDialog
      title={`Change ${name}`}
      operation="setting_set"
      input={() => ({ name, value: value.trim() })}
      verb="Save"
      close={close}
      onDone={(saved) => {
        showToast({ kind: 'done', text: `${name} is ${saved.value} now.` })
        onDone()
      }}
    >
      <p class="muted">{meaning}</p>
      {others === null ? (
        <ChoiceField
          label="Value"
          value={value}
          set={setValue}
          options={values.map((one) => [one, one] as const)}
        />
      ) : (
        <TextField
          label="Value"
          value={value}
          set={setValue}
          required
          most={maxValue}
          hint={`${values.join(', ')}, or ${others}.`}
        />
      )}
    </OperationDialog>
  )
}

function CommandRows() {
  const listed = useQuery('command_list', { limit: 200 })
  const [revoking, setRevoking] = useState<ListedCommand | null>(null)
  const close = useCallback(() => setRevoking(null), [])
  const answer = listed.answer.value
  if (answer === null) return <Pending failure={listed.failure} />
  const commands: readonly ListedCommand[] = [
    ...answer.commands.map((one) => ({ ...one, state: one.as_approved ? 'allowed' : 'changed' }) as const),
    ...answer.approved_elsewhere.map((one) => ({ ...one, state: 'elsewhere' }) as const),
    ...answer.refused.map((one) => ({ ...one, state: 'refused', why: one.reason }) as const),
  ]
  if (commands.length === 0)
    return (
      <EmptyState title="No commands yet. The first task or gate that needs one asks in the inbox whether it may run." />
    )
  return (
    <>
      <ul class="rows full-width settings-rows" aria-label="Commands">
        {commands.map((command) => (
          <li key={`${command.hash} ${command.folder}`} class="settings-row project-setting">
            <span>
              <code>{command.run}</code> <span class="tag">{stateWords[command.state]}</span>
              <span class="muted">
                {command.author}, <Since at={command.created_at} /> ago, in {command.folder}
                {command.why === undefined ? '' : `: ${command.why}`}
              </span>
            </span>
            <Verb
              operation="command_revoke"
              kind="plain"
              label={`Revoke ${command.run}`}
              run={() => setRevoking(command)}
            >
              Revoke
            </Verb>
          </li>
        ))}
      </ul>
      {revoking === null ? null : (
        <OperationDialog
          title={`Revoke ${revoking.state === 'refused' ? 'the refusal of ' : ''}${revoking.run}?`}
          operation="command_revoke"
          input={() => ({ hash: revoking.hash })}
          verb="Revoke"
          isDangerous
          close={close}
          onDone={() => {
            showToast({ kind: 'done', text: `${revoking.run} revoked.` })
            listed.refresh()
          }}
        >
          <p>
            {revoking.state === 'refused'
              ? 'It can be allowed again when a task or gate asks for it.'
              : 'It no longer runs until a person allows it again, and its results stop counting.'}
          </p>
        </OperationDialog>
      )}
    </>
  )
}

const stateWords = {
  allowed: 'allowed',
  changed: 'changed since it was allowed',
  elsewhere: 'allowed where it was approved, and on machines that trust this server',
  refused: 'refused',
} as const satisfies Record<ListedCommand['state'], string>
