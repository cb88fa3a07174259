import { plainLabel } from '../../plan/domain/diagrams.ts'
import type { ProcessDefinition, TransitionDefinition } from './definition.ts'
import { expressionWords } from './expression.ts'
import { reachableStates } from './transitions.ts'

/**
 * A drawing for a terminal: the states in the order of their distance from the beginning, ends last, the ways out of each
 * below it, ways back marked with an arrow up.
 */
export function textDiagram(definition: ProcessDefinition): string {
  const steps = reachableStates(definition, definition.initialState)
  const distance = (state: string): number => steps.get(state) ?? Number.MAX_SAFE_INTEGER
  const order = definition.states
    .toSorted((a, b) => Number(a.isFinal) - Number(b.isFinal) || distance(a.name) - distance(b.name))
    .map(({ name }) => name)
  const widest = Math.max(0, ...definition.transitions.map(({ event }) => event.length))
  const blocks = order.map((state) => {
    const out = definition.transitions.filter(({ from }) => from === state)
    const arrows = out.map((transition, index) => {
      const branch = index === out.length - 1 ? '└─' : '├─'
      return `   ${branch} ${transition.event.padEnd(widest)} ${arrow(transition, order)}${condition(transition)}`
    })
    return [heading(definition, state), ...arrows].join('\n')
  })
  return `${[...blocks, ...wildcardArrows(definition, widest)].join('\n')}\n`
}

function heading({ states, initialState }: ProcessDefinition, name: string): string {
  const state = states.find((candidate) => candidate.name === name)
  const notes = [
    state?.outcome === 'failed' ? 'failed' : '',
    state?.maxVisits === null || state?.maxVisits === undefined ? '' : `at most ${state.maxVisits} times`,
    state && state.requiredArtifacts.length > 0 ? `needs ${state.requiredArtifacts.join(', ')}` : '',
  ].filter((note) => note !== '')
  const after = notes.length === 0 ? '' : `  (${notes.join('; ')})`
  if (name === initialState) return `▶ [${name}]${after}`
  return state?.isFinal ? `■ [${name}]${after}` : `  [${name}]${after}`
}

function arrow({ from, to }: TransitionDefinition, order: readonly string[]): string {
  if (from === to) return '↻ stays'
  return order.indexOf(to) < order.indexOf(from) ? `─↑ ${to}` : `─→ ${to}`
}

function condition({ guard, whenBlocked }: TransitionDefinition): string {
  if (guard === null) return ''
  return `   if ${expressionWords(guard)}${whenBlocked === 'record' ? ', else keeps the evidence' : ''}`
}

function wildcardArrows({ transitions }: ProcessDefinition, widest: number): readonly string[] {
  const everywhere = transitions.filter(({ from }) => from === '*')
  if (everywhere.length === 0) return []
  const arrows = everywhere.map((transition, index) => {
    const branch = index === everywhere.length - 1 ? '└─' : '├─'
    return `   ${branch} ${transition.event.padEnd(widest)} ─→ ${transition.to}${condition(transition)}`
  })
  return ['  from every state', ...arrows]
}

/** A Mermaid state diagram of a process. */
export function mermaidStates({ states, transitions, initialState }: ProcessDefinition): string {
  const names = new Map(states.map(({ name }, index) => [name, `s${index + 1}`]))
  const nameOf = (state: string): string => names.get(state) ?? 'unknown'
  const leavable = states.filter(({ isFinal }) => !isFinal).map(({ name }) => name)
  const arrows = transitions.flatMap(({ from, to, event, guard }) => {
    const label = `${event}${guard === null ? '' : ` (${expressionWords(guard)})`}`
    return (from === '*' ? leavable : [from]).map(
      (state) => `  ${nameOf(state)} --> ${nameOf(to)} : ${escapeMermaid(label)}`,
    )
  })
  const lines = [
    'stateDiagram-v2',
    ...states.map(({ name }) => `  state "${escapeMermaid(name)}" as ${nameOf(name)}`),
    `  [*] --> ${nameOf(initialState)}`,
    ...arrows,
    ...states.filter(({ isFinal }) => isFinal).map(({ name }) => `  ${nameOf(name)} --> [*]`),
  ]
  return `${lines.join('\n')}\n`
}

/** Punctuation becomes a numeric entity, because a label may be parsed as Mermaid. */
function escapeMermaid(text: string): string {
  return plainLabel(text).replace(/[!-',/:-@[-^`{-~]/g, (sign) => `#${sign.charCodeAt(0)};`)
}
