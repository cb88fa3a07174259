import { shellCommand } from '../../../kernel/shell-word.ts'
import { formatCount } from '../../../kernel/text.ts'
import type { ObservedCi } from '../evidence.ts'
import { type GuardKind, type GuardResult, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface CiGuard {
  readonly type: 'ci'
  /** Names of checks, all of which must have succeeded. */
  readonly checks: readonly string[]
  /** What a result must be for: the work tree's current content, or its commit. */
  readonly target: 'tree' | 'commit'
  /** Milliseconds; null for any age. */
  readonly maxAge: number | null
}

/** Results that a runner of CI submitted with its token. Nobody else's word counts. */
export const ci: GuardKind<CiGuard> = {
  needs: ({ checks, target }) => checks.map((check) => ({ kind: 'ci', check, target })),
  evaluate: (guard, { observed }) => {
    const guardResults = guard.checks.map((check) => {
      const result = observed.ci.find((one) => one.check === check && one.target === guard.target)
      return guardResultOf(guard, check, result)
    })
    if (guardResults.length === 0)
      return unknownGuard('no check is named', 'Fix the process: waymark process lint')
    const worst =
      guardResults.find(({ status }) => status === 'fails') ??
      guardResults.find(({ status }) => status === 'unknown')
    return worst ?? satisfiedGuard(`CI passed ${guard.checks.join(', ')} on this ${guard.target}`)
  },
}

function guardResultOf(
  { target, maxAge }: CiGuard,
  check: string,
  result: ObservedCi | undefined,
): GuardResult {
  const instructions = `Run it in CI on this ${target} and report the result: ${shellCommand`waymark ci report --check ${check}`}`
  if (!result || result.status === 'none')
    return unknownGuard(`no runner has reported a result of "${check}"`, instructions)
  if (!result.isOfThis) {
    return unknownGuard(
      `the last result of "${check}" is for ${result.commit ?? 'others'}, not for the ${target} of the work as it was measured last`,
      instructions,
    )
  }
  if (result.status === 'stopped') return unknownGuard(`"${check}" did not finish in CI`, instructions)
  if (maxAge !== null && result.age > maxAge) {
    return unknownGuard(
      `the result of "${check}" is ${ageWords(result.age)} old; at most ${ageWords(maxAge)} is allowed`,
      instructions,
    )
  }
  if (result.status === 'passed') return satisfiedGuard(`"${check}" passed in CI on this ${target}`)
  return unsatisfiedGuard(
    `"${check}" failed in CI on this ${target}`,
    'Fix what it reports, and run it in CI again.',
  )
}

function ageWords(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes < 60) return formatCount(minutes, 'minute')
  return minutes < 48 * 60
    ? formatCount(Math.round(minutes / 60), 'hour')
    : formatCount(Math.round(minutes / 1440), 'day')
}
