import { useMemo, useState } from 'preact/hooks'
import type { ProcessDefinition } from '../../../src/gate/domain/definition.ts'
import {
  assumableNames,
  type SimulatedEvent,
  type SimulatedStep,
  type Simulation,
  simulate,
} from '../../../src/gate/domain/simulate.ts'
import { isJsonObject, parseJson } from '../../../src/kernel/json.ts'
import type { StateMachineData } from '../../api/entities.ts'
import { MachineDiagram, transitionId } from '../../parts/process-diagram.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'

interface SimulationProps {
  readonly definition: ProcessDefinition
  readonly machine: StateMachineData
}

/** Simulates events with the same function that the server uses. Nothing is recorded. */
export function SimulationPart({ definition, machine }: SimulationProps) {
  const [events, setEvents] = useState<readonly SimulatedEvent[]>([])
  const [satisfied, setSatisfied] = useState<readonly string[]>([])
  const played = useMemo(
    () => simulate(definition, events, { satisfied, context: {} }),
    [definition, events, satisfied],
  )
  const taken = played.steps.flatMap(({ event, result }) =>
    result.accepted ? [transitionId({ from: result.from, event, to: result.to })] : [],
  )
  return (
    <div class="run-parts">
      <div class="run-main">
        <MachineDiagram
          machine={machine}
          current={played.run.state}
          taken={taken}
          label={`States of ${definition.name}; the simulation is in ${played.run.state}`}
        />
        <div class="run-verbs">
          <button
            type="button"
            class="button"
            disabled={events.length === 0}
            onClick={() => setEvents(events.slice(0, -1))}
          >
            Undo
          </button>
          <button type="button" class="button" disabled={events.length === 0} onClick={() => setEvents([])}>
            Restart
          </button>
        </div>
        <Steps played={played} />
      </div>
      <aside>
        <section class="run-section">
          <h2 aria-live="polite">
            In {played.run.state}
            {played.finished ? ', a final state' : ''}
          </h2>
          {played.prompt === null || played.finished ? null : (
            <p class="prompt">
              <Prose text={played.prompt} />
            </p>
          )}
        </section>
        {played.finished ? null : (
          <NextEvents
            played={played}
            definition={definition}
            send={(event) => setEvents([...events, { ...event, satisfied }])}
          />
        )}
        <AssumedGuards definition={definition} satisfied={satisfied} change={setSatisfied} />
      </aside>
    </div>
  )
}

interface NextEventsProps {
  readonly played: Simulation
  readonly definition: ProcessDefinition
  readonly send: (event: SimulatedEvent) => void
}

/** The possible events, their target states and missing guards. */
function NextEvents({ played, definition, send }: NextEventsProps) {
  const [payload, setPayload] = useState('')
  const [files, setFiles] = useState('')
  const read = payloadOf(payload)
  const artifacts = files.split(/[\s,]+/).filter((path) => path !== '')
  return (
    <section class="run-section">
      <h2>Send an event</h2>
      <ul class="next-events">
        {played.next.map(({ event, transitions, wouldTransitionTo }) => (
          <li key={event.name}>
            <button
              type="button"
              class="button"
              disabled={read === null}
              onClick={() => send({ event: event.name, payload: read ?? {}, artifacts, role: null })}
            >
              {event.name}
            </button>
            <span class="muted">
              {wouldTransitionTo === null
                ? `needs ${missingText(transitions)}`
                : wouldTransitionTo === played.run.state
                  ? 'stays here'
                  : `leads to ${wouldTransitionTo}`}
            </span>
          </li>
        ))}
      </ul>
      <label class="simulated">
        With files
        <input
          class="field mono"
          value={files}
          placeholder={definition.artifacts[0]?.paths[0] ?? 'plan.md'}
          onInput={({ currentTarget }) => setFiles(currentTarget.value)}
        />
      </label>
      <label class="simulated">
        With a payload
        <input
          class="field mono"
          value={payload}
          placeholder='{"summary":"…"}'
          aria-invalid={read === null}
          onInput={({ currentTarget }) => setPayload(currentTarget.value)}
        />
      </label>
      {read === null ? (
        <p class="simulated-wrong" role="alert">
          The payload is not a JSON object yet.
        </p>
      ) : null}
    </section>
  )
}

function missingText(transitions: Simulation['next'][number]['transitions']): string {
  const names = transitions.flatMap(({ missing }) => missing.map(({ name }) => name))
  return [...new Set(names)].join(', ')
}

function payloadOf(text: string): SimulatedEvent['payload'] | null {
  if (text.trim() === '') return {}
  const read = parseJson(text)
  return isJsonObject(read) ? read : null
}

interface AssumptionProps {
  readonly definition: ProcessDefinition
  readonly satisfied: readonly string[]
  readonly change: (satisfied: readonly string[]) => void
}

/** Guards and artifacts to assume: a simulation reads no log and no files. */
function AssumedGuards({ definition, satisfied, change }: AssumptionProps) {
  const names = assumableNames(definition)
  if (names.length === 0) return null
  const holding = names.filter((name) => !name.startsWith('not '))
  const all = holding.every((name) => satisfied.includes(name))
  return (
    <fieldset class="assumed run-section">
      <legend>Assume satisfied</legend>
      <label>
        <input type="checkbox" checked={all} onChange={() => change(all ? [] : holding)} /> <b>All</b>
      </label>
      {names.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={satisfied.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change(
                checked
                  ? [...satisfied.filter((other) => other !== negateName(name)), name]
                  : satisfied.filter((other) => other !== name),
              )
            }
          />{' '}
          <span class="mono">{name}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** The opposite assumption: a guard holds or fails, not both. */
function negateName(name: string): string {
  return name.startsWith('not ') ? name.slice('not '.length) : `not ${name}`
}

/** The results of the events, newest first. */
function Steps({ played: { steps } }: { readonly played: Simulation }) {
  if (steps.length === 0)
    return (
      <p class="muted simulated-hint">Send an event to see its transition, or the guards that it needs.</p>
    )
  return (
    <section class="run-history">
      <h2>Steps</h2>
      <ul>
        {steps
          .map((step, at) => (
            <li key={at}>
              <StatusIcon status={step.result.accepted ? 'done' : 'review'} named={false} />
              <div class="history-text">{stepResult(step)}</div>
              <span class="muted">{step.role === null ? '' : `as ${step.role}`}</span>
            </li>
          ))
          .toReversed()}
      </ul>
    </section>
  )
}

function stepResult({ event, result }: SimulatedStep) {
  if (result.accepted) {
    return (
      <p>
        <b>{event}</b> {result.stateChanged ? `${result.from} → ${result.to}` : `stays in ${result.to}`}{' '}
        <span class="id">rev {result.run.revision}</span>
      </p>
    )
  }
  return (
    <>
      <p>
        <b>{event}</b> refused
      </p>
      {result.missing.length === 0 ? <p class="muted said">{result.message}</p> : null}
      {result.missing.map(({ name, reason }) => (
        <p key={name} class="muted said">
          {name}: {reason}
        </p>
      ))}
    </>
  )
}
