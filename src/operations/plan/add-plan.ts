import type { PlanDocument } from '../../domain/plan/document/plan-document.ts'
import { type ImportSituation, importPlan, titleKey } from '../../domain/plan/import-plan.ts'
import type { PlanOwner } from '../../domain/plan/plan.ts'
import { nextNumber } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import type { Handling } from '../context.ts'
import { ownerOf } from './find.ts'
import { assertFreeId } from './phase-add.ts'

/** Most tasks that an import is compared with. */
const mostTasks = 500_000

/** Adds a document to a plan, in one transaction. */
export async function addPlan(
  { record, store, actor, clock, ids }: Handling,
  document: PlanDocument,
  request: { readonly mission: string | undefined; readonly dryRun: boolean },
) {
  const by = { creator: actor.name }
  const decided = async (reads: Reads, at: number) => {
    const owner = await ownerOf(reads, request.mission)
    const known = await situationOf(reads, owner, at)
    for (const { key } of document.phases) if (!known.phases.has(key)) await assertFreeId(reads, key)
    const { happenings, ...summary } = importPlan(document, known, {
      setting: { at, ids },
      ...by,
    })
    return { happenings, answer: { ...summary, added: { ...summary.added }, notices: [...summary.notices] } }
  }
  if (request.dryRun) {
    const { answer } = await store.view((reads) => decided(reads, clock.now()))
    return { ...answer, dry_run: true }
  }
  return record((reads, setting) => decided(reads, setting.at))
}

async function situationOf({ plan }: Reads, owner: PlanOwner, now: number): Promise<ImportSituation> {
  const phases = await plan.phases(owner)
  const milestones = await plan.milestones({ owner })
  const tasks = await plan.graph(owner, mostTasks, now)
  return {
    owner,
    phases: new Set<string>(phases.map(({ id }) => id)),
    nextNumber: nextNumber(phases),
    milestones: new Set<string>(milestones.map(({ id }) => id)),
    tasks: new Set<string>(tasks.map(({ id }) => id)),
    titles: new Map(tasks.map(({ id, phaseId, name }) => [titleKey(phaseId, name), id])),
  }
}
