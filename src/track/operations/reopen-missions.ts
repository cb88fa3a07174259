import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { contextProblems } from '../../gate/domain/engine.ts'
import { startRun } from '../../gate/domain/lifecycle.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import type { MissionId, TransactionContext } from '../../kernel/id.ts'
import type { SequencedItem } from '../../kernel/page.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded } from '../domain/mission.ts'
import { reopenIfCompleted } from '../domain/phase-placement.ts'
import type { Task } from '../domain/task.ts'

/**
 * A person wants these tasks done again: their phases and missions that have ended go on. The gate of such a mission has
 * let it pass already, so each of its processes begins anew.
 */
export async function reopenMissions(
  reads: Reads,
  tasks: readonly Pick<Task, 'missionId' | 'phaseId' | 'resolution'>[],
  author: string,
  setting: TransactionContext,
): Promise<{ readonly events: readonly NewProjectEvent[]; readonly notes: readonly string[] }> {
  const wanted = tasks.filter(({ resolution }) => resolution !== 'dropped')
  const phaseIds = [...new Set(wanted.flatMap(({ phaseId }) => phaseId ?? []))]
  const phases = await Promise.all(phaseIds.map((id) => reads.plan.phase(id)))
  const found = await reads.missions.withIds([...new Set(wanted.flatMap(({ missionId }) => missionId ?? []))])
  const reopened = found.filter(isEnded).map(async ({ id }) => {
    const runs = await newRuns(reads, id, author, setting)
    const gated = runs.map(({ run }) => ` Run ${run.id} of process ${run.process.id} gates it from now on.`)
    return {
      events: [{ kind: 'mission.reopened' as const, missionId: id }, ...runs.flatMap(({ events }) => events)],
      note: `Mission ${id} had ended. It is open again.${gated.join('')}`,
    }
  })
  const missions = await Promise.all(reopened)
  return {
    events: [
      ...phases.flatMap((phase) => (phase === null ? [] : reopenIfCompleted(phase))),
      ...missions.flatMap(({ events }) => events),
    ],
    notes: missions.map(({ note }) => note),
  }
}

const maxRuns = 50

/** For each process whose last run for the mission succeeded another run, with the variables that one began with. */
async function newRuns(reads: Reads, missionId: MissionId, author: string, setting: TransactionContext) {
  const { items } = await reads.runs.list({ missionId }, { limit: maxRuns })
  const last = new Map<string, SequencedItem<RunRecord>>()
  for (const entry of items) {
    const { id } = entry.item.process
    if (entry.item.taskId === null && !last.has(id)) last.set(id, entry)
  }
  const succeeded = [...last.values()].filter(({ item }) => item.status === 'succeeded')
  const started = succeeded.map(async ({ seq, item: run }) => {
    const { hash } = run.process
    const definition = await reads.runs.definition(hash)
    if (definition === null) return []
    const [entry] = await reads.eventLog.since(seq - 1, 1)
    const first = entry?.body.kind === 'run.created' ? entry.body.run.context : {}
    // The process may have changed under the run.
    const context = contextProblems(definition, first).length === 0 ? first : run.context
    return [startRun({ definition, hash, isKept: true, context, missionId, taskId: null, author }, setting)]
  })
  return (await Promise.all(started)).flat()
}
