import {
  affectedEntities,
  type EntityChange,
  type EntityReference,
} from '../../../events/domain/event-kinds.ts'
import { happenedAt, type ProjectEvent } from '../../../events/domain/project-event.ts'
import { refusalEntry, runEntry } from '../../../gate/operations/run-answer.ts'
import { blockerEntry, inboxItemEntry } from '../../../inbox/operations/item-answer.ts'
import type { InboxItemLine } from '../../../inbox/ports/item-reads.ts'
import { displayName } from '../../../kernel/actor.ts'
import { instant, instantOrNull } from '../../../kernel/instant.ts'
import { peopleBehind } from '../../../people/operations/agent-owners.ts'
import {
  milestoneEntry,
  noteEntry,
  phaseEntry,
  plannedTaskEntry,
} from '../../../plan/operations/plan-answer.ts'
import { sessionEntry, turnEntry } from '../../../sessions/operations/session-answer.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { RecordLocation } from '../../../track/domain/records.ts'
import { missionEntry, taskWordOf } from '../../../track/operations/mission-answer.ts'
import { decisionEntry, issueDetail, progressEntry } from '../../../track/operations/record-answer.ts'
import type { Frame, FrameEntity } from '../client/client.ts'

/** The frames of one log entry, serialized once for all readers. */
export interface ProjectEventFrames {
  readonly seq: number
  readonly frames: readonly Buffer[]
}

/** The frames of consecutive log entries. Each entity is read once, after all of them. */
export async function framesOf(
  projectEvents: readonly ProjectEvent[],
  reads: Reads,
  now: number,
): Promise<readonly ProjectEventFrames[]> {
  const read = cacheReads((of) => readEntity(reads, of, now))
  const written: ProjectEventFrames[] = []
  for (const projectEvent of projectEvents)
    written.push({ seq: projectEvent.seq, frames: await framesOfEvent(projectEvent, read) })
  return written
}

type EntityReader = (of: EntityReference) => Promise<Entity | null>

function cacheReads(read: EntityReader): EntityReader {
  const cache = new Map<string, Promise<Entity | null>>()
  return (of) => {
    if (!('id' in of)) return read(of)
    const key = `${of.kind} ${of.id}`
    const entity = cache.get(key) ?? read(of)
    cache.set(key, entity)
    return entity
  }
}

async function framesOfEvent(projectEvent: ProjectEvent, read: EntityReader): Promise<readonly Buffer[]> {
  const concerns = affectedEntities(projectEvent.body)
  const changes: Pick<Frame, 'event' | 'data'>[] = []
  for (const concern of concerns) {
    if (concern.change === 'touched') continue
    const data = await read(concern.entity)
    if (data) changes.push({ event: eventOf(concern, data.kind === 'workflow'), data })
  }
  // A log entry without remaining entities is sent too, so that no seq is skipped.
  if (changes.length === 0) changes.push({ event: eventOf(concerns[0], false), data: null })
  const { kind, role, channel } = projectEvent.actor
  const name = displayName(projectEvent)
  const happened_at = instant(happenedAt(projectEvent))
  return changes.map(({ event, data }, n) => {
    const frame: Frame = {
      seq: projectEvent.seq,
      n,
      event,
      happened_at,
      actor: { name, kind, role, channel },
      data,
    }
    return Buffer.from(JSON.stringify(frame))
  })
}

const nouns: { readonly [Kind in EntityReference['kind']]?: FrameEntity } = {
  'workflow of task': 'mission',
  'issue of inbox item': 'issue',
  refusal: 'run',
}

/** The event of a frame, such as `task:updated`. A workflow mission is called a workflow. */
function eventOf({ change, entity: { kind } }: EntityChange, isWorkflow: boolean): Frame['event'] {
  const noun = nouns[kind] ?? (kind as FrameEntity) // other names are in the table
  return `${noun === 'mission' && isWorkflow ? 'workflow' : noun}:${change}`
}

type Entity = NonNullable<Frame['data']>

/** An entity in the format of operations. Null if there is none. */
async function readEntity(reads: Reads, of: EntityReference, now: number): Promise<Entity | null> {
  switch (of.kind) {
    case 'mission':
      return missionOf(reads, of.id)
    case 'workflow of task': {
      const task = await reads.tasks.find(of.id)
      const mission = task?.missionId ? await missionOf(reads, task.missionId) : null
      return mission?.kind === 'workflow' ? mission : null
    }
    case 'phase':
      return phaseOf(reads, of.id)
    case 'milestone': {
      const milestone = await reads.plan.milestone(of.id)
      const phase = milestone && (await reads.plan.phase(milestone.phaseId))
      return milestone && milestoneEntry(milestone, phase?.missionId ?? null)
    }
    case 'task':
      return taskOf(reads, of.id, now)
    case 'attempt': // part of its task
      return null
    case 'inbox': {
      const line = await inboxItemLine(reads, of.id)
      return line && inboxItemEntry(line, await peopleBehind(reads, [line.opener]))
    }
    case 'issue of inbox item': {
      const line = await inboxItemLine(reads, of.id)
      return line?.issue ? { ...blockerEntry(line), ...placeOf(line.issue) } : null
    }
    case 'decision':
      return { ...decisionEntry(of.decision), ...placeOf(of.decision) }
    case 'issue':
      return { ...issueDetail(of.issue), ...placeOf(of.issue) }
    case 'progress':
      return { ...progressEntry(of.progress), ...placeOf(of.progress) }
    case 'note':
      return noteEntry(of.note)
    case 'role':
      return { role: of.role }
    case 'run': {
      const run = await reads.runs.find(of.id)
      return run && runEntry(run)
    }
    case 'refusal':
      return refusalEntry(of.refusal)
    case 'process':
      return { process_id: of.process.id, version: of.process.version, name: of.process.name, hash: of.hash }
    case 'command':
      return { command_id: of.id, run_id: of.runId, status: of.status }
    case 'lines':
      return { tree: of.tree, files: of.files }
    case 'setting':
      return { name: of.name, value: of.value }
    case 'member':
      return { person_id: of.id, name: of.name }
    case 'person':
    case 'token':
    case 'session':
      return { id: of.id, name: of.name }
    case 'notification':
      return { id: of.notification, name: of.name }
    case 'captured_session': {
      const line = await reads.capture.session(of.id)
      return line && sessionEntry(line)
    }
    case 'turn': {
      const line = await reads.capture.turn(of.id)
      return line && turnEntry(line)
    }
    case 'review':
      return { review_id: of.id, task_id: of.taskId, mission_id: of.missionId }
    case 'writing':
      return { ended: of.ended }
    case 'project':
      return { project_id: of.id, root: of.root }
  }
}

/** As `list_missions` lists it. */
async function missionOf({ missions }: Reads, id: string) {
  const mission = await missions.find(id)
  const [listed] = mission ? await missions.listings([mission]) : []
  return listed ? missionEntry(listed) : null
}

/** As `taskman_phase_list` lists it, and which phase of which mission it is. */
async function phaseOf({ plan }: Reads, id: string): Promise<Entity | null> {
  const phase = await plan.phase(id)
  if (!phase) return null
  return {
    ...phaseEntry(phase),
    phase_number: phase.number,
    created_at: instant(phase.createdAt),
    completed_at: instantOrNull(phase.completedAt),
  }
}

/** As `taskman_task_get` answers it, with what `get_context` tells of its last attempt. */
async function taskOf({ plan, tasks }: Reads, id: string, now: number): Promise<Entity | null> {
  const planned = await plan.task(id)
  if (!planned) return null
  const { task } = planned
  const attempt = await tasks.lastAttempt(task.id)
  const end = attempt && attempt.status !== 'open' ? await tasks.end(attempt.id) : null
  return {
    ...plannedTaskEntry(planned, now),
    mission_id: task.missionId,
    parent_task_id: task.parentTaskId,
    outcome: taskWordOf(task, attempt),
    attempt: attempt && {
      attempt_id: attempt.id,
      number: attempt.number,
      status: attempt.status,
      mission_id: attempt.missionId,
      phase_id: attempt.phaseId,
      agent_name: attempt.agentName,
      caller_type: attempt.callerType,
      started_at: instant(attempt.openedAt),
      completed_at: instantOrNull(attempt.closedAt),
      files_changed: end?.counts ?? null,
      scope_match: end?.evidence.scope.matches ?? null,
    },
  }
}

async function inboxItemLine({ inboxItems, records }: Reads, id: string): Promise<InboxItemLine | null> {
  const item = await inboxItems.find(id)
  if (!item) return null
  const issue = item.issueId === null ? null : await records.issue(item.issueId)
  return { item, issue, opener: await inboxItems.opener(item.id) }
}

function placeOf({ missionId, phaseId, taskId, attemptId, agentName }: RecordLocation): Entity {
  return {
    mission_id: missionId,
    phase_id: phaseId,
    task_id: taskId,
    attempt_id: attemptId,
    agent_name: agentName,
  }
}
