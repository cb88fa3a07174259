import { channels } from './channels.ts'
import { guardShape } from './guard-shapes.ts'
import { inert, json, object, optional, required, type Shape, text, texts, truth } from './shape.ts'

const freshness: Shape = { kind: 'choice', values: ['run', 'state', 'loop'] }

const process = object({
  dialect: optional({ kind: 'choice', values: [1] }, 'Say 1; a file without it is read as the original did'),
  id: required(
    { kind: 'text', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' },
    'The name of the file without .yaml',
  ),
  version: required(text, 'Such as "1.2.0"'),
  name: required(text),
  description: optional(text),
  initial_state: required(text),
  initial_context: optional(json, 'What a run knows at its beginning'),
  context_schema: optional(json, 'A JSON Schema of the context'),
})

const role = object({
  name: required(text),
  description: optional(text),
  kind: optional({ kind: 'choice', values: ['agent', 'human'] }, 'An agent cannot hold a role of kind human'),
  allowed_events: inert(texts, 'the events say who may emit them'),
  can_approve: inert(truth, 'guards of type approval ask for approvals'),
  can_reject: inert(truth, 'events say who may emit them'),
})

const state = object({
  name: required(text),
  description: optional(text),
  prompt: optional(text, 'What to do here; {{context.x}} stands for a variable'),
  required_artifacts: optional(texts, 'Types of artifacts without which the state cannot be left'),
  tool_permissions: optional(
    object({
      allowed: optional(texts, 'Tools, or Bash(npm test*) for some commands; others are denied'),
      denied: optional(texts, 'Tools, or Bash(git push*) for some commands'),
      ask: optional(texts, 'Tools and commands that a person decides about'),
      paths: optional({ kind: 'map', of: texts }, 'Globs that a tool is limited to'),
    }),
  ),
  is_final: optional(truth),
  outcome: optional({ kind: 'choice', values: ['succeeded', 'failed'] }, 'How a run ends here'),
  max_visits: optional({ kind: 'integer', least: 1 }, 'How often a run may enter it'),
  allow_phase_completion: optional(truth, 'A phase of the mission may be completed while the run is here'),
  is_terminal: inert(truth, 'is_final ends a run'),
  on_enter: inert({ kind: 'anything' }, 'nothing is started by a state'),
  on_exit: inert({ kind: 'anything' }, 'nothing is started by a state'),
})

const event = object({
  name: required(text),
  description: optional(text),
  allowed_roles: required(texts, 'Who may emit it; ["*"] is everybody'),
  payload_schema: optional(json, 'A JSON Schema'),
  channels: optional(channels, 'How a person must send it; default: any way'),
})

const transition = object({
  from: required(text, 'A state, or "*" for every one that is not final'),
  event: required(text),
  to: required(text),
  description: optional(text),
  guard: optional({ kind: 'guards' }, 'A guard, or { all: […] }, { any: […] }, { not: … }'),
  allowed_roles: optional(texts, 'Narrows who may emit the event'),
  when_blocked: optional(
    { kind: 'choice', values: ['reject', 'record'] },
    'record keeps the evidence and stays',
  ),
  assign: optional(
    { kind: 'map', of: { kind: 'anything' } },
    'Variables of the context: $.payload.x, or a constant',
  ),
  merge_payload: optional(truth, 'Puts the whole payload into the context'),
  escape: optional(truth, 'Leaves the state without its required artifacts'),
})

const artifact = object({
  type: required(text),
  description: optional(text),
  paths: optional(texts, 'Globs of files that are of this type'),
  min_bytes: optional({ kind: 'integer', least: 0 }),
  schema: optional(json, 'A JSON Schema of its content'),
  fresh: optional(
    freshness,
    'How new evidence must be: of the run, of this stay in the state, of this round',
  ),
  required_in_states: inert(texts, 'required_artifacts of the states decide'),
  required_for_transitions: inert(texts, 'guards of the transitions decide'),
})

/** A whole file. */
export const processShape = object({
  process: required(process),
  roles: optional({ kind: 'list', of: role }),
  states: required({ kind: 'list', of: state, least: 1 }),
  events: required({ kind: 'list', of: event }),
  transitions: required({ kind: 'list', of: transition }),
  guards: optional({ kind: 'map', of: guardShape }),
  artifacts: optional({ kind: 'list', of: artifact }),
  schemas: inert(json, 'a payload_schema may refer to it'),
})
