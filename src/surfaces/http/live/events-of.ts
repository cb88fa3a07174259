import type { NewFact } from '../../../domain/fact.ts'
import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import type { RunRefusal } from '../../../domain/gate/run.ts'
import type { RunId, TaskId } from '../../../domain/id.ts'
import type { Note } from '../../../domain/plan/plan.ts'
import type { Decision, Issue, Progress } from '../../../domain/track/records.ts'

/** What a fact does to one entity. A mission's name becomes `workflow:…` where the mission is a workflow. */
export interface LiveEvent {
  readonly event: EventName
  readonly of: EntityReference
}

export type EventName =
  | 'project:created'
  | 'mission:created'
  | 'mission:updated'
  | 'phase:created'
  | 'phase:updated'
  | 'milestone:created'
  | 'milestone:updated'
  | 'task:created'
  | 'task:updated'
  | 'task:claimed'
  | 'decision:created'
  | 'issue:created'
  | 'issue:resolved'
  | 'progress:created'
  | 'note:created'
  | 'hold:opened'
  | 'hold:closed'
  | 'role:created'
  | 'process:created'
  | 'run:created'
  | 'run:updated'
  | 'run:refused'
  | 'command:updated'
  | 'setting:updated'

/** Which entity a frame shows: one to be read, or one that is whole in the fact because it never changes. */
export type EntityReference =
  | { readonly kind: 'mission'; readonly id: string }
  /** The workflow that a task belongs to, where it belongs to one. */
  | { readonly kind: 'workflow of task'; readonly id: TaskId }
  | { readonly kind: 'phase'; readonly id: string }
  | { readonly kind: 'milestone'; readonly id: string }
  | { readonly kind: 'task'; readonly id: string }
  | { readonly kind: 'hold'; readonly id: string }
  /** The issue that opened a hold, where one did. */
  | { readonly kind: 'issue of hold'; readonly id: string }
  | { readonly kind: 'decision'; readonly decision: Decision }
  | { readonly kind: 'issue'; readonly issue: Issue }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'note'; readonly note: Note }
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'refusal'; readonly refusal: RunRefusal }
  | {
      readonly kind: 'process'
      readonly process: Pick<ProcessDefinition, 'id' | 'version' | 'name'>
      readonly hash: string
    }
  | {
      readonly kind: 'command'
      /** Of its result, or the hash of an approval that was taken back. */
      readonly id: string
      readonly runId: RunId | null
      readonly status: string
    }
  | { readonly kind: 'setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'project'; readonly id: string; readonly root: string }

type Events = readonly [LiveEvent, ...LiveEvent[]]

/** The events of a fact, in the order in which they are sent. Every fact has one, so that no seq is skipped. */
export function eventsOf(fact: NewFact): Events {
  switch (fact.kind) {
    case 'project.created':
      return [{ event: 'project:created', of: { kind: 'project', id: fact.id, root: fact.root } }]
    case 'mission.started':
      return [{ event: 'mission:created', of: { kind: 'mission', id: fact.mission.id } }]
    case 'mission.ended':
    case 'mission.extended':
    case 'mission.reopened':
      return [{ event: 'mission:updated', of: { kind: 'mission', id: fact.missionId } }]
    case 'phase.created': {
      const { id, missionId } = fact.phase
      return [{ event: 'phase:created', of: { kind: 'phase', id } }, ...missionUpdated(missionId)]
    }
    case 'phase.reopened':
    case 'phase.completed':
    case 'phase.edited': {
      const { phaseId, missionId } = fact
      return [{ event: 'phase:updated', of: { kind: 'phase', id: phaseId } }, ...missionUpdated(missionId)]
    }
    case 'milestone.created':
      return [{ event: 'milestone:created', of: { kind: 'milestone', id: fact.milestone.id } }]
    case 'milestone.edited':
      return [{ event: 'milestone:updated', of: { kind: 'milestone', id: fact.milestoneId } }]
    case 'task.planned':
      return [{ event: 'task:created', of: { kind: 'task', id: fact.task.id } }]
    case 'attempt.opened': {
      const { taskId, missionId } = fact.attempt
      return [taskUpdated(taskId), ...missionUpdated(missionId)]
    }
    case 'attempt.closed':
      return completed(fact)
    case 'attempt.abandoned':
      return [taskUpdated(fact.taskId), ...missionUpdated(fact.missionId)]
    case 'attempt.corrected':
    case 'attempt.continued':
    case 'task.edited':
    case 'task.forced':
    case 'dependency.added':
    case 'dependency.removed':
      return [taskUpdated(fact.taskId)]
    case 'task.marked':
    case 'task.dropped':
    case 'claim.ended':
      return [taskUpdated(fact.taskId), workflowUpdated(fact.taskId)]
    case 'task.claimed': {
      const { taskId } = fact
      return [{ event: 'task:claimed', of: { kind: 'task', id: taskId } }, workflowUpdated(taskId)]
    }
    case 'decision.logged':
      return [{ event: 'decision:created', of: { kind: 'decision', decision: fact.decision } }]
    case 'issue.logged': {
      const { issue } = fact
      const blocked = issue.requiresHumanReview ? missionUpdated(issue.missionId) : []
      return [{ event: 'issue:created', of: { kind: 'issue', issue } }, ...blocked]
    }
    case 'progress.logged':
      return [{ event: 'progress:created', of: { kind: 'progress', progress: fact.progress } }]
    case 'note.added':
      return [{ event: 'note:created', of: { kind: 'note', note: fact.note } }]
    case 'hold.opened':
      return [{ event: 'hold:opened', of: { kind: 'hold', id: fact.hold.id } }]
    case 'hold.closed': {
      const { holdId: id, missionId } = fact
      return [
        { event: 'hold:closed', of: { kind: 'hold', id } },
        { event: 'issue:resolved', of: { kind: 'issue of hold', id } },
        ...missionUpdated(missionId),
      ]
    }
    case 'role.declared':
      return [{ event: 'role:created', of: { kind: 'role', role: fact.role } }]
    case 'process.kept': {
      const { definition: process, hash } = fact
      return [{ event: 'process:created', of: { kind: 'process', process, hash } }]
    }
    case 'run.created':
      return [{ event: 'run:created', of: { kind: 'run', id: fact.run.id } }]
    case 'run.advanced':
    case 'run.migrated':
    case 'run.cancelled':
    case 'run.approved':
      return [{ event: 'run:updated', of: { kind: 'run', id: fact.runId } }]
    case 'run.refused':
      return [{ event: 'run:refused', of: { kind: 'refusal', refusal: fact.refusal } }]
    case 'command.started': {
      const { id, runId, status } = fact.command
      return [{ event: 'command:updated', of: { kind: 'command', id, runId, status } }]
    }
    case 'command.ended': {
      const { commandId: id, runId, status } = fact
      return [{ event: 'command:updated', of: { kind: 'command', id, runId, status } }]
    }
    case 'command.revoked':
      return [
        {
          event: 'command:updated',
          of: { kind: 'command', id: fact.hash, runId: null, status: 'revoked' },
        },
      ]
    case 'setting.changed':
      return [{ event: 'setting:updated', of: { kind: 'setting', name: fact.name, value: fact.value } }]
  }
}

/** Where the phase ends with the task, the mission is told after the phase: by the fact of the phase, which follows. */
function completed(fact: Extract<NewFact, { readonly kind: 'attempt.closed' }>): Events {
  const { taskId, missionId, answer } = fact
  if (answer.phase_status === 'completed') return [taskUpdated(taskId)]
  return [taskUpdated(taskId), ...missionUpdated(missionId)]
}

function taskUpdated(id: string): LiveEvent {
  return { event: 'task:updated', of: { kind: 'task', id } }
}

function workflowUpdated(id: TaskId): LiveEvent {
  return { event: 'mission:updated', of: { kind: 'workflow of task', id } }
}

function missionUpdated(id: string | null): readonly LiveEvent[] {
  return id === null ? [] : [{ event: 'mission:updated', of: { kind: 'mission', id } }]
}
