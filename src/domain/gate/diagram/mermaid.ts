import { plainLabel } from '../../plan/diagram/plain-label.ts'
import type { ProcessDefinition } from '../definition.ts'
import { expressionWords } from '../expression.ts'

/** A Mermaid state diagram of a process. */
export function mermaidStates({ states, transitions, initialState }: ProcessDefinition): string {
  const names = new Map(states.map(({ name }, at) => [name, `s${at + 1}`]))
  const named = (state: string): string => names.get(state) ?? 'unknown'
  const leavable = states.filter(({ isFinal }) => !isFinal).map(({ name }) => name)
  const arrows = transitions.flatMap(({ from, to, event, guard }) => {
    const label = `${event}${guard === null ? '' : ` (${expressionWords(guard)})`}`
    return (from === '*' ? leavable : [from]).map(
      (state) => `  ${named(state)} --> ${named(to)} : ${escaped(label)}`,
    )
  })
  const lines = [
    'stateDiagram-v2',
    ...states.map(({ name }) => `  state "${escaped(name)}" as ${named(name)}`),
    `  [*] --> ${named(initialState)}`,
    ...arrows,
    ...states.filter(({ isFinal }) => isFinal).map(({ name }) => `  ${named(name)} --> [*]`),
  ]
  return `${lines.join('\n')}\n`
}

/** Punctuation goes as a numeric entity, because a label may be read as Mermaid. */
function escaped(text: string): string {
  return plainLabel(text).replace(/[!-',/:-@[-^`{-~]/g, (sign) => `#${sign.charCodeAt(0)};`)
}
