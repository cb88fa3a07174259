import { z } from 'zod'
import { choice } from '../../../kernel/operations/input/fields.ts'
import { list, strings } from '../../../kernel/operations/list-answer.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import type { LoadedProcess } from '../../../project/ports/project-files.ts'
import type { NamedGuard, ProcessDefinition, TransitionDefinition } from '../../domain/definition.ts'
import { mermaidStates, textDiagram } from '../../domain/diagram.ts'
import { formatNeed } from '../../domain/evidence.ts'
import { expressionWords } from '../../domain/expression.ts'
import { guardNeeds } from '../../domain/guards/guard-kinds.ts'
import { json, MachineAnswer, stateMachine } from '../run-answer.ts'
import {
  FindingEntry,
  findingEntry,
  namedProcess,
  origin,
  prepareProcess,
  processField,
  readableProcess,
} from './processes.ts'

const drawings = { mermaid: mermaidStates, text: textDiagram } as const

const Parts = z.object({
  description: z.string().nullable(),
  dialect: z.union([z.literal(1), z.literal('original')]),
  initial_state: z.string(),
  roles: list(
    z.object({ name: z.string(), kind: z.enum(['agent', 'human']), description: z.string().nullable() }),
  ),
  states: list(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      required_artifacts: strings,
      is_final: z.boolean(),
      outcome: z.enum(['succeeded', 'failed']).nullable(),
      max_visits: z.int().nullable(),
    }),
  ),
  events: list(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      allowed_roles: strings,
      payload_schema: json.nullable(),
    }),
  ),
  transitions: list(
    z.object({
      from: z.string(),
      event: z.string(),
      to: z.string(),
      guard: z.string().nullable(),
      when_blocked: z.enum(['reject', 'record']),
      escape: z.boolean(),
    }),
  ),
  guards: list(
    z.object({
      name: z.string(),
      type: z.string(),
      description: z.string().nullable(),
      looks_at: strings,
    }),
  ),
  artifacts: list(
    z.object({
      type: z.string(),
      description: z.string().nullable(),
      paths: strings,
      fresh: z.enum(['run', 'state', 'loop']),
    }),
  ),
})

const Definition = json as z.ZodType<unknown> as z.ZodType<ProcessDefinition> // the domain's own, as JSON

/** The text of the file with lint findings; also for a file that cannot be read as a process. */
const Source = z.object({
  text: z.string(),
  origin,
  findings: list(FindingEntry),
  /** The parsed definition. Null if the file has errors. */
  definition: Definition.nullable(),
  machine: MachineAnswer.nullable(),
  active_runs: z.int(),
})

export const processShow = defineOperation({
  name: 'process_show',
  command: 'process show',
  toolset: 'gate',
  audience: 'both',
  title: 'Show a process',
  description: 'Show the states, events, transitions and guards of a process, or draw them.',
  kind: 'query',
  positional: ['process'],
  input: z.strictObject({
    process: processField,
    diagram: choice(['mermaid', 'text'], 'Draw it instead').optional(),
    include: z
      .array(choice(['source']))
      .max(1)
      .describe('source: its file with the findings of lint instead; also for a process with errors')
      .optional(),
  }),
  output: z.object({
    process_id: z.string(),
    version: z.string().nullable(),
    name: z.string().nullable(),
    file: z.string(),
    /** In place of all that follows. */
    diagram: z.string().optional(),
    source: Source.optional(),
    ...Parts.partial().shape,
  }),
})
  .measure({ process: namedProcess })
  .prepare(prepareProcess)
  .answer(async ({ reads, found }, input) => {
    if (input.include !== undefined) {
      const whole = requireMeasured(found ?? undefined)
      const runs = await reads.runs.list({ status: 'active', processId: whole.id }, { limit: 1 })
      return sourceAnswer(whole, runs.total)
    }
    const { definition, loaded } = readableProcess(found)
    const { id, version, name } = definition
    const head = { process_id: id, version, name, file: loaded.file }
    if (input.diagram !== undefined) return { ...head, diagram: drawings[input.diagram](definition) }
    return { ...head, ...parts(definition) }
  })

function sourceAnswer(loaded: LoadedProcess, activeRuns: number) {
  const { id, file, origin: from, text, definition, findings } = loaded
  return {
    process_id: id,
    version: definition?.version ?? null,
    name: definition?.name ?? null,
    file,
    source: {
      text,
      origin: from,
      findings: findings.map(findingEntry),
      definition,
      machine: definition && stateMachine(definition),
      active_runs: activeRuns,
    },
  }
}

function parts(definition: ProcessDefinition): z.output<typeof Parts> {
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
  return { name, type: guard.type, description, looks_at: guardNeeds(guard).map(formatNeed) }
}
