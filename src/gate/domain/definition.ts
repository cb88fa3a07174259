import type { JsonObject } from '../../kernel/json.ts'
import type { Guard } from './guards/guard.ts'
import { valueAt } from './json.ts'

/** `original`: a file written for the system that this one follows, read with that system's meaning. */
export type Dialect = 1 | 'original'

/** A versioned state machine: the events of a run, the roles that may send them, and their guards. */
export interface ProcessDefinition {
  readonly dialect: Dialect
  readonly id: string
  readonly version: string
  readonly name: string
  readonly description: string | null
  readonly initialState: string
  readonly initialContext: JsonObject
  readonly contextSchema: JsonObject | null
  readonly roles: readonly RoleDefinition[]
  readonly states: readonly StateDefinition[]
  readonly events: readonly EventDefinition[]
  readonly transitions: readonly TransitionDefinition[]
  /** A list, not an object, so that a guard may be called `constructor`. */
  readonly guards: readonly NamedGuard[]
  readonly artifacts: readonly ArtifactDefinition[]
}

export interface RoleDefinition {
  readonly name: string
  readonly description: string | null
  readonly kind: 'agent' | 'human'
  /** The original's list of events, for reference only; null when there is none. */
  readonly allowedEvents: readonly string[] | null
}

export interface StateDefinition {
  readonly name: string
  readonly description: string | null
  readonly prompt: string | null
  readonly requiredArtifacts: readonly string[]
  readonly toolPermissions: ToolPermissions | null
  readonly isFinal: boolean
  /** The outcome of a run that ends here; null in a state that is not final. */
  readonly outcome: 'succeeded' | 'failed' | null
  /** The maximum number of visits; null for no limit. */
  readonly maxVisits: number | null
  /** Whether a phase of the run's mission may be completed while the run is here. */
  readonly allowsPhaseCompletion: boolean
}

export interface ToolPermissions {
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
  readonly ask: readonly string[]
  /** Globs that a tool is limited to. */
  readonly paths: readonly { readonly tool: string; readonly globs: readonly string[] }[]
}

export interface EventDefinition {
  readonly name: string
  readonly description: string | null
  /** `*` is everyone; an empty list is no one. */
  readonly allowedRoles: readonly string[]
  readonly payloadSchema: JsonObject | null
  /** The permitted channels; null for any. */
  readonly channels: readonly string[] | null
}

export interface TransitionDefinition {
  /** A state, or `*` for every state that is not final. */
  readonly from: string
  readonly event: string
  readonly to: string
  readonly description: string | null
  readonly guard: GuardExpression | null
  /** Narrows the event's roles; null for all of them. */
  readonly allowedRoles: readonly string[] | null
  /** `record` stores the evidence of an event whose guard is not satisfied yet. */
  readonly whenBlocked: 'reject' | 'record'
  readonly assign: readonly Assignment[]
  readonly mergePayload: boolean
  /** Leaves the state without its required artifacts. */
  readonly escape: boolean
}

/** `value` is a constant, or a path such as `$.payload.summary`. */
export interface Assignment {
  readonly variable: string
  readonly value: unknown
}

export type GuardExpression =
  | string
  | { readonly all: readonly GuardExpression[] }
  | { readonly any: readonly GuardExpression[] }
  | { readonly not: GuardExpression }

export interface NamedGuard {
  readonly name: string
  readonly description: string | null
  /** The fix, instead of the guard's own. */
  readonly hint: string | null
  readonly guard: Guard
}

export type FreshnessScope = 'run' | 'state' | 'loop'

export interface ArtifactDefinition {
  readonly type: string
  readonly description: string | null
  /** Globs of files that are of this type. */
  readonly paths: readonly string[]
  readonly minBytes: number | null
  readonly schema: JsonObject | null
  readonly fresh: FreshnessScope
}

export function stateNamed(definition: ProcessDefinition, name: string): StateDefinition | undefined {
  return definition.states.find((state) => state.name === name)
}

export function eventNamed(definition: ProcessDefinition, name: string): EventDefinition | undefined {
  return definition.events.find((event) => event.name === name)
}

interface PromptVariable {
  /** As it is written, with its braces. */
  readonly written: string
  /** `context`, `request`. */
  readonly path: readonly string[]
}

// The original wrote one pair of braces.
const forms = {
  1: /\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g,
  original: /\{\{?\s*(context(?:\.[\w-]+)+)\s*\}\}?/g,
} as const satisfies Record<Dialect, RegExp>

/** A prompt with the values of its variables. A variable without a value reads "none yet". */
export function interpolatePrompt(prompt: string, dialect: Dialect, context: JsonObject): string {
  return prompt.replace(forms[dialect], (written: string, path: string) => {
    const value = valueAt({ context }, path.split('.'))
    if (value === undefined || value === null) return path.startsWith('context.') ? 'none yet' : written
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

export function promptVariables(prompt: string, dialect: Dialect): readonly PromptVariable[] {
  return [...prompt.matchAll(forms[dialect])].map(([written, path = '']) => ({
    written,
    path: path.split('.'),
  }))
}
