import { z } from 'zod'
import { approvedFiles, isOfChanges } from '../../gate/domain/approved-content.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { engineRun } from '../../gate/operations/run/evidence.ts'
import { subjectOf } from '../../gate/operations/run/find-run.ts'
import { displayName } from '../../kernel/actor.ts'
import { instantOrNull } from '../../kernel/instant.ts'
import { list, Named, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import { MeasuredShort, measuredSummary } from '../../reports/operations/board.ts'
import type { Reads } from '../../store/ports/store.ts'
import { deniedFiles } from '../../track/domain/claimed-paths.ts'
import { attemptStatuses, type Correction, outcomeAuthorOf } from '../../track/domain/task.ts'
import { claimsWithNoChange } from '../../track/domain/verdict.ts'
import { lastCorrection, VerdictEntry, verdictEntry } from '../../track/operations/attempt-answer.ts'
import { undoneTasks } from '../../track/operations/tree-write.ts'
import type { InboxItem } from '../domain/inbox-item.ts'

import { ChoiceEntry, choiceEntries } from './subject.ts'

const commandEnds = ['passed', 'failed', 'timed_out', 'stopped'] as const

/** The evidence for a decision: the run, its choices, the measurements and the claims. */
export const InboxEvidence = z.object({
  run: z.object({ process_name: z.string(), state: z.string() }).nullable(),
  choices: list(ChoiceEntry),
  /** The last result of each command that was run for it, such as its tests. */
  commands: list(z.object({ run: z.string(), status: z.enum(commandEnds), ended_at: z.string().nullable() })),
  /** The first files of each artifact to approve; none if the run recorded none. */
  artifacts: list(z.object({ type: z.string(), files: strings, total: z.int() })),
  /** The subject of the measured changes to approve. */
  changed: z
    .object({
      mission_id: z.string().nullable(),
      task_id: z.string().nullable(),
      /** The files and lines of the mission, by all attempts; null for a task. */
      total: z
        .object({ files: z.int(), added_lines: z.int().nullable(), deleted_lines: z.int().nullable() })
        .nullable(),
      tasks: list(
        Named.extend({
          /** Null while its last attempt has not ended. */
          measured: MeasuredShort.nullable(),
          /** Who accepted it although it is not proven. */
          accepted_by: z.string().nullable(),
        }),
      ),
    })
    .nullable(),
  agent_name: z.string().nullable(),
  /** The person behind that agent, on a server with people. */
  person: z.string().nullable(),
  attempt_status: z.enum(attemptStatuses).nullable(),
  /** The item is about an attempt that a later one at the task replaced. */
  is_replaced: z.boolean(),
  areas: strings,
  /** With the files and lines of a replaced attempt alone. */
  measured: MeasuredShort.nullable(),
  /** What the measurement says about the claim, with its reasons. */
  verdict: VerdictEntry.nullable(),
  /** The agent's own words about its work. */
  claimed: z.string().nullable(),
  /** What they added last, after the end of the attempt. */
  correction: z.string().nullable(),
  /** Files that those words name and that did not change. */
  unchanged_claims: strings,
  /** Files that the agent says are not its own work, at most 50. */
  not_mine: strings,
  /** The actor who completed the attempt and made these claims. */
  claimed_by: z.string().nullable(),
  claimed_by_person: z.string().nullable(),
})

export async function inboxEvidence(reads: Reads, item: InboxItem): Promise<z.output<typeof InboxEvidence>> {
  const { tasks, runs } = reads
  const { taskId, attemptId, runId } = item
  const run = runId === null ? null : await runs.find(runId)
  // A run is judged by the last work on its task.
  const last = taskId === null ? null : await tasks.lastAttempt(taskId)
  const attempt = attemptId === null ? last : await tasks.attempt(attemptId)
  const end = attempt === null || attempt.status === 'open' ? null : await tasks.end(attempt.id)
  const verdicts = end === null || attempt === null ? [] : await tasks.verdicts(attempt.id)
  const verdict = verdicts.at(-1)?.verdict ?? null
  const isReplaced = attempt !== null && last !== null && attempt.number < last.number
  const [card] = attempt === null || isReplaced ? [] : await tasks.cards([attempt.taskId])
  const measured =
    card?.measured ?? (attempt && (await tasks.measurementTotals([attempt.id])).get(attempt.id))
  const corrections = end === null || attempt === null ? [] : await tasks.corrections(attempt.id)
  const personOf = await peopleBehind(reads, [attempt?.actor, attempt?.completedBy])
  return {
    run: run && { process_name: excerpt(run.process.name, 80), state: run.state },
    choices: await choicesOf(reads, item, run),
    commands: run === null ? [] : await commandResults(reads, run),
    artifacts: await artifactsToApprove(reads, item),
    changed: await changesToApprove(reads, item, run),
    agent_name: attempt === null ? null : displayName(attempt),
    person: personOf(attempt?.actor),
    attempt_status: attempt?.status ?? null,
    is_replaced: isReplaced,
    areas: attempt?.areas ?? [],
    measured: measured ? measuredSummary(measured) : null,
    verdict: verdict && attempt && verdictEntry(verdict, attempt.taskId),
    claimed: end === null ? null : claimedText(end.outcome.summary, corrections),
    correction: lastCorrection(corrections, 600),
    unchanged_claims: end === null ? [] : claimsWithNoChange(end.evidence, verdict),
    not_mine: end === null ? [] : deniedFiles(end.outcome, end.evidence).slice(0, 50),
    claimed_by: attempt === null || end === null ? null : outcomeAuthorOf(attempt),
    claimed_by_person: end === null ? null : personOf(attempt?.completedBy),
  }
}

/** What an agent says of its work, and what it added after the end. */
function claimedText(summary: string, corrections: readonly Correction[]): string {
  const added = lastCorrection(corrections, 200)
  return added === null ? excerpt(summary, 600) : `${excerpt(summary, 400)}\n${added}`
}

/** The possible events of a decision, with their meaning; empty if there is none. */
async function choicesOf({ runs }: Reads, { request }: InboxItem, run: RunRecord | null) {
  if (run === null || request?.kind !== 'decision') return []
  const definition = await runs.definition(run.process.hash)
  if (definition === null) return []
  return choiceEntries(definition, request.state, request.events)
}

async function artifactsToApprove({ runs }: Reads, { request, runId }: InboxItem) {
  if (request?.kind !== 'decision' || runId === null) return []
  const loaded = await runs.load(runId)
  if (loaded === null) return []
  const { definition } = loaded
  const run = engineRun(loaded, new Map())
  const types = request.approvals.flatMap(({ artifact }) =>
    artifact === null || isOfChanges(definition, artifact) ? [] : [artifact],
  )
  return [...new Set(types)].map((type) => {
    const files = approvedFiles(definition, run, type)
    return { type, files: files.slice(0, 5).map(({ path }) => path), total: files.length }
  })
}

const maxCommands = 100

async function commandResults({ runs }: Reads, run: RunRecord) {
  const last = new Map((await runs.commandsOf(run.id, maxCommands)).map((result) => [result.run, result]))
  return [...last.values()].flatMap(({ run: command, status, endedAt }) =>
    status === 'running' ? [] : [{ run: excerpt(command, 200), status, ended_at: instantOrNull(endedAt) }],
  )
}

const maxTasks = 5

/** The subject of the measured changes to approve, to link their diff; null for other items. */
async function changesToApprove(
  { missions, runs, tasks, treeWrites }: Reads,
  { request }: InboxItem,
  run: RunRecord | null,
) {
  if (run === null || request === null || request.kind === 'command') return null
  if (request.kind === 'decision' && !request.approvals.some(({ artifact }) => artifact === 'changes'))
    return null
  const subject = subjectOf(run)
  if (subject === null) return null
  const attempts = await runs.attemptsOf(subject)
  const worked = new Map(
    attempts.flatMap((attempt) =>
      attempt.status === 'abandoned' ? [] : [[attempt.taskId, attempt] as const],
    ),
  )
  const undone = await undoneTasks({ tasks, treeWrites }, worked)
  const ids = [...worked.keys()].filter((id) => !undone.has(id))
  const cards = await tasks.cards(ids.slice(-maxTasks))
  const lines = subject.missionId === null ? null : await missions.lines(subject.missionId)
  return {
    mission_id: subject.missionId,
    task_id: subject.taskId,
    total: lines && { files: lines.files, added_lines: lines.added, deleted_lines: lines.deleted },
    tasks: cards.map(({ task, measured, acceptedBy }) => ({
      id: task.id,
      name: excerpt(task.name, 80),
      measured: measured && measuredSummary(measured),
      accepted_by: acceptedBy,
    })),
  }
}
