import type { SimulatedStep, Simulation } from '../../../src/domain/gate/simulate.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'

/** What each event did, newest first. */
export function Steps({ played: { steps } }: { readonly played: Simulation }) {
  if (steps.length === 0)
    return <p class="muted simulated-hint">Send an event, and see where it leads and what it asks for.</p>
  return (
    <section class="run-history">
      <h2>What happened</h2>
      <ul>
        {steps
          .map((step, at) => (
            <li key={at}>
              <StatusIcon status={step.result.accepted ? 'done' : 'review'} named={false} />
              <div class="history-text">{told(step)}</div>
              <span class="muted">{step.role === null ? '' : `as ${step.role}`}</span>
            </li>
          ))
          .toReversed()}
      </ul>
    </section>
  )
}

function told({ event, result }: SimulatedStep) {
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
