import type { MissionId, TaskId } from '../../../kernel/id.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { completedSince } from '../../../track/domain/task.ts'
import { isReturn } from '../../domain/decisions.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { RunRecord } from '../../domain/run.ts'
import { subjectOf } from './find-run.ts'

/** The last move, if a person's words sent the run back and no task was done since. */
export async function sentBackBy({ runs }: Reads, record: RunRecord, definition: ProcessDefinition) {
  const last = await runs.eventAt(record.id, record.revision)
  if (last === null || !isReturn(definition, last)) return null
  const subject = subjectOf(record)
  const attempts = subject === null ? [] : await runs.attemptsOf(subject)
  if (completedSince(attempts, last.createdAt).length > 0) return null
  const { reason } = last.payload
  const words = typeof reason === 'string' ? excerpt(reason, 300) : null
  return { author: last.author, reason: words, at: last.createdAt }
}

const maxRuns = 20

/** The first active run about a task or a mission, or of any, that a person sent back. */
export async function sentBackRun(
  reads: Reads,
  about: { readonly taskId?: TaskId; readonly missionId?: MissionId },
) {
  const { items } = await reads.runs.list({ status: 'active', ...about }, { limit: maxRuns })
  for (const { item: run } of items) {
    // A run about a mission's task is not about the mission.
    if (about.taskId === undefined && (run.missionId === null || run.taskId !== null)) continue
    const definition = await reads.runs.definition(run.process.hash)
    const back = definition && (await sentBackBy(reads, run, definition))
    if (back) return { run, ...back }
  }
  return null
}

/** Says which run of a mission, or of any, a person sent back; empty if there is none. */
export async function sentBackRunText(
  reads: Reads,
  missionId: MissionId | null,
  isPerson: boolean,
): Promise<string> {
  const back = await sentBackRun(reads, missionId === null ? {} : { missionId })
  if (back === null) return ''
  const { run, author, reason } = back
  const why = reason === null ? '' : `: “${reason}”`
  const next = isPerson ? `waymark run show ${run.id}` : `state_gate_get_state { run_id: "${run.id}" }`
  return `${author} sent ${run.process.name} of mission ${run.missionId} back to "${run.state}"${why}. Next: ${next}`
}
