import { type GuardExpression, type NamedGuard, type ProcessDefinition, stateNamed } from './definition.ts'
import type { Evidence, EvidenceNeed } from './evidence.ts'
import type { CommandGuard } from './guards/command.ts'
import {
  type GuardResult,
  type GuardStatus,
  satisfiedGuard,
  unknownGuard,
  unsatisfiedGuard,
} from './guards/guard.ts'
import { evaluateGuard, guardNeeds } from './guards/guard-kinds.ts'
import { transitionsFor } from './transitions.ts'

/** A guard that blocks: it is not satisfied, or it is under `not` and satisfied. */
export interface MissingGuard {
  readonly name: string
  readonly description: string
  /** `unknown`: its evidence was not measured. It blocks too. */
  readonly status: Exclude<GuardStatus, 'holds'>
  readonly reason: string
  readonly fix: string
}

interface ExpressionResult {
  readonly status: GuardStatus
  /** The guards that block; none if the expression holds. */
  readonly missing: readonly MissingGuard[]
}

type GuardEvaluator = (guard: NamedGuard) => GuardResult

/** Evaluates guards by evidence. Assumed guards hold without it. */
export function createGuardEvaluator(evidence: Evidence, assumed: readonly string[] = []): GuardEvaluator {
  return ({ name, guard, hint }) => {
    if (assumed.includes(`not ${name}`))
      return unsatisfiedGuard('assumed to fail', hint ?? 'Assume that it is satisfied.')
    if (isAssumed(name, assumed)) return satisfiedGuard('assumed')
    if (guard.type === 'artifact' && isAssumed(guard.artifactType, assumed)) {
      return satisfiedGuard(`"${guard.artifactType}" is assumed`)
    }
    const guardResult = evaluateGuard(guard, evidence)
    return guardResult.status === 'holds' ? guardResult : { ...guardResult, fix: hint ?? guardResult.fix }
  }
}

export function isAssumed(name: string, assumed: readonly string[]): boolean {
  return assumed.includes(name) || assumed.includes('*')
}

/**
 * Evaluates an expression of guards, and lists the guards that block. Kleene's three-valued logic: `not unknown` is
 * unknown; `any` holds if one part holds, `all` fails if one part fails; otherwise an unknown part makes them unknown.
 */
export function judgeExpression(
  expression: GuardExpression,
  definition: ProcessDefinition,
  judge: GuardEvaluator,
): ExpressionResult {
  if (typeof expression === 'string') return judgeName(expression, definition, judge)
  if ('all' in expression) {
    const parts = expression.all.map((part) => judgeExpression(part, definition, judge))
    return joinJudgements(parts, { decisive: 'fails', otherwise: 'holds' })
  }
  if ('any' in expression) {
    const parts = expression.any.map((part) => judgeExpression(part, definition, judge))
    return joinJudgements(parts, { decisive: 'holds', otherwise: 'fails' })
  }
  const inner = judgeExpression(expression.not, definition, judge)
  if (inner.status === 'fails') return { status: 'holds', missing: [] }
  return negateJudgement(expressionWords(expression.not), inner)
}

/** The result of `not` for an expression that holds or is unknown. */
function negateJudgement(words: string, { status, missing }: ExpressionResult): ExpressionResult {
  const negated = { name: `not ${words}`, description: '' }
  if (status === 'holds') {
    const reason = `${words} is satisfied, but must not be`
    return { status: 'fails', missing: [{ ...negated, status: 'fails', reason, fix: 'Send another event.' }] }
  }
  const open = missing.filter((guard) => guard.status === 'unknown')
  const reason = `${words} is unknown: ${open.map((guard) => guard.reason).join('; ')}`
  const fix = [...new Set(open.map((guard) => guard.fix))].join(' ')
  return { status: 'unknown', missing: [{ ...negated, status: 'unknown', reason, fix }] }
}

/** `all of a, b`, for people. */
export function expressionWords(expression: GuardExpression): string {
  if (typeof expression === 'string') return expression
  if ('all' in expression) return `all of (${expression.all.map(expressionWords).join(', ')})`
  if ('any' in expression) return `any of (${expression.any.map(expressionWords).join(', ')})`
  return `not ${expressionWords(expression.not)}`
}

/** Whether an expression holds without each of its guards. */
export function hasAlternatives(expression: GuardExpression | null): boolean {
  if (expression === null || typeof expression === 'string') return false
  if ('not' in expression) return hasAlternatives(expression.not)
  return 'any' in expression || expression.all.some(hasAlternatives)
}

/** The names of the guards in an expression. */
export function guardNames(expression: GuardExpression | null): readonly string[] {
  if (expression === null) return []
  if (typeof expression === 'string') return [expression]
  if ('all' in expression) return expression.all.flatMap(guardNames)
  if ('any' in expression) return expression.any.flatMap(guardNames)
  return guardNames(expression.not)
}

/** The guards under `not` in an expression. */
export function negatedNames(expression: GuardExpression | null, isNegated = false): readonly string[] {
  if (expression === null) return []
  if (typeof expression === 'string') return isNegated ? [expression] : []
  if ('not' in expression) return negatedNames(expression.not, !isNegated)
  const parts = 'all' in expression ? expression.all : expression.any
  return parts.flatMap((part) => negatedNames(part, isNegated))
}

function judgeName(name: string, { guards }: ProcessDefinition, judge: GuardEvaluator): ExpressionResult {
  const guard = guards.find((candidate) => candidate.name === name)
  // An unknown guard blocks; lint reports it.
  const { status, reason, fix } = guard ? judge(guard) : noSuchGuard
  if (status === 'holds') return { status, missing: [] }
  return { status, missing: [{ name, description: guard?.description ?? '', status, reason, fix }] }
}

/** Blocks both as a guard and under `not`. */
export const noSuchGuard: GuardResult = unknownGuard(
  'there is no such guard',
  'Fix the process: waymark process lint',
)

function joinJudgements(
  parts: readonly ExpressionResult[],
  { decisive, otherwise }: { readonly decisive: GuardStatus; readonly otherwise: GuardStatus },
): ExpressionResult {
  if (parts.length === 0)
    return { status: 'unknown', missing: [{ ...noSuchGuard, status: 'unknown', name: '', description: '' }] }
  const truths = parts.map(({ status }) => status)
  const status = truths.includes(decisive) ? decisive : truths.includes('unknown') ? 'unknown' : otherwise
  return {
    status,
    missing: status === 'holds' ? [] : distinctGuards(parts.flatMap(({ missing }) => missing)),
  }
}

function distinctGuards(missing: readonly MissingGuard[]): readonly MissingGuard[] {
  return missing.filter(({ name }, index) => missing.findIndex((other) => other.name === name) === index)
}

/** The evidence needed to decide an event in a state; default: all events. */
export function needsOfState(
  definition: ProcessDefinition,
  state: string,
  event?: string,
): readonly EvidenceNeed[] {
  const guards = guardsOfState(definition, state, event)
  const required = (stateNamed(definition, state)?.requiredArtifacts ?? []).map(
    (type): EvidenceNeed => ({ kind: 'artifacts', type }),
  )
  return [...guards.flatMap(({ guard }) => guardNeeds(guard)), ...required]
}

/** The guards of an event in a state; default: all events. */
export function guardsOfState(
  definition: ProcessDefinition,
  state: string,
  event?: string,
): readonly NamedGuard[] {
  const events = event === undefined ? definition.events.map(({ name }) => name) : [event]
  const names = new Set(
    events
      .flatMap((name) => transitionsFor(definition, state, name))
      .flatMap(({ guard }) => guardNames(guard)),
  )
  return definition.guards.filter(({ name }) => names.has(name))
}

/** The exits that guards of a state require of a command line; `not` inverts them. */
export function expectedExits(
  definition: ProcessDefinition,
  state: string,
  line: string,
): ReadonlySet<'zero' | 'nonzero'> {
  const transitions = definition.events.flatMap(({ name }) => transitionsFor(definition, state, name))
  const names = transitions.flatMap(({ guard }) => (guard === null ? [] : signedNames(guard, true)))
  const ends = names.flatMap(({ name, isMeant }) => {
    const guard = definition.guards.find((each) => each.name === name)?.guard
    if (guard?.type !== 'command' || guard.run !== line) return []
    return [(guard.exit === 'nonzero') === isMeant ? ('nonzero' as const) : ('zero' as const)]
  })
  return new Set(ends)
}

function signedNames(
  expression: GuardExpression,
  isMeant: boolean,
): readonly { readonly name: string; readonly isMeant: boolean }[] {
  if (typeof expression === 'string') return [{ name: expression, isMeant }]
  if ('not' in expression) return signedNames(expression.not, !isMeant)
  const parts = 'all' in expression ? expression.all : expression.any
  return parts.flatMap((part) => signedNames(part, isMeant))
}

/** The command guards of an event in a state, each line once. */
export function commandsFor(
  definition: ProcessDefinition,
  state: string,
  event?: string,
): readonly CommandGuard[] {
  const lines = needsOfState(definition, state, event).flatMap((need) =>
    need.kind === 'command' ? [need.run] : [],
  )
  const variants = [...new Set(lines)].flatMap((line) => [{ line }, { line, by: 'runner' as const }])
  return variants.flatMap(({ line, ...by }) => {
    const guards = definition.guards.flatMap(({ guard }) =>
      guard.type === 'command' && guard.run === line && guard.reportedBy === ('by' in by ? by.by : undefined)
        ? [guard]
        : [],
    )
    const [first] = guards
    // One question per line, with the pinned files of all its guards.
    return first ? [{ ...first, pinned: [...new Set(guards.flatMap(({ pinned }) => pinned))] }] : []
  })
}
