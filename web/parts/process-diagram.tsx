import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { StateMachineData } from '../api/entities.ts'
import { type DrawnState, type DrawnTransition, stateDiagram } from '../geometry/state-diagram.ts'
import './process-diagram.css'

interface MachineDiagramProps {
  readonly machine: StateMachineData
  readonly current: string
  /** Ids of transitions that were taken, oldest first. */
  readonly taken: readonly string[]
  /** Names it for who cannot see it. */
  readonly label: string
}

/** The states of a process: what was taken is solid, where it is stands out, what can come next is dashed. */
export function MachineDiagram({ machine, current, taken, label }: MachineDiagramProps) {
  const frame = useRef<HTMLElement>(null)
  const way = taken.join('\n')
  const diagram = useMemo(
    () =>
      stateDiagram(
        {
          states: machine.states.map(({ name, is_final }) => ({ id: name, final: is_final })),
          transitions: distinctTransitions(machine).map((transition) => ({
            id: transitionId(transition),
            label: transition.event.replaceAll('_', ' '),
            from: transition.from,
            to: transition.to,
          })),
        },
        { current, taken },
      ),
    [machine, current, way],
  )
  const { width, height, states, transitions } = diagram
  useLayoutEffect(() => {
    const at = states.find(({ part }) => part === 'current')
    const shown = frame.current
    if (at && shown && at.x > shown.clientWidth - 60) shown.scrollLeft = at.x - shown.clientWidth / 2
  }, [diagram])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys
    <figure class="machine" ref={frame} tabIndex={0}>
      <svg
        style={{ minWidth: `${width * smallest}px`, maxWidth: `${width}px` }}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={label}
      >
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 1 7 4 0 7z" fill="context-stroke" />
          </marker>
        </defs>
        {transitions.toSorted(compareWeights).map((transition) => (
          <Transition key={transition.id} transition={transition} />
        ))}
        {states.map((state) => (
          <State key={state.id} state={state} />
        ))}
      </svg>
    </figure>
  )
}

function Transition({
  transition: { path, part, text, times, labelAt },
}: {
  readonly transition: DrawnTransition
}) {
  return (
    <g class="machine-transition" data-part={part}>
      <path d={path} marker-end="url(#tip)" />
      {labelAt ? (
        <text x={labelAt.x} y={labelAt.y} dy="0.35em">
          {text}
          {times > 1 ? ` ×${times}` : ''}
        </text>
      ) : null}
    </g>
  )
}

function State({ state: { id, x, y, width, height, part, final } }: { readonly state: DrawnState }) {
  const box = { x: x - width / 2, y: y - height / 2, width, height, rx: 6 }
  return (
    <g class="machine-state" data-part={part} data-final={final}>
      {final ? (
        <rect class="rim" {...box} x={box.x - 3} y={box.y - 3} width={width + 6} height={height + 6} rx={8} />
      ) : null}
      <rect class="box" {...box} />
      <text x={x} y={y} dy="0.35em">
        {id}
      </text>
    </g>
  )
}

/** What is out of reach lies under what matters. */
function compareWeights(a: DrawnTransition, b: DrawnTransition): number {
  return weights[a.part] - weights[b.part]
}

// Below this share of its size it is scrolled, not made smaller.
const smallest = 0.72

const weights = { out_of_reach: 0, reachable: 1, taken: 2, next: 3 } as const

/** Transitions that differ only in their guards are one line. */
function distinctTransitions({ transitions }: StateMachineData): StateMachineData['transitions'] {
  const known = new Map(transitions.map((transition) => [transitionId(transition), transition]))
  return [...known.values()]
}

/** Names a transition among all of a process. */
export function transitionId({
  from,
  event,
  to,
}: {
  readonly from: string
  readonly event: string
  readonly to: string
}): string {
  return `${from} ${event} ${to}`
}
