import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useCallback, useRef, useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { isSingleUser, ownPermissions, session } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { useRows } from '../../live/rows.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, FailureMessage } from '../../parts/empty-state.tsx'
import { FilterField, stepSelection, useFlash, WaitingRows } from '../../parts/list.tsx'
import { Since } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { navigate, query, setQuery } from '../../router/location.ts'
import { Field, OperationDialog } from '../settings/parts.tsx'
import { type ProjectActivity, useProjectsAtWork } from './project-work.ts'
import './projects.css'

/** Every project of the server that one may see: what waits for people in it, and who works there. */
export function View() {
  const { projects, failure } = useProjectsAtWork()
  const [asked, setAsked] = useState<ProjectDialog | null>(null)
  const close = useCallback(() => setAsked(null), [])
  const isAdmin = ownPermissions.value?.admin === true && !isSingleUser.value
  const { rows, still } = useRows<ProjectActivity>(
    () => projects.value,
    ({ key }) => key,
  )
  const shown = useComputed(() => {
    const words = (query.value.get('words') ?? '').toLowerCase().split(/\s+/)
    return rows.order.value.filter((key) => {
      const row = rows.row(key)?.value
      const agents = row?.work?.running.map(({ agent_name, person }) => `${agent_name} ${person}`).join(' ')
      return words.every((word) =>
        `${row?.name} ${key} ${row?.folder} ${agents}`.toLowerCase().includes(word),
      )
    })
  })
  const keys = shown.value
  const selected = query.value.get('select')
  const step = stepSelection(keys, selected)
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(`/p/${encodeURIComponent(selected)}/`),
    close: () => setQuery({ select: null }),
  })
  if (projects.value === null) return <FailureMessage failure={failure} />
  const waiting = projects.value.reduce((sum, { work }) => sum + (work?.waiting ?? 0), 0)
  return (
    <div class="page-inner projects" {...still}>
      <header class="page-head">
        <h1>Projects</h1>
        <span class="muted">
          {keys.length === projects.value.length ? '' : `${keys.length} of `}
          {formatCount(projects.value.length, 'project')}
          {waiting > 0 ? ` · ${waiting} waiting for people` : ''}
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
        <EmptyState title="No project that you may see is called so." />
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
              ? 'This server serves one project. Others appear here when it is started for them.'
              : 'Others appear here once you are a member of them.'
          }
          {...(isSingleUser.value && {
            command: 'waymark serve --project ../shop --project ../diffkit',
          })}
        />
      ) : null}
      {asked === null ? null : <ProjectNameDialog asked={asked} close={close} />}
    </div>
  )
}

type ProjectDialog = { readonly is: 'add' } | { readonly is: 'rename'; readonly project: ProjectActivity }

/** A name for a new project, or another one for a project; it is in its addresses from then on. */
function ProjectNameDialog({ asked, close }: { readonly asked: ProjectDialog; readonly close: () => void }) {
  const [name, setName] = useState(asked.is === 'rename' ? asked.project.key : '')
  const field = (
    <Field
      label="Name"
      value={name}
      set={setName}
      required
      hint="As it stands in addresses: lower case letters, digits and dashes"
    />
  )
  if (asked.is === 'add') {
    return (
      <OperationDialog
        title="Add a project"
        operation="project_add"
        input={() => ({ name: name.trim() })}
        verb="Add"
        close={close}
        done={({ name: made }) => location.assign(`/p/${made}/`)}
      >
        {field}
      </OperationDialog>
    )
  }
  const { key } = asked.project
  return (
    <OperationDialog
      title={`Rename ${asked.project.name}`}
      operation="project_rename"
      input={() => ({ project: key, name: name.trim() })}
      verb="Rename"
      close={close}
      // Its addresses are others now: the page is read anew.
      done={({ name: now }) =>
        location.assign(`/p/${currentProject() === key ? now : currentProject()}/projects`)
      }
    >
      {field}
      <p>A folder that was connected by the old name is connected again.</p>
    </OperationDialog>
  )
}

function currentProject(): string {
  const known = session.peek()
  return known === null || known === 'unknown person' ? '' : known.project
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
  const known = session.value
  const isHere = known !== null && known !== 'unknown person' && known.project === key
  return (
    <li ref={element} id={key} class="project-row" {...(isSelected && { 'aria-current': 'true' })}>
      <a class="cut project-name" href={`/p/${encodeURIComponent(key)}/`}>
        {name}
        {isHere ? <span class="muted"> this one</span> : null}
      </a>
      <span class="muted mono cut wide project-folder">{folder}</span>
      {work === null ? (
        <span class="project-failure cut" title={failure ?? ''}>
          {failure}
        </span>
      ) : (
        <Work work={work} />
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

function Work({ work }: { readonly work: NonNullable<ProjectActivity['work']> }) {
  const agents = [...new Set(work.running.map(({ agent_name }) => agent_name))]
  const silent = work.running.filter(({ stale }) => stale).length
  return (
    <>
      <span class="project-agents" title={agents.join(', ')}>
        {agents.slice(0, most).map((agent) => (
          <Agent key={agent} name={agent} />
        ))}
        {agents.length > most ? <span class="muted">{agents.length - most} more</span> : null}
        {silent > 0 ? <span class="muted">{silent} silent</span> : null}
      </span>
      <span class="muted project-missions">
        {work.missions_total === 0 ? '' : formatCount(work.missions_total, 'mission')}
      </span>
      <span class="project-waiting">
        {work.waiting === 0 || work.waiting_since === null ? (
          <span class="muted">nothing waits</span>
        ) : (
          <>
            <b>{work.waiting} waiting</b>{' '}
            <span class="muted">
              <Since at={work.waiting_since} />
            </span>
          </>
        )}
      </span>
    </>
  )
}
