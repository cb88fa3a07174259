import { useEffect } from 'preact/hooks'
import type { RunPage } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Pending } from '../../parts/empty-state.tsx'
import { useOwnPage } from '../../parts/entity-path.ts'
import { MachineDiagram, transitionId } from '../../parts/process-diagram.tsx'
import { type Status, StatusBadge, StatusIcon } from '../../parts/status.tsx'
import { Prose, shortId } from '../../parts/text.tsx'
import { Since, TimeOfDay } from '../../parts/time.tsx'
import { crumb } from '../../router/current.ts'
import { href } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { RunSteps } from './history.tsx'
import { NextSteps } from './next-steps.tsx'
import { VerbsBar } from './verbs.tsx'
import './run.css'

const maxEvents = 200

const runSubject = { name: 'Run', list: { path: '/processes', title: 'All active runs' } } as const

/** One run: its state, the next steps with their guards, and its history. */
export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const page = useQuery('show', { id })
  const history = useQuery('run_history', { run_id: id, limit: maxEvents })
  const detail = page.answer.value?.kind === 'run' ? page.answer.value : null
  const log = history.answer.value
  useOwnPage(page.answer.value, 'run')
  const process = detail?.run.process_id
  const processName = detail?.run.process_name ?? ''
  const subject = detail?.task?.name ?? detail?.mission?.name ?? `Run ${shortId(id)}`
  useEffect(() => {
    if (process === undefined) return
    crumb.value = [{ text: processName, href: href(`/processes/${process}`) }, { text: subject }]
  }, [process, processName, subject])
  useCommands({ 'copy id': () => void navigator.clipboard.writeText(id) })
  if (!detail) return <Pending failure={page.failure} subject={{ ...runSubject, id }} />
  const moves = (log?.events ?? []).filter(({ kind }) => kind === 'event').toReversed()
  const taken = moves.map(({ from_state, event, to_state }) =>
    transitionId({ from: from_state, event, to: to_state }),
  )
  return (
    <div class="page-inner run">
      <RunHeader page={detail} />
      <div class="run-parts">
        <div class="run-main">
          <MachineDiagram
            machine={detail.machine}
            current={detail.run.current_state}
            taken={taken}
            label={`States of ${detail.run.process_name}; the run is in ${detail.run.current_state}`}
          />
          {log ? <RunSteps history={log} /> : null}
        </div>
        <aside>
          <NextSteps page={detail} />
          <VerbsBar page={detail} refresh={page.refresh} />
          <Artifacts page={detail} />
          <PromptAndContext page={detail} />
        </aside>
      </div>
    </div>
  )
}

/** The process, the task or mission, and the state. */
function RunHeader({ page }: { readonly page: RunPage }) {
  const { run, mission, task, entered_at, machine } = page
  const subject = task ?? mission
  const process = (
    <>
      <a class="link" href={href(`/processes/${run.process_id}`)}>
        {run.process_name}
      </a>{' '}
      <span class="run-id mono">v{run.process_version}</span>
    </>
  )
  const state = machine.states.find(({ name }) => name === run.current_state)
  return (
    <header class="run-head">
      <div>
        <h1>{subject === null ? process : subject.name}</h1>
        <p class="muted">
          {subject === null ? (
            (page.description ?? 'Not part of a task or mission.')
          ) : (
            <>
              {task ? 'The task' : 'The mission'}{' '}
              <a class="link" href={href(task ? `/tasks/${task.id}` : `/missions/${subject.id}`)}>
                {subject.name}
              </a>{' '}
              follows the process {process}
              {state?.description ? `, at “${state.description}”` : ''}.
            </>
          )}
          {task && mission ? (
            <>
              {' Mission: '}
              <a class="link" href={href(`/missions/${mission.id}`)}>
                {mission.name}
              </a>
            </>
          ) : null}
        </p>
      </div>
      <dl class="details">
        <div>
          <dt>State</dt>
          <dd>
            <StatusBadge status={runStatus(page)} word={run.current_state} />
          </dd>
        </div>
        <div>
          <dt>Revision</dt>
          <dd>{run.revision}</dd>
        </div>
        {run.ended_at === null ? (
          <div>
            <dt>In state</dt>
            <dd>
              <Since at={entered_at} />
            </dd>
          </div>
        ) : (
          <div>
            <dt>{endings[run.status]}</dt>
            <dd>
              <TimeOfDay at={run.ended_at} />
            </dd>
          </div>
        )}
      </dl>
    </header>
  )
}

const endings: Readonly<Record<RunPage['run']['status'], string>> = {
  active: 'Active',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Canceled',
}

function runStatus({ run, waits_for }: RunPage): Status {
  if (run.status === 'active') return waits_for.length > 0 ? 'review' : 'active'
  return ({ succeeded: 'done', failed: 'failed', cancelled: 'dropped' } as const)[run.status]
}

/** The prompt of the state, and the context of the run. */
function PromptAndContext({ page: { prompt, context, run } }: { readonly page: RunPage }) {
  const fields = Object.entries(context)
  return (
    <>
      {prompt === null || run.status !== 'active' ? null : (
        <section class="run-section">
          <h2>Prompt for the agent</h2>
          <p class="prompt">
            <Prose text={prompt} />
          </p>
        </section>
      )}
      {fields.length === 0 ? null : (
        <section class="run-section">
          <h2>Context</h2>
          <dl class="context">
            {fields.map(([name, value]) => (
              <div key={name}>
                <dt class="mono">{name}</dt>
                <dd class="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}

const maxListed = 12

/** The submitted files, and whether they changed since. */
function Artifacts({ page: { artifacts, artifacts_total } }: { readonly page: RunPage }) {
  if (artifacts.length === 0) return null
  const [listed, more] = [artifacts.slice(0, maxListed), artifacts.slice(maxListed)]
  return (
    <section class="run-section">
      <h2>Artifacts</h2>
      <ul class="artifacts">{listed.map((artifact) => artifactRow(artifact))}</ul>
      {more.length > 0 ? (
        <details>
          <summary>{artifacts_total - maxListed} more</summary>
          <ul class="artifacts">{more.map((artifact) => artifactRow(artifact))}</ul>
        </details>
      ) : null}
    </section>
  )
}

function artifactRow({ type, path, sha256, status, revision, author }: RunPage['artifacts'][number]) {
  const title = `${type ?? 'no type'}, submitted by ${author} at revision ${revision}, SHA-256 ${sha256}`
  return (
    <li key={`${type} ${path}`} title={title}>
      <StatusIcon status={status === 'current' ? 'done' : 'blocked'} named={false} />
      <span class="mono cut">{path}</span>
      <span class="muted">
        {status === 'current' ? (type ?? 'no declared type') : approvalStatuses[status]}
      </span>
      <span class="id">{sha256.slice(0, 7)}</span>
    </li>
  )
}

const approvalStatuses = { changed: 'changed since', deleted: 'deleted since' } as const
