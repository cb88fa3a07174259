import { useMemo, useState } from 'preact/hooks'
import type { ProcessDefinition } from '../../../src/domain/gate/definition.ts'
import { type SimulatedEvent, simulate } from '../../../src/domain/gate/simulate.ts'
import type { Machine } from '../../api/answers.ts'
import { MachineDiagram } from '../../parts/machine/machine.tsx'
import { transitionId } from '../../parts/machine/transition-id.ts'
import { Prose } from '../../parts/prose.tsx'
import { Assumed } from './assumed.tsx'
import { NextEvents } from './next-events.tsx'
import { Steps } from './steps.tsx'

interface SimulationProps {
  readonly definition: ProcessDefinition
  readonly machine: Machine
}

/** Plays events through the process with the very function that the server decides by. Nothing is recorded. */
export function Simulation({ definition, machine }: SimulationProps) {
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
            Take back
          </button>
          <button type="button" class="button" disabled={events.length === 0} onClick={() => setEvents([])}>
            From the beginning
          </button>
        </div>
        <Steps played={played} />
      </div>
      <aside>
        <section class="run-section">
          <h2 aria-live="polite">
            In {played.run.state}
            {played.finished ? ', at the end' : ''}
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
        <Assumed definition={definition} satisfied={satisfied} change={setSatisfied} />
      </aside>
    </div>
  )
}
