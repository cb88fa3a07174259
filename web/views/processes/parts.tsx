import { Fragment } from 'preact'
import type { ProcessDefinition, StateDefinition } from '../../../src/domain/gate/definition.ts'
import { needWords } from '../../../src/domain/gate/evidence.ts'
import { expressionWords } from '../../../src/domain/gate/expression.ts'
import { guardNeeds } from '../../../src/domain/gate/guards/guard-kinds.ts'
import { Prose } from '../../parts/prose.tsx'

/** What a process is made of: its states with their ways out, its guards, who may send what. */
export function Parts({ definition }: { readonly definition: ProcessDefinition }) {
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
                      {guard === null ? '' : `, where ${expressionWords(guard)}`}
                    </p>
                  ))}
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      <section>
        <h2>Guards</h2>
        {guards.length === 0 ? <p class="muted">It has none: every event passes.</p> : null}
        <dl class="defined">
          {guards.map(({ name, description, guard }) => (
            <Fragment key={name}>
              <dt class="mono">{name}</dt>
              <dd>
                <p>{description ?? guard.type}</p>
                <p class="muted">
                  <Prose text={guardNeeds(guard).map(needWords).join(', ')} />
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
                  sent by {allowedRoles.includes('*') ? 'anybody' : allowedRoles.join(' or ')}
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

type Described = Pick<StateDefinition, 'description' | 'isFinal' | 'requiredArtifacts' | 'maxVisits'>

function stateText({ description, isFinal, requiredArtifacts, maxVisits }: Described): string {
  const parts = [
    description ?? (isFinal ? 'The end' : ''),
    requiredArtifacts.length > 0 ? `asks for ${requiredArtifacts.join(', ')}` : '',
    maxVisits === null ? '' : `is entered at most ${maxVisits} times`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}
