import { useState } from 'preact/hooks'
import type { ProcessDefinition } from '../../../src/domain/gate/definition.ts'
import { isJsonObject } from '../../../src/domain/gate/json.ts'
import type { SimulatedEvent, Simulation } from '../../../src/domain/gate/simulate.ts'

interface NextEventsProps {
  readonly played: Simulation
  readonly definition: ProcessDefinition
  readonly send: (event: SimulatedEvent) => void
}

/** What may be sent here, where it leads, and what it would still ask for. */
export function NextEvents({ played, definition, send }: NextEventsProps) {
  const [payload, setPayload] = useState('')
  const [files, setFiles] = useState('')
  const read = payloadOf(payload)
  const artifacts = files.split(/[\s,]+/).filter((path) => path !== '')
  return (
    <section class="run-section">
      <h2>What is sent</h2>
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
                ? `asks for ${missingText(transitions)}`
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
          The payload is no JSON object yet.
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
  try {
    const read: unknown = JSON.parse(text)
    return isJsonObject(read) ? read : null
  } catch {
    return null
  }
}
