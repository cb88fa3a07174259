import type { JsonObject } from '../../../kernel/json.ts'
import { sentBackInMission, sentBackOf } from '../../../review/operations/sent-back.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { interpolatePrompt, type ProcessDefinition, stateNamed } from '../../domain/definition.ts'
import type { RunRecord } from '../../domain/run.ts'
import { promptWithWords, type RunRemark } from './remarks.ts'

/** The prompt of a run's state, with the words of people; null if the state has none. */
export async function statePrompt(
  reads: Reads,
  {
    record,
    definition,
    remarks,
  }: {
    readonly record: RunRecord
    readonly definition: ProcessDefinition
    readonly remarks: readonly RunRemark[]
  },
): Promise<string | null> {
  const written = stateNamed(definition, record.state)?.prompt ?? null
  const prompt =
    written && interpolatePrompt(written, definition.dialect, await contextWithReason(reads, record, written))
  return promptWithWords(prompt, record.state, remarks)
}

/** Where no event of the run gave a reason, the one with which a person last sent back a task. */
async function contextWithReason(
  reads: Reads,
  { context, taskId, missionId }: RunRecord,
  written: string,
): Promise<JsonObject> {
  if (context['reason'] != null || !written.includes('context.reason')) return context
  const returns =
    taskId !== null
      ? new Map([[taskId, await sentBackOf(reads, taskId)]])
      : missionId === null
        ? new Map()
        : await sentBackInMission(reads, missionId)
  const [last] = [...returns]
    .flatMap(([id, back]) => (back?.text ? [{ ...back, id }] : []))
    .toSorted((a, b) => b.at - a.at)
  return last === undefined
    ? context
    : { ...context, reason: `${last.author} sent task ${last.id} back: ${last.text}` }
}
