import type { GuardExpression, NamedGuard, ProcessDefinition } from './definition.ts'
import type { Evidence } from './evidence.ts'
import type { Verdict } from './guards/guard.ts'
import { evaluateGuard } from './guards/guard-kinds.ts'

/** A guard that is not satisfied, or one that is and must not be. */
export interface MissingGuard {
  readonly name: string
  readonly description: string
  readonly reason: string
  readonly fix: string
}

export interface Judgement {
  readonly satisfied: boolean
  /** The single guards that stand in the way; none when it is satisfied. */
  readonly missing: readonly MissingGuard[]
}

export type Judge = (guard: NamedGuard) => Verdict

/** A judge over evidence. What is assumed holds without it. */
export function judgeOver(evidence: Evidence, assumed: readonly string[] = []): Judge {
  return ({ name, guard, hint }) => {
    if (isAssumed(name, assumed)) return { satisfied: true, reason: 'assumed', fix: '' }
    if (guard.type === 'artifact' && isAssumed(guard.artifactType, assumed)) {
      return { satisfied: true, reason: `"${guard.artifactType}" is assumed`, fix: '' }
    }
    const verdict = evaluateGuard(guard, evidence)
    return verdict.satisfied ? verdict : { ...verdict, fix: hint ?? verdict.fix }
  }
}

export function isAssumed(name: string, assumed: readonly string[]): boolean {
  return assumed.includes(name) || assumed.includes('*')
}

/** Whether an expression of guards holds, and which guards stand in its way. */
export function judgeExpression(
  expression: GuardExpression,
  definition: ProcessDefinition,
  judge: Judge,
): Judgement {
  if (typeof expression === 'string') return judgeName(expression, definition, judge)
  if ('all' in expression) {
    const parts = expression.all.map((part) => judgeExpression(part, definition, judge))
    return joined(
      parts,
      parts.every(({ satisfied }) => satisfied),
    )
  }
  if ('any' in expression) {
    const parts = expression.any.map((part) => judgeExpression(part, definition, judge))
    return joined(
      parts,
      parts.some(({ satisfied }) => satisfied),
    )
  }
  const inner = judgeExpression(expression.not, definition, judge)
  if (!inner.satisfied) return { satisfied: true, missing: [] }
  const name = `not ${expressionWords(expression.not)}`
  const reason = `${expressionWords(expression.not)} holds, and must not`
  return { satisfied: false, missing: [{ name, description: '', reason, fix: 'Take another way.' }] }
}

/** `all of a, b`, for people. */
export function expressionWords(expression: GuardExpression): string {
  if (typeof expression === 'string') return expression
  if ('all' in expression) return `all of (${expression.all.map(expressionWords).join(', ')})`
  if ('any' in expression) return `any of (${expression.any.map(expressionWords).join(', ')})`
  return `not ${expressionWords(expression.not)}`
}

/** The names of the guards in an expression. */
export function guardNames(expression: GuardExpression | null): readonly string[] {
  if (expression === null) return []
  if (typeof expression === 'string') return [expression]
  if ('all' in expression) return expression.all.flatMap(guardNames)
  if ('any' in expression) return expression.any.flatMap(guardNames)
  return guardNames(expression.not)
}

function judgeName(name: string, { guards }: ProcessDefinition, judge: Judge): Judgement {
  const guard = guards.find((candidate) => candidate.name === name)
  // A reference that leads nowhere closes the gate; lint reports it.
  const verdict = guard
    ? judge(guard)
    : { satisfied: false, reason: 'there is no such guard', fix: 'Mend the process: waymark process lint.' }
  if (verdict.satisfied) return { satisfied: true, missing: [] }
  const { reason, fix } = verdict
  return { satisfied: false, missing: [{ name, description: guard?.description ?? '', reason, fix }] }
}

function joined(parts: readonly Judgement[], satisfied: boolean): Judgement {
  return { satisfied, missing: satisfied ? [] : distinct(parts.flatMap(({ missing }) => missing)) }
}

function distinct(missing: readonly MissingGuard[]): readonly MissingGuard[] {
  return missing.filter(({ name }, at) => missing.findIndex((other) => other.name === name) === at)
}
