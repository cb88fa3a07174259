import { candidates } from '../../domain/gate/candidates.ts'
import type { Evidence } from '../../domain/gate/evidence.ts'
import { guardNames } from '../../domain/gate/expression.ts'
import { evaluateGuard } from '../../domain/gate/guards/guard-kinds.ts'
import { endDecisions } from '../../domain/gate/run-holds.ts'
import type { LoadedRun } from '../../ports/reads/run-reads.ts'
import type { Handling } from '../context.ts'
import { alreadySaid, type GivenApproval, giveApprovals } from '../run/approvals.ts'
import { engineRun, factsFor } from '../run/evidence/facts.ts'
import { moverOf } from '../run/evidence/mover.ts'
import { gatherOutside } from '../run/evidence/outside.ts'
import { loadRun } from '../run/find-run.ts'

/** Gives approvals that guards of an agent's event ask for: the run moves when the agent emits it. */
export async function approveOnly(
  handling: Handling,
  before: LoadedRun,
  approvals: readonly GivenApproval[],
) {
  const { clock, fingerprint, commandRunner } = handling
  const outside = await gatherOutside(handling, before, undefined)
  return handling.record(async (reads, setting) => {
    const loaded = await loadRun(reads, before.record.id)
    const run = engineRun(loaded, outside.standings)
    const isAlive = (runner: string) => commandRunner.isAlive(runner)
    const facts = await factsFor(
      { reads, outside, fingerprint, now: clock.now(), by: handling.actor, isAlive },
      loaded,
    )
    const mover = await moverOf(reads, loaded)
    const known = await reads.runs.approvals(loaded.record.id)
    const given = giveApprovals({ loaded, run, outside, handling, mover, known }, approvals, setting)
    const evidence: Evidence = {
      dialect: loaded.definition.dialect,
      context: run.context,
      payload: {},
      artifacts: run.artifacts,
      declared: loaded.definition.artifacts,
      visits: run.visits,
      facts: { ...facts, approvals: [...facts.approvals, ...given.facts] },
    }
    const missing = missingApprovals(loaded, evidence)
    const holds = await reads.holds.ofRun(loaded.record.id)
    const done = missing.length === 0 ? endDecisions(holds, `approved by ${handling.actor.name}`) : []
    return {
      happenings: [...given.happenings, ...done],
      answer: {
        run_id: loaded.record.id,
        decided: missing.length === 0,
        approvals: approvals.map(({ role, of }) => ({ role, of })),
        still_missing: missing,
        ...alreadySaid(given.already),
      },
    }
  })
}

function missingApprovals({ definition, record }: LoadedRun, evidence: Evidence): readonly string[] {
  const named = new Set(
    definition.events
      .flatMap(({ name }) => candidates(definition, record.state, name))
      .flatMap(({ guard }) => guardNames(guard)),
  )
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'approval' || !named.has(name)) return []
    const verdict = evaluateGuard(guard, evidence)
    return verdict.truth === 'holds' ? [] : [`${name}: ${verdict.reason}`]
  })
}
