import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { refuseAfterLoss, runEndWords } from '../../gate/domain/gating-run.ts'
import { cancelRun } from '../../gate/domain/lifecycle.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { assertMissionFree } from '../../gate/operations/run/gating.ts'
import { openItemEntry, WaitingEntry } from '../../inbox/operations/item-answer.ts'
import type { InboxItemLine } from '../../inbox/ports/item-reads.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId, TransactionContext } from '../../kernel/id.ts'
import { instant, secondsBetween } from '../../kernel/instant.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { choice, identifier, text, texts } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Page } from '../../kernel/page.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import { commentStatus, type ReviewComment } from '../../review/domain/review.ts'
import { sentBackInMission } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { endMission as decide, type MissionCompletion } from '../domain/complete-mission.ts'
import { isEnded, type Mission, missionEndings, phaseProgress } from '../domain/mission.ts'
import type { Task } from '../domain/task.ts'
import type { DoubtedTasks } from '../ports/mission-reads.ts'
import { agentItemKinds, readGateSettings } from './completion.ts'
import { leftWork, leftWorkFields } from './mission-answer.ts'
import { askAfterAbandoned } from './task-checks.ts'

export const completeMission = defineOperation({
  name: 'complete_mission',
  tool: 'complete_mission',
  command: 'mission complete',
  synonyms: { workflow_id: 'mission_id', mission: 'mission_id', id: 'mission_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Complete a mission',
  description: 'Finalize a mission and aggregate metrics',
  kind: 'command',
  idempotent: true,
  positional: ['mission_id'],
  input: z.strictObject({
    mission_id: identifier('Mission ID'),
    status: choice(missionEndings, 'Final status', {
      success: 'completed',
      done: 'completed',
      complete: 'completed',
      partial_success: 'partial',
      failure: 'failed',
      fail: 'failed',
    }),
    summary: text('What was accomplished'),
    achievements: texts('Achievements').optional(),
    limitations: texts('Limitations').optional(),
  }),
  output: z.object({
    mission_id: z.string(),
    status: z.enum(missionEndings),
    summary: z.string(),
    achievements: strings,
    limitations: strings,
    metrics: z.object({
      total_phases: z.int(),
      total_tasks: z.int(),
      total_duration_seconds: z.int(),
      total_duration_minutes: z.number(),
      files_changed: z.int(),
      tokens_input: z.int(),
      tokens_output: z.int(),
    }),
    completed_at: z.string(),
    ...leftWorkFields,
    waits_for: list(WaitingEntry),
    warnings: strings,
    /** Done tasks that are contradicted or unproven, and that no person accepted; absent if there are none. */
    doubted: z
      .object({
        contradicted: z.int(),
        unproven: z.int(),
        tasks: list(
          z.object({ task_id: z.string(), name: z.string(), verdict: z.enum(['contradicted', 'unproven']) }),
        ),
        next: z.string(),
      })
      .optional(),
    already_completed: z.literal(true).optional(),
    /** If it was completed as a workflow. */
    workflow_id: z.string().optional(),
  }),
  listedOutput: [
    'mission_id',
    'status',
    'summary',
    'achievements',
    'limitations',
    'metrics',
    'completed_at',
    'waits_for',
    'warnings',
  ],
}).handler((handling, input) =>
  handling.record(async (reads, setting) => {
    const mission = await findMission(reads, input.mission_id)
    const gating = isEnded(mission) ? [] : await reads.runs.gating({ missionId: mission.id })
    if (input.status !== 'failed') await assertMissionFree(reads, mission.id, gating)
    const lost = isEnded(mission) ? [] : await reads.runs.lostRuns({ missionId: mission.id })
    if (input.status === 'completed' && handling.actor.kind === 'agent') {
      const alternative = `Or complete it as partial or failed; a person may complete it as it is: waymark mission complete ${mission.id} --status completed --summary "…".`
      refuseAfterLoss(`mission ${mission.id}`, lost, alternative)
    }
    const closing: MissionCompletion = {
      status: input.status,
      summary: input.summary,
      achievements: input.achievements ?? [],
      limitations: input.limitations ?? [],
    }
    const open = await reads.tasks.openAttempts(mission.id)
    const waiting = await reads.inboxItems.list(
      { missionId: mission.id, kinds: [...agentItemKinds, 'verdict'], status: 'open' },
      { limit: 10 },
    )
    const sentBack = await tasksSentBack(reads, mission.id)
    if (!isEnded(mission) && input.status === 'completed' && (await readGateSettings(reads)).gate === 'all') {
      refuseWhileWaiting(mission, waiting)
      refuseWhileSentBack(mission, sentBack)
    }
    const silent = await reads.inboxItems.list(
      { missionId: mission.id, kinds: ['stale_attempt'], status: 'open' },
      { limit: open.length },
    )
    const items = silent.items.map(({ item }) => item.item)
    const lostRunIds = input.status === 'completed' ? lost.map(({ id }) => id) : []
    const ending = decide(mission, closing, { open, items, lostRunIds })
    const repeat = ending.length === 0
    const unfinished =
      input.status === 'completed' && !repeat ? await unfinishedTasks(reads, mission.id, setting.at) : []
    const isCompleted = input.status === 'completed' && !repeat
    const events = [
      ...(isCompleted ? await finishedPhases(reads, mission.id, unfinished) : []),
      ...ending,
      ...(await askAfterAbandoned(reads, ending, setting)),
      ...(await abandonedAttempts(reads, { mission, gating, author: handling.actor.name }, setting)),
    ]
    const doubted = doubtedEntry(await reads.missions.doubtedTasks(mission.id, maxDoubted))
    const completedAt = repeat ? (mission.completedAt ?? setting.at) : setting.at
    const metrics = await metricsOf(reads, mission, completedAt)
    const comments = repeat ? [] : await reads.reviews.commentsInMission(mission.id)
    return {
      events,
      answerFrom: async (after) => ({
        mission_id: mission.id,
        ...closing,
        summary: excerpt(closing.summary, 1000),
        achievements: excerptNotes(closing.achievements),
        limitations: excerptNotes(closing.limitations),
        metrics,
        completed_at: instant(completedAt),
        ...leftWork(await findMission(after, mission.id), await after.missions.now(mission.id)),
        waits_for: waiting.items.map(({ item }) => openItemEntry(item.item)),
        warnings: [
          ...(waiting.total === 0
            ? []
            : [
                `${waiting.total === 1 ? '1 inbox item still waits' : `${waiting.total} inbox items still wait`} for a person: waymark inbox lists them.`,
              ]),
          ...(sentBack.length === 0 ? [] : [`${endWords[input.status]} ${tasksSentBackText(sentBack)}.`]),
          ...unansweredNotes(mission.id, comments),
          ...unfinishedTasksNotes(unfinished.filter(({ id }) => !sentBack.some((task) => task.id === id))),
          ...(doubted === null ? [] : [doubtedNote(doubted)]),
          ...lost.slice(0, 3).map((run) => `${endWords[input.status]} ${runEndWords(run)}.`),
        ],
        ...(doubted && { doubted }),
        ...(repeat && { already_completed: true as const }),
      }),
    }
  }),
)

/** The end of a mission in spite of, or because of, what did not succeed. */
const endWords = {
  completed: 'Completed although',
  partial: 'Completed as partial:',
  failed: 'Completed as failed:',
} as const satisfies Record<MissionCompletion['status'], string>

/** With `inbox_gate: all` a mission is not completed while it has open inbox items. */
function refuseWhileWaiting(mission: Mission, { items, total }: Page<InboxItemLine>): void {
  if (total === 0) return
  const named = items
    .slice(0, 5)
    .map(({ item: { item } }) => `${item.id} (${item.kind}): ${excerpt(item.reason, 80)}`)
  throw new Failure(
    'REFUSED',
    `Cannot complete ${mission.kind} ${mission.id}: ${total === 1 ? '1 question waits' : `${total} questions wait`} for a person, and this project needs the answers first: ${named.join('; ')}.`,
    {
      reason: 'questions_open',
      hint: hintOf`A person answers: waymark inbox. Wait with ${callTo('get_context', { mission_id: mission.id, include: ['blockers'], wait_seconds: 50 })}, or complete it as partial.`,
      details: { waits_for: items.map(({ item }) => openItemEntry(item.item)) },
    },
  )
}

/** With `inbox_gate: all` sent-back tasks block completion, too. */
function refuseWhileSentBack(mission: Mission, sentBack: readonly Task[]): void {
  if (sentBack.length === 0) return
  throw new Failure(
    'REFUSED',
    `Cannot complete ${mission.kind} ${mission.id}: ${tasksSentBackText(sentBack)}, and this project waits for it.`,
    {
      reason: 'tasks_sent_back',
      hint: hintOf`Start each again with ${callTo('start_task', { planned_task_id: sentBack[0]?.id })}, or complete the mission as partial.`,
    },
  )
}

const maxNamed = 5

/** The tasks that a person sent back, and which are not redone. */
async function tasksSentBack(reads: Reads, missionId: MissionId): Promise<readonly Task[]> {
  const sentBack = await sentBackInMission(reads, missionId)
  const cards = await reads.tasks.cards([...sentBack.keys()])
  return cards.map(({ task }) => task).filter(({ status }) => status !== 'done')
}

function tasksSentBackText(tasks: readonly Task[]): string {
  return `a person sent ${formatCount(tasks.length, 'task')} back, and nobody has redone ${tasks.length === 1 ? 'it' : 'them'}: ${namedTasks(tasks)}`
}

/** Comments of people on the work, of which the agent may not know. */
function unansweredNotes(missionId: MissionId, comments: readonly ReviewComment[]): readonly string[] {
  const open = comments.filter((comment) => commentStatus(comment) === 'open').length
  if (open === 0) return []
  return [
    `${open === 1 ? '1 comment of a review has' : `${open} comments of reviews have`} no answer: get_context { mission_id: "${missionId}" } shows ${open === 1 ? 'it' : 'them'}, and reply_to_review answers.`,
  ]
}

function unfinishedTasksNotes(tasks: readonly Task[]): readonly string[] {
  if (tasks.length === 0) return []
  return [
    `${endWords.completed} ${formatCount(tasks.length, 'task')} ${tasks.length === 1 ? 'is' : 'are'} not done: ${namedTasks(tasks)}.`,
  ]
}

function namedTasks(tasks: readonly Task[]): string {
  const named = tasks.slice(0, maxNamed).map(({ id, name }) => `${id} "${excerpt(name, 60)}"`)
  return `${named.join(', ')}${tasks.length > maxNamed ? ` and ${tasks.length - maxNamed} more` : ''}`
}

const maxDoubted = 3

function doubtedEntry({ contradicted, unproven, tasks }: DoubtedTasks) {
  const [first] = tasks
  if (first === undefined) return null
  return {
    contradicted,
    unproven,
    tasks: tasks.map(({ id, name, verdict }) => ({ task_id: id, name: excerpt(name, 60), verdict })),
    next: first.verdict === 'contradicted' ? `waymark review ${first.id}` : `waymark show ${first.id}`,
  }
}

/** The sentence for people; agents read the data. */
function doubtedNote({ contradicted, unproven, tasks, next }: NonNullable<ReturnType<typeof doubtedEntry>>) {
  const counts = Object.entries({ contradicted, unproven }).flatMap(([verdict, count]) =>
    count === 0 ? [] : [`${count} ${verdict}`],
  )
  const left = contradicted + unproven - tasks.length
  const named = tasks.map(({ task_id, name, verdict }) => `${task_id} "${name}" (${verdict})`)
  return `Done tasks without proof: ${counts.join(', ')}. ${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}. Next: ${next}`
}

const maxLeft = 200

/** The planned tasks that nobody has done. */
async function unfinishedTasks(reads: Reads, owner: MissionId, now: number): Promise<readonly Task[]> {
  const pages = await Promise.all(
    (['in_progress', 'to_do'] as const).map((status) =>
      reads.plan.tasks({ owner, status, now }, { limit: maxLeft }),
    ),
  )
  return pages.flatMap(({ tasks }) => tasks.map(({ task }) => task))
}

/** Phases of which all tasks are done end with the mission: one without planned tasks never ends by itself. */
async function finishedPhases(
  reads: Reads,
  missionId: MissionId,
  unfinished: readonly Task[],
): Promise<readonly NewProjectEvent[]> {
  if (unfinished.length >= maxLeft) return []
  const phases = await reads.missions.phases(missionId)
  return phases.flatMap(({ id, status, hasWork }): readonly NewProjectEvent[] =>
    status === 'in_progress' && hasWork && !unfinished.some(({ phaseId }) => phaseId === id)
      ? [{ kind: 'phase.completed', phaseId: id, missionId }]
      : [],
  )
}

/** A failed mission's runs are canceled with it; those of its tasks continue. */
async function abandonedAttempts(
  reads: Reads,
  {
    mission,
    gating,
    author,
  }: { readonly mission: Mission; readonly gating: readonly RunRecord[]; readonly author: string },
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const own = gating.filter(({ missionId }) => missionId === mission.id)
  const open = await reads.inboxItems.ofRuns(own.map(({ id }) => id))
  return own.flatMap((run) => {
    const items = open.filter(({ runId }) => runId === run.id)
    return cancelRun(run, { items, reason: 'The mission was completed as failed.', author }, setting).events
  })
}

/** Notes, cut for the answer; the record has the whole. */
function excerptNotes(texts: readonly string[]): readonly string[] {
  return texts.slice(0, 10).map((text) => excerpt(text, 300))
}

/** Measured over the whole mission. Token counts are the agents' own, added up. */
async function metricsOf(reads: Reads, mission: Mission, completedAt: number) {
  const [phases, totals] = await Promise.all([
    reads.missions.phases(mission.id),
    reads.missions.totals(mission.id),
  ])
  const seconds = secondsBetween(mission.createdAt, completedAt)
  return {
    total_phases: phaseProgress(mission, phases).total_phases,
    total_tasks: totals.tasks,
    total_duration_seconds: seconds,
    total_duration_minutes: Math.round((seconds / 60) * 10) / 10,
    files_changed: totals.distinctFilesChanged,
    tokens_input: totals.tokensInput,
    tokens_output: totals.tokensOutput,
  }
}
