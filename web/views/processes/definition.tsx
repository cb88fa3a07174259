import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ProcessDefinition, StateDefinition } from '../../../src/gate/domain/definition.ts'
import { formatNeed } from '../../../src/gate/domain/evidence.ts'
import { expressionWords } from '../../../src/gate/domain/expression.ts'
import { guardNeeds } from '../../../src/gate/domain/guards/guard-kinds.ts'
import { assumableNames } from '../../../src/gate/domain/simulate.ts'
import type { Process, ProcessSourceData } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Pending } from '../../parts/empty-state.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { crumb } from '../../router/current.ts'
import { href, query, setQuery } from '../../router/location.ts'
import { SimulationPart } from './simulation.tsx'

const tabs = [
  { name: 'simulate', title: 'Simulate' },
  { name: 'parts', title: 'States and guards' },
  { name: 'source', title: 'Source' },
] as const

const processSubject = {
  name: 'Process',
  list: { path: '/processes', title: 'All processes' },
  elsewhere:
    'A process in .waymark/processes of a work tree on another machine is known there: waymark process show',
} as const

type Tab = (typeof tabs)[number]['name']

/** One process: its simulation, its parts, and its source. */
export function Definition({ name }: { readonly name: string }) {
  const read = useQuery('process_show', { process: name, include: ['source'] })
  const page = read.answer.value
  const source = page?.source
  const title = page?.name ?? name
  useEffect(() => {
    crumb.value = [{ text: 'Processes', href: href('/processes') }, { text: title }]
  }, [title])
  const tab = tabNow(source)
  useCommands({
    ...Object.fromEntries(tabs.map((each, at) => [`tab ${at + 1}`, () => setQuery({ tab: each.name })])),
    'copy id': () => void navigator.clipboard.writeText(name),
  })
  if (page === null || !source)
    return <Pending failure={read.failure} subject={{ ...processSubject, id: name }} />
  const { definition, machine } = source
  return (
    <div class="page-inner process">
      <Head page={page} source={source} />
      <nav class="tabs" aria-label="Parts of this process">
        {tabs.map(({ name: other, title }) => (
          <a
            key={other}
            href={href(`/processes/${name}?tab=${other}`)}
            {...(other === tab && { 'aria-current': 'page' })}
          >
            {title}
            {other === 'source' && source.findings.length > 0 ? (
              <span class="count"> {source.findings.length}</span>
            ) : null}
          </a>
        ))}
      </nav>
      {tab === 'source' || definition === null ? <Source source={source} /> : null}
      {tab === 'parts' && definition ? <Parts definition={definition} /> : null}
      {tab === 'simulate' && definition && machine ? (
        <SimulationPart key={assumableNames(definition).join()} definition={definition} machine={machine} />
      ) : null}
    </div>
  )
}

/** An invalid definition shows its source. */
function tabNow(source: ProcessSourceData | undefined): Tab {
  const chosen = tabs.find(({ name }) => name === query.value.get('tab'))?.name ?? 'simulate'
  return source?.definition === null ? 'source' : chosen
}

function Head({ page, source }: { readonly page: Process; readonly source: ProcessSourceData }) {
  const { process_id, name, version, file } = page
  const { origin, definition, active_runs } = source
  return (
    <header class="run-head">
      <div>
        <h1>
          {name ?? process_id} <span class="run-id mono muted">{version === null ? '' : `v${version}`}</span>
        </h1>
        <p class="muted">
          <Prose text={definition?.description ?? ''} />
        </p>
      </div>
      <dl class="details">
        <div>
          <dt>Active runs</dt>
          <dd>{active_runs > 0 ? <a href={href('/processes')}>{active_runs}</a> : 0}</dd>
        </div>
        <div>
          <dt>{origin === 'shipped' ? 'Built in' : 'File'}</dt>
          <dd class="mono process-file">{file}</dd>
        </div>
      </dl>
    </header>
  )
}

/** The states with their transitions, the guards, and the events with their roles. */
function Parts({ definition }: { readonly definition: ProcessDefinition }) {
  const { states, transitions, guards, events, artifacts } = definition
  return (
    <div class="process-parts">
      <section>
        <h2>States</h2>
        <dl class="defined">
          {states.map(({ name, description, isFinal, requiredArtifacts, maxVisits }) => (
            <Fragment key={name}>
              <dt class="mono">{name}</dt>
              <dd>
                <p>{stateText({ description, isFinal, requiredArtifacts, maxVisits })}</p>
                {transitions
                  .filter(({ from }) => from === name || (from === '*' && !isFinal))
                  .map(({ event, to, guard }) => (
                    <p key={`${event} ${to}`} class="muted">
                      <code>{event}</code> → {to}
                      {guard === null ? '' : `, if ${expressionWords(guard)}`}
                    </p>
                  ))}
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      <section>
        <h2>Guards</h2>
        {guards.length === 0 ? <p class="muted">No guards: every event passes.</p> : null}
        <dl class="defined">
          {guards.map(({ name, description, guard }) => (
            <Fragment key={name}>
              <dt class="mono">{name}</dt>
              <dd>
                <p>{description ?? guard.type}</p>
                <p class="muted">
                  <Prose text={guardNeeds(guard).map(formatNeed).join(', ')} />
                </p>
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      <section>
        <h2>Events</h2>
        <dl class="defined">
          {events.map(({ name, description, allowedRoles }) => (
            <Fragment key={name}>
              <dt class="mono">{name}</dt>
              <dd>
                <p>{description ?? ''}</p>
                <p class="muted">
                  sent by {allowedRoles.includes('*') ? 'anyone' : allowedRoles.join(' or ')}
                </p>
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      {artifacts.length === 0 ? null : (
        <section>
          <h2>Artifacts</h2>
          <dl class="defined">
            {artifacts.map(({ type, description, paths }) => (
              <Fragment key={type}>
                <dt class="mono">{type}</dt>
                <dd>
                  <p>{description ?? ''}</p>
                  <p class="muted mono">{paths.join('  ')}</p>
                </dd>
              </Fragment>
            ))}
          </dl>
        </section>
      )}
    </div>
  )
}

type StateDescription = Pick<StateDefinition, 'description' | 'isFinal' | 'requiredArtifacts' | 'maxVisits'>

function stateText({ description, isFinal, requiredArtifacts, maxVisits }: StateDescription): string {
  const parts = [
    description ?? (isFinal ? 'Final state' : ''),
    requiredArtifacts.length > 0 ? `needs ${requiredArtifacts.join(', ')}` : '',
    maxVisits === null ? '' : `at most ${maxVisits} visits`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}

/** The source with the findings of lint at their lines. */
function Source({ source: { text, findings } }: { readonly source: ProcessSourceData }) {
  const byLine = Map.groupBy(findings, ({ line }) => line ?? 0)
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <div class="source-view">
      {findings.length === 0 ? null : (
        <ul class="findings">
          {findings.map(({ severity, message, line, column, rule }) => (
            <li key={`${line} ${column} ${rule} ${message}`}>
              <StatusIcon status={severity === 'error' ? 'blocked' : 'review'} named={false} />
              <span>
                <b>{severity}</b> {message}{' '}
                {line === null ? null : (
                  <a class="link" href={`#line-${line}`}>
                    line {line}
                  </a>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <pre class="source full-width">
        {lines.map((code, at) => (
          <span
            key={at}
            class="source-line"
            id={`line-${at + 1}`}
            {...(byLine.has(at + 1) && { 'data-found': '' })}
          >
            <span class="source-number" aria-hidden="true">
              {at + 1}
            </span>
            <code>{code === '' ? ' ' : code}</code>
          </span>
        ))}
      </pre>
    </div>
  )
}
