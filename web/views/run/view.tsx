import { useEffect } from 'preact/hooks'
import type { RunPage } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { FailureMessage } from '../../parts/empty-state.tsx'
import { MachineDiagram, transitionId } from '../../parts/machine.tsx'
import { type Status, StatusBadge, StatusIcon } from '../../parts/status.tsx'
import { Prose, shortId } from '../../parts/text.tsx'
import { Clock, Since } from '../../parts/time.tsx'
import { crumb } from '../../router/current.ts'
import { href } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { RunHistory } from './history.tsx'
import { NextSteps } from './next-steps.tsx'
import { VerbsBar } from './verbs.tsx'
import './run.css'

const maxEvents = 200

/** One run: where it stands, what each way out asks for, how it came here. */
export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const page = useQuery('show', { id })
  const history = useQuery('run_history', { run_id: id, limit: maxEvents })
  const shown = page.answer.value?.kind === 'run' ? page.answer.value : null
  const past = history.answer.value
  const process = shown?.run.process_id
  useEffect(() => {
    if (process === undefined) return
    crumb.value = [{ text: process, href: href(`/processes/${process}`) }, { text: shortId(id) }]
  }, [process, id])
  useCommands({ 'copy id': () => void navigator.clipboard.writeText(id) })
  if (!shown) return <FailureMessage failure={page.failure} />
  const moves = (past?.events ?? []).filter(({ kind }) => kind === 'event').toReversed()
  const taken = moves.map(({ from_state, event, to_state }) =>
    transitionId({ from: from_state, event, to: to_state }),
  )
  return (
    <div class="page-inner run">
      <RunHeader page={shown} />
      <div class="run-parts">
        <div class="run-main">
          <MachineDiagram
            machine={shown.machine}
            current={shown.run.current_state}
            taken={taken}
            label={`States of ${shown.run.process_name}; the run is in ${shown.run.current_state}`}
          />
          {past ? <RunHistory history={past} /> : null}
        </div>
        <aside>
          <NextSteps page={shown} />
          <VerbsBar page={shown} refresh={page.refresh} />
          <Artifacts page={shown} />
          <RunEvents page={shown} />
        </aside>
      </div>
    </div>
  )
}

/** Which process, about what, and where it stands. */
function RunHeader({ page }: { readonly page: RunPage }) {
  const { run, mission, task, entered_at } = page
  return (
    <header class="run-head">
      <div>
        <h1>
          {run.process_name}{' '}
          <span class="run-id mono muted">
            v{run.process_version} · {shortId(run.run_id)}
          </span>
        </h1>
        <p class="muted">
          {task ? (
            <a class="link" href={href(`/tasks/${task.id}`)}>
              {task.name}
            </a>
          ) : null}
          {task && mission ? ' in ' : null}
          {mission ? (
            <a class="link" href={href(`/missions/${mission.id}`)}>
              {mission.name}
            </a>
          ) : null}
          {task || mission ? null : (page.description ?? 'A run on its own.')}
        </p>
      </div>
      <dl class="events">
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
              <Clock at={run.ended_at} />
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
  cancelled: 'Cancelled',
}

function runStatus({ run, waits_for }: RunPage): Status {
  if (run.status === 'active') return waits_for.length > 0 ? 'review' : 'active'
  return ({ succeeded: 'done', failed: 'failed', cancelled: 'dropped' } as const)[run.status]
}

/** What the agent is told in this state, and what the run knows. */
function RunEvents({ page: { prompt, context, run } }: { readonly page: RunPage }) {
  const known = Object.entries(context)
  return (
    <>
      {prompt === null || run.status !== 'active' ? null : (
        <section class="run-section">
          <h2>What the agent is told</h2>
          <p class="prompt">
            <Prose text={prompt} />
          </p>
        </section>
      )}
      {known.length === 0 ? null : (
        <section class="run-section">
          <h2>Context</h2>
          <dl class="context">
            {known.map(([name, value]) => (
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

const shownAtOnce = 12

/** What was submitted, and whether the files are still what they were. */
function Artifacts({ page: { artifacts, artifacts_total } }: { readonly page: RunPage }) {
  if (artifacts.length === 0) return null
  const [shown, more] = [artifacts.slice(0, shownAtOnce), artifacts.slice(shownAtOnce)]
  return (
    <section class="run-section">
      <h2>Artifacts</h2>
      <ul class="artifacts">{shown.map((artifact) => entry(artifact))}</ul>
      {more.length > 0 ? (
        <details>
          <summary>{artifacts_total - shownAtOnce} more</summary>
          <ul class="artifacts">{more.map((artifact) => entry(artifact))}</ul>
        </details>
      ) : null}
    </section>
  )
}

function entry({ type, path, sha256, status, revision, author }: RunPage['artifacts'][number]) {
  const told = `${type ?? 'no type'}, submitted by ${author} at revision ${revision}, SHA-256 ${sha256}`
  return (
    <li key={`${type} ${path}`} title={told}>
      <StatusIcon status={status === 'current' ? 'done' : 'blocked'} named={false} />
      <span class="mono cut">{path}</span>
      <span class="muted">
        {status === 'current' ? (type ?? 'does not count') : approvalStatuses[status]}
      </span>
      <span class="id">{sha256.slice(0, 7)}</span>
    </li>
  )
}

const approvalStatuses = { changed: 'changed since', deleted: 'deleted since' } as const
