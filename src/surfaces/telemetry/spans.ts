import { createHash } from 'node:crypto'
import type { NewFact } from '../../domain/fact.ts'
import type { FactKind, FactOf } from '../../domain/fact-kinds.ts'
import type { RunEvent, RunRecord, RunStatus } from '../../domain/gate/run.ts'
import type { Decision, Issue, Progress } from '../../domain/track/records.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { AttemptEnd } from '../../ports/reads.ts'
import type { Reads } from '../../ports/store.ts'

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

export interface SpanEvent {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly attributes: Attributes
}

/** Something that ended, as a trace shows it. */
export interface EndedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Null at the root of a trace. */
  readonly parentSpanId: string | null
  readonly name: string
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly status: SpanStatus
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly end: number
}

export type SpanStatus = { readonly is: 'ok' | 'unset' } | { readonly is: 'error'; readonly message: string }

type Offered = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** Attributes without those that have no value. */
function present(offered: Offered): Attributes {
  const pairs = Object.entries(offered).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[key, value] as const],
  )
  return Object.fromEntries(pairs)
}

/** What came to its end with a fact: only then its span is complete. */
export type Ending =
  | { readonly of: 'attempt'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'phase'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'mission'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'run'; readonly id: string; readonly status: SpanStatus }

export function endingOf(fact: NewFact): Ending | null {
  const ending = endings[fact.kind] as ((fact: NewFact) => Ending | null) | undefined // the row of its own kind
  return ending?.(fact) ?? null
}

const endings: { readonly [Kind in FactKind]?: (fact: FactOf<Kind>) => Ending | null } = {
  'attempt.closed': ({ attemptId: id, status, outcome }) => ({
    of: 'attempt',
    id,
    status: status === 'failed' ? failed(outcome.summary) : { is: 'ok' },
  }),
  'attempt.abandoned': ({ attemptId: id, reason }) => ({ of: 'attempt', id, status: failed(reason) }),
  'phase.completed': ({ phaseId: id, missionId }) =>
    missionId === null ? null : { of: 'phase', id, status: { is: 'ok' } },
  'mission.ended': ({ missionId: id, status, summary }) => ({
    of: 'mission',
    id,
    status:
      status === 'failed'
        ? failed(summary ?? 'The mission failed.')
        : { is: status === 'completed' ? 'ok' : 'unset' },
  }),
  'run.advanced': ({ runId, status }) => runEnding(runId, status),
  'run.migrated': ({ runId, status }) => runEnding(runId, status),
  'run.cancelled': ({ runId: id, event }) => ({ of: 'run', id, status: failed(event.event) }),
}

function runEnding(id: string, status: RunStatus): Ending | null {
  if (status === 'active') return null
  const ended = status === 'succeeded' ? ({ is: 'ok' } as const) : failed('The run ended in a failed state.')
  return { of: 'run', id, status: ended }
}

function failed(message: string): SpanStatus {
  return { is: 'error', message: message.slice(0, 500) }
}

/** The span of what ended, from the record. Null where the record has nothing of it. */
export async function readSpan(reads: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  switch (ending.of) {
    case 'attempt':
      return attemptSpan(reads, ending, at)
    case 'phase':
      return phaseSpan(reads, ending, at)
    case 'mission':
      return missionSpan(reads, ending, at)
    case 'run':
      return runSpan(reads, ending, at)
  }
}

async function missionSpan({ missions }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const mission = await missions.find(ending.id)
  if (!mission) return null
  const totals = await missions.totals(mission.id)
  return {
    traceId: traceIdOf('mission', mission.id),
    spanId: spanIdOf('mission', mission.id),
    parentSpanId: null,
    name: `${mission.kind} ${mission.name}`,
    attributes: present({
      'waymark.mission.id': mission.id,
      'waymark.mission.kind': mission.kind,
      'waymark.mission.name': mission.name,
      'waymark.mission.objective': mission.objective,
      'waymark.mission.profile': mission.profile,
      'waymark.mission.status': mission.status,
      'waymark.mission.summary': mission.summary,
      'waymark.mission.tasks': totals.tasksWithAttempt,
      'waymark.mission.files_changed': totals.distinctFilesChanged,
      'gen_ai.usage.input_tokens': totals.tokensInput,
      'gen_ai.usage.output_tokens': totals.tokensOutput,
    }),
    events: [],
    status: ending.status,
    start: mission.createdAt,
    end: at,
  }
}

async function phaseSpan({ plan }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const phase = await plan.phase(ending.id)
  if (!phase?.missionId) return null
  return {
    traceId: traceIdOf('mission', phase.missionId),
    spanId: spanIdOf('phase', phase.id),
    parentSpanId: spanIdOf('mission', phase.missionId),
    name: `phase ${phase.name}`,
    attributes: present({
      'waymark.phase.id': phase.id,
      'waymark.phase.number': phase.number,
      'waymark.phase.name': phase.name,
      'waymark.mission.id': phase.missionId,
    }),
    events: [],
    status: ending.status,
    start: phase.createdAt,
    end: at,
  }
}

const mostPaths = 20

/** One attempt at a task: what was measured, what was claimed, what was said meanwhile. */
async function attemptSpan(reads: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const attempt = await reads.tasks.attempt(ending.id)
  const task = attempt && (await reads.tasks.find(attempt.taskId))
  if (!attempt || !task) return null
  const end = await reads.tasks.end(attempt.id)
  return {
    traceId: await traceOfAttempt(reads, attempt),
    spanId: spanIdOf('attempt', attempt.id),
    parentSpanId: await parentOf(reads, attempt, task),
    name: `task ${task.name}`,
    attributes: { ...whoAndWhat(attempt, task), ...(end && measuredAndClaimed(end)) },
    events: await saidDuring(reads, attempt),
    status: ending.status,
    start: attempt.openedAt,
    end: at,
  }
}

/** The mission's; outside a mission that of the task, or of the task which it is a part of. */
async function traceOfAttempt({ tasks }: Reads, { missionId, taskId }: Attempt): Promise<string> {
  if (missionId !== null) return traceIdOf('mission', missionId)
  const ancestors = await tasks.ancestors(taskId)
  return traceIdOf('task', ancestors.at(-1) ?? taskId)
}

/** A subtask belongs to the attempt that its parent was at when it began. */
async function parentOf({ tasks }: Reads, attempt: Attempt, task: Task): Promise<string | null> {
  const above = task.parentTaskId === null ? [] : await tasks.attempts(task.parentTaskId)
  const parent = above.findLast(
    ({ openedAt, missionId }) => openedAt <= attempt.openedAt && missionId === attempt.missionId,
  )
  if (parent) return spanIdOf('attempt', parent.id)
  if (attempt.missionId === null) return null
  return attempt.phaseId === null
    ? spanIdOf('mission', attempt.missionId)
    : spanIdOf('phase', attempt.phaseId)
}

function whoAndWhat(attempt: Attempt, task: Task): Attributes {
  return present({
    'waymark.task.id': task.id,
    'waymark.task.name': task.name,
    'waymark.task.areas': attempt.areas,
    'waymark.attempt.id': attempt.id,
    'waymark.attempt.number': attempt.number,
    'waymark.attempt.status': attempt.status,
    'waymark.mission.id': attempt.missionId,
    'waymark.phase.id': attempt.phaseId,
    'waymark.actor.name': attempt.actor.name,
    'waymark.actor.kind': attempt.actor.kind,
    'waymark.actor.channel': attempt.actor.channel,
    'waymark.caller.type': attempt.callerType,
    'gen_ai.agent.name': attempt.agentName,
  })
}

function measuredAndClaimed({ evidence, outcome, counts }: AttemptEnd): Attributes {
  return present({
    'waymark.verification.status': evidence.verification,
    'waymark.scope.match': evidence.scope.matches,
    'waymark.scope.unexpected': evidence.scope.unexpected.slice(0, mostPaths),
    'waymark.files.added': counts.added,
    'waymark.files.modified': counts.modified,
    'waymark.files.deleted': counts.deleted,
    'waymark.files.renamed': counts.renamed,
    'waymark.claim.summary': outcome.summary,
    'waymark.claim.tests': outcome.testsStatus,
    'gen_ai.usage.input_tokens': outcome.tokensInput,
    'gen_ai.usage.output_tokens': outcome.tokensOutput,
  })
}

/** Of a run's moves, the last ones. */
const mostMoves = 200

/** A run of a process, in the trace of the mission or task that it gates: its moves are events. */
async function runSpan({ runs, tasks }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const run = await runs.find(ending.id)
  if (!run) return null
  const task = run.taskId === null ? null : await tasks.find(run.taskId)
  const missionId = run.missionId ?? task?.missionId ?? null
  const { items } = await runs.history(run.id, { limit: mostMoves })
  return {
    traceId: traceOfRun(run, missionId),
    spanId: spanIdOf('run', run.id),
    parentSpanId: missionId === null ? null : spanIdOf('mission', missionId),
    name: `run ${run.process.name}`,
    attributes: present({
      'waymark.run.id': run.id,
      'waymark.run.status': run.status,
      'waymark.run.state': run.state,
      'waymark.run.revision': run.revision,
      'waymark.process.id': run.process.id,
      'waymark.process.version': run.process.version,
      'waymark.mission.id': missionId,
      'waymark.task.id': run.taskId,
    }),
    events: items.map(({ item }) => moveEvent(item)).reverse(),
    status: ending.status,
    start: run.createdAt,
    end: at,
  }
}

function traceOfRun(run: RunRecord, missionId: string | null): string {
  if (missionId !== null) return traceIdOf('mission', missionId)
  return run.taskId === null ? traceIdOf('run', run.id) : traceIdOf('task', run.taskId)
}

function moveEvent({ event, from, to, revision, role, by, at }: RunEvent): SpanEvent {
  return {
    name: event,
    at,
    attributes: present({
      'waymark.run.from': from,
      'waymark.run.to': to,
      'waymark.run.revision': revision,
      'waymark.actor.role': role,
      'waymark.actor.name': by,
    }),
  }
}

/** Of each kind, the last ones. */
const mostOfEach = 100

/** What was said during an attempt, in order. */
async function saidDuring({ records }: Reads, attempt: Attempt): Promise<readonly SpanEvent[]> {
  const about = { taskId: attempt.taskId, since: attempt.openedAt }
  const page = { limit: mostOfEach }
  const decisions = await records.decisions(about, page)
  const issues = await records.issues(about, page)
  const progress = await records.progress(about, page)
  const own = ({ item }: { readonly item: { readonly attemptId: string | null } }) =>
    item.attemptId === attempt.id
  return [
    ...decisions.items.filter(own).map(({ seq, item }) => ({ seq, event: decisionEvent(item) })),
    ...issues.items.filter(own).map(({ seq, item }) => ({ seq, event: issueEvent(item) })),
    ...progress.items.filter(own).map(({ seq, item }) => ({ seq, event: progressEvent(item) })),
  ]
    .sort((a, b) => a.seq - b.seq)
    .map(({ event }) => event)
}

function decisionEvent(decision: Decision): SpanEvent {
  return {
    name: 'decision',
    at: decision.createdAt,
    attributes: present({
      'waymark.decision.id': decision.id,
      'waymark.decision.category': decision.category,
      'waymark.decision.question': decision.question,
      'waymark.decision.chosen': decision.chosen,
      'waymark.decision.reasoning': decision.reasoning,
    }),
  }
}

function issueEvent(issue: Issue): SpanEvent {
  return {
    name: 'issue',
    at: issue.createdAt,
    attributes: present({
      'waymark.issue.id': issue.id,
      'waymark.issue.type': issue.type,
      'waymark.issue.description': issue.description,
      'waymark.issue.resolution': issue.resolution,
      'waymark.issue.requires_human_review': issue.requiresHumanReview,
    }),
  }
}

function progressEvent(progress: Progress): SpanEvent {
  return {
    name: 'progress',
    at: progress.createdAt,
    attributes: present({
      'waymark.progress.id': progress.id,
      'waymark.progress.message': progress.message,
      'waymark.progress.percent': progress.progress,
    }),
  }
}

/** What is known of a thing under an id that follows from its name: whoever traces it again continues its trace. */
export type Traced = 'mission' | 'phase' | 'task' | 'attempt' | 'run'

/** 16 bytes in hexadecimal. */
function traceIdOf(what: Traced, id: string): string {
  return digest(`trace ${what} ${id}`).slice(0, 32)
}

/** 8 bytes in hexadecimal. */
function spanIdOf(what: Traced, id: string): string {
  return digest(`span ${what} ${id}`).slice(0, 16)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
