import { z } from 'zod'
import type { NamedGuard, ProcessDefinition, TransitionDefinition } from '../../domain/gate/definition.ts'
import { mermaidStates, textDiagram } from '../../domain/gate/diagram.ts'
import { needWords } from '../../domain/gate/evidence.ts'
import { expressionWords } from '../../domain/gate/expression.ts'
import { guardNeeds } from '../../domain/gate/guards/guard-kinds.ts'
import { choice } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { processField, readableProcess } from './processes.ts'

const drawings = { mermaid: mermaidStates, text: textDiagram } as const

export const processShow = defineOperation({
  name: 'process_show',
  command: 'process show',
  toolset: 'gate',
  audience: 'both',
  title: 'Show a process',
  description: 'The states, events, transitions and guards of a process, or a drawing of them.',
  kind: 'query',
  positional: ['process'],
  input: z.strictObject({
    process: processField,
    diagram: choice(['mermaid', 'text'], 'Draw it instead').optional(),
  }),
  output: z.looseObject({ process_id: z.string() }),
}).handler(async ({ processFiles }, input) => {
  const { definition, loaded } = await readableProcess(processFiles, input.process)
  const { id, version, name } = definition
  const head = { process_id: id, version, name, file: loaded.file }
  if (input.diagram !== undefined) return { ...head, diagram: drawings[input.diagram](definition) }
  return { ...head, ...parts(definition) }
})

function parts(definition: ProcessDefinition) {
  const { roles, states, events, transitions, guards, artifacts } = definition
  return {
    description: definition.description,
    dialect: definition.dialect,
    initial_state: definition.initialState,
    roles: roles.map(({ name, kind, description }) => ({ name, kind, description })),
    states: states.map((state) => ({
      name: state.name,
      description: state.description,
      required_artifacts: state.requiredArtifacts,
      is_final: state.isFinal,
      outcome: state.outcome,
      max_visits: state.maxVisits,
    })),
    events: events.map(({ name, description, allowedRoles, payloadSchema }) => ({
      name,
      description,
      allowed_roles: allowedRoles,
      payload_schema: payloadSchema,
    })),
    transitions: transitions.map(transitionAnswer),
    guards: guards.map(guardAnswer),
    artifacts: artifacts.map(({ type, description, paths, fresh }) => ({ type, description, paths, fresh })),
  }
}

function transitionAnswer(transition: TransitionDefinition) {
  const { from, event, to, guard } = transition
  return {
    from,
    event,
    to,
    guard: guard === null ? null : expressionWords(guard),
    when_blocked: transition.whenBlocked,
    escape: transition.escape,
  }
}

function guardAnswer({ name, description, guard }: NamedGuard) {
  return { name, type: guard.type, description, looks_at: guardNeeds(guard).map(needWords) }
}
