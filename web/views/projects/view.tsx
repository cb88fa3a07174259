import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useCallback, useRef, useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { isSingleUser, ownPermissions, session } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { useRows } from '../../live/rows.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { FilterField, stepSelection, useFlash, WaitingRows } from '../../parts/list.tsx'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { Since } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { navigate, query, setQuery } from '../../router/location.ts'
import { OperationDialog, TextField } from '../settings/parts.tsx'
import { type ProjectActivity, useProjectsAtWork } from './project-work.ts'
import './projects.css'

/** The projects that the person may see: their inbox items and the agents at work. */
export function View() {
  const { projects, failure } = useProjectsAtWork()
  const [dialog, setAsked] = useState<ProjectDialog | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const isAdmin = ownPermissions.value?.admin === true && !isSingleUser.value
  const { rows, still } = useRows<ProjectActivity>(
    () => projects.value,
    ({ key }) => key,
  )
  const filtered = useComputed(() => {
    const words = (query.value.get('words') ?? '').toLowerCase().split(/\s+/)
    return rows.order.value.filter((key) => {
      const row = rows.row(key)?.value
      const agents = row?.work?.running.map(({ agent_name, person }) => `${agent_name} ${person}`).join(' ')
      return words.every((word) =>
        `${row?.name} ${key} ${row?.folder} ${agents}`.toLowerCase().includes(word),
      )
    })
  })
  const keys = filtered.value
  const selected = query.value.get('select')
  const step = stepSelection(keys, selected)
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(`/p/${encodeURIComponent(selected)}/`),
    close: () => setQuery({ select: null }),
  })
  if (projects.value === null) return <Pending failure={failure} title="Projects" />
  const waiting = projects.value.reduce((sum, { work }) => sum + (work?.waiting ?? 0), 0)
  return (
    <div class="page-inner projects" {...still}>
      <header class="page-head">
        <h1>Projects</h1>
        <span class="muted">
          {keys.length === projects.value.length ? '' : `${keys.length} of `}
          {formatCount(projects.value.length, 'project')}
          {waiting > 0 ? ` · ${formatCount(waiting, 'inbox item')}` : ''}
        </span>
        <FilterField />
        {isAdmin ? (
          <button type="button" class="button" onClick={() => setAsked({ is: 'add' })}>
            Add a project
          </button>
        ) : null}
      </header>
      <WaitingRows held={rows.held} release={() => rows.hold(false)} />
      {keys.length === 0 ? (
        <EmptyState title="No project matches the filter.">
          <button type="button" class="button" onClick={() => setQuery({ words: null })}>
            Clear the filter
          </button>
        </EmptyState>
      ) : (
        <VirtualList
          keys={keys}
          label="Projects"
          class="full-width"
          selected={selected}
          row={(key) => {
            const row = rows.row(key)
            return row ? (
              <Row
                key={key}
                row={row}
                isSelected={key === selected}
                rename={isAdmin ? () => setAsked({ is: 'rename', project: row.peek() }) : null}
              />
            ) : null
          }}
        />
      )}
      {projects.value.length === 1 ? (
        <EmptyState
          title={
            isSingleUser.value
              ? 'This server serves one project. To serve more, start it with their folders:'
              : 'More projects appear here when you become a member of them.'
          }
        >
          {isSingleUser.value ? (
            <TerminalCommand words="serve --project <folder> --project <folder>" />
          ) : null}
        </EmptyState>
      ) : null}
      {dialog === null ? null : <ProjectNameDialog dialog={dialog} close={close} />}
    </div>
  )
}

type ProjectDialog = { readonly is: 'add' } | { readonly is: 'rename'; readonly project: ProjectActivity }

/** Names a new project, or renames one. The name is part of its address. */
function ProjectNameDialog({
  dialog,
  close,
}: {
  readonly dialog: ProjectDialog
  readonly close: () => void
}) {
  const [name, setName] = useState(dialog.is === 'rename' ? dialog.project.key : '')
  const field = (
    <TextField
      label="Name"
      value={name}
      set={setName}
      required
      hint="Lower-case letters, digits and dashes. It is part of the address."
    />
  )
  if (dialog.is === 'add') {
    return (
      <OperationDialog
        title="Add a project"
        operation="project_add"
        input={() => ({ name: name.trim() })}
        verb="Add"
        close={close}
        onDone={({ name: made }) => location.assign(`/p/${made}/`)}
      >
        {field}
      </OperationDialog>
    )
  }
  const { key } = dialog.project
  return (
    <OperationDialog
      title={`Rename ${dialog.project.name}`}
      operation="project_rename"
      input={() => ({ project: key, name: name.trim() })}
      verb="Rename"
      close={close}
      // The addresses change, so the page loads again.
      onDone={({ name: now }) =>
        location.assign(`/p/${currentProject() === key ? now : currentProject()}/projects`)
      }
    >
      {field}
      <p>Connect the folders of this project again with the new name.</p>
    </OperationDialog>
  )
}

function currentProject(): string {
  const current = session.peek()
  return current === null || current === 'unknown person' ? '' : current.project
}

interface ProjectRowProps {
  readonly row: ReadonlySignal<ProjectActivity>
  readonly isSelected: boolean
  /** Null where it is not offered. */
  readonly rename: (() => void) | null
}

function Row({ row, isSelected, rename }: ProjectRowProps) {
  const { key, name, folder, work, failure } = row.value
  const element = useRef<HTMLLIElement>(null)
  useFlash(element, `${work?.waiting} ${work?.running_total} ${work?.missions_total}`)
  const current = session.value
  const isHere = current !== null && current !== 'unknown person' && current.project === key
  return (
    <li ref={element} id={key} class="project-row" {...(isSelected && { 'aria-current': 'true' })}>
      <a class="cut project-name" href={`/p/${encodeURIComponent(key)}/`}>
        {name}
        {isHere ? <span class="muted"> (this project)</span> : null}
      </a>
      <span class="muted mono cut wide project-folder">{folder}</span>
      {work === null ? (
        <span class="project-failure cut" title={failure ?? ''}>
          {failure}
        </span>
      ) : (
        <WorkOfProject work={work} />
      )}
      {rename === null ? null : (
        <button type="button" class="button" data-kind="plain" aria-label={`Rename ${name}`} onClick={rename}>
          Rename
        </button>
      )}
    </li>
  )
}

const most = 3

function WorkOfProject({ work }: { readonly work: NonNullable<ProjectActivity['work']> }) {
  const agents = [...new Set(work.running.map(({ agent_name }) => agent_name))]
  const silent = work.running.filter(({ stale }) => stale).length
  return (
    <>
      <span class="project-agents" title={agents.join(', ')}>
        {agents.slice(0, most).map((agent) => (
          <Agent key={agent} name={agent} />
        ))}
        {agents.length > most ? <span class="muted">{agents.length - most} more</span> : null}
        {silent > 0 ? <span class="muted">{silent} stale</span> : null}
      </span>
      <span class="muted project-missions">
        {work.missions_total === 0 ? '' : formatCount(work.missions_total, 'mission')}
      </span>
      <span class="project-waiting">
        {work.waiting === 0 || work.waiting_since === null ? (
          <span class="muted">nothing needs you</span>
        ) : (
          <>
            <b>{work.waiting === 1 ? '1 needs you' : `${work.waiting} need you`}</b>{' '}
            <span class="muted">
              <Since at={work.waiting_since} />
            </span>
          </>
        )}
      </span>
    </>
  )
}
