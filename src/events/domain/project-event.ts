import type { GateEvent } from '../../gate/domain/run.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { AttemptId, InboxItemId, MissionId, PhaseId, ProjectId, RunId, TaskId } from '../../kernel/id.ts'
import type { RecordedSpan, StepPosition } from '../../lines/domain/line-hashes.ts'
import type { NotificationLogEvent } from '../../notifications/domain/notification.ts'
import type { IdentityEvent } from '../../people/domain/identity.ts'
import type { NewPlanEvent } from '../../plan/domain/plan.ts'
import type { ReviewEvent } from '../../review/domain/review.ts'
import type { CaptureEvent } from '../../sessions/domain/session.ts'
import type {
  AttemptCommit,
  ClaimedPath,
  ContestedFile,
  MissionChange,
  ReportedChange,
  ScopeSummary,
} from '../../track/domain/changes.ts'
import type { Mission, MissionEnding, Phase } from '../../track/domain/mission.ts'
import type { Decision, InboxItem, InboxItemAnswer, Issue, Progress } from '../../track/domain/records.ts'
import type { Attempt, SnapshotLocation, Task, TaskOutcome } from '../../track/domain/task.ts'

/** What an agent said when it completed a task: its claims, kept apart from what was measured. */
export interface Outcome {
  readonly summary: string
  readonly achievements: readonly string[]
  readonly limitations: readonly string[]
  readonly nextSteps: readonly string[]
  readonly manualReviewNeeded: boolean
  readonly manualReviewReason: string | null
  /** Why files outside the declared areas changed. */
  readonly unexpected?: readonly { readonly path: string; readonly why: string }[]
  readonly packagesAdded: readonly string[]
  readonly packagesRemoved: readonly string[]
  readonly commandsExecuted: readonly string[]
  readonly testsStatus: 'passed' | 'failed' | 'not_run' | null
  /** Tokens, as the agent counted them. */
  readonly tokensInput: number | null
  readonly tokensOutput: number | null
}

/** What was measured at the end of an attempt. */
export interface AttemptMeasurement {
  readonly measurement: 'exact' | 'partial' | 'unknown'
  readonly changes: readonly ReportedChange[]
  readonly ignored: {
    readonly added: readonly string[]
    readonly modified: readonly string[]
    readonly deleted: readonly string[]
  }
  readonly scope: ScopeSummary
  /** Absent in records from before these were measured, as are the next four. */
  readonly contested?: readonly ContestedFile[]
  readonly commits?: readonly AttemptCommit[]
  readonly claimedPaths?: readonly ClaimedPath[]
  /** Areas that the agent added when it completed the task. */
  readonly widened?: readonly string[]
  /** The rows of the mission's changes that this end made different; null where that could not be measured. */
  readonly mission?: readonly MissionChange[] | null
  /** Folders that could not be read, and files of which git holds a change that the disk has not: guards count on neither. */
  readonly unreadable?: readonly string[]
  readonly warnings: readonly string[]
  readonly endSnapshot: SnapshotLocation | null
}

/** Everything that can happen. A new member refuses to compile until its projection and its wording exist. */
export type NewProjectEvent =
  | NewPlanEvent
  | GateEvent
  | IdentityEvent
  | NotificationLogEvent
  | CaptureEvent
  | ReviewEvent
  | { readonly kind: 'project.created'; readonly id: ProjectId; readonly root: string }
  /** Writing ends. `to` says where the project goes on, where the person said it. */
  | { readonly kind: 'project.ended'; readonly to: string | null }
  /** The project is written again, here or where it was imported. */
  | { readonly kind: 'project.reopened'; readonly at: string }
  | { readonly kind: 'mission.started'; readonly mission: Mission }
  | {
      readonly kind: 'mission.ended'
      readonly missionId: MissionId
      readonly status: MissionEnding
      readonly summary: string | null
      readonly achievements: readonly string[]
      readonly limitations: readonly string[]
      /** Runs that gated it and did not succeed, where a person completed it all the same. */
      readonly despiteRuns?: readonly RunId[]
    }
  | {
      readonly kind: 'mission.extended'
      readonly missionId: MissionId
      readonly totalPhases: number
      readonly before: number
    }
  | { readonly kind: 'mission.reopened'; readonly missionId: MissionId }
  | { readonly kind: 'phase.created'; readonly phase: Phase }
  | { readonly kind: 'phase.reopened'; readonly phaseId: PhaseId; readonly missionId: MissionId | null }
  | { readonly kind: 'phase.completed'; readonly phaseId: PhaseId; readonly missionId: MissionId | null }
  | { readonly kind: 'task.planned'; readonly task: Task }
  | { readonly kind: 'attempt.opened'; readonly attempt: Attempt }
  | {
      readonly kind: 'attempt.closed'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly status: TaskOutcome
      readonly outcome: Outcome
      readonly evidence: AttemptMeasurement
      /** Hash of the input, so that an identical repeat is recognised. */
      readonly inputHash: string
      /** What the caller was answered, so that an identical repeat gets the same again. */
      readonly answer: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'attempt.abandoned'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly reason: string
    }
  | {
      /** Words after its end: nothing that was said or measured then changes. */
      readonly kind: 'attempt.corrected'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly text: string
      readonly agentName: string | null
    }
  | {
      /** An attempt goes on, because its agent takes it up again or a person lets it: it is not stale any more. */
      readonly kind: 'attempt.continued'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
    }
  /** What became of the lines of a work tree between two of its snapshots, where any changed. */
  | { readonly kind: 'lines.recorded'; readonly span: RecordedSpan }
  /** The hashes of some lines are removed, because a person said so; where they went and came stays. */
  | { readonly kind: 'lines.forgotten'; readonly of: string; readonly steps: readonly StepPosition[] }
  | { readonly kind: 'decision.logged'; readonly decision: Decision }
  | { readonly kind: 'issue.logged'; readonly issue: Issue }
  | { readonly kind: 'progress.logged'; readonly progress: Progress }
  | { readonly kind: 'inbox.opened'; readonly item: InboxItem }
  | {
      readonly kind: 'inbox.closed'
      readonly itemId: InboxItemId
      readonly missionId: MissionId | null
      readonly taskId: TaskId | null
      readonly status: 'resolved' | 'dismissed'
      readonly answer: string | null
      /** What a person said, in a word; without this, it ended by itself, or was not recorded. */
      readonly action?: InboxItemAnswer
      /** A person said yes or no to a command; without this, the question about it ended by itself. */
      readonly decided?: true
    }

/** A log entry with its place in the log. `hash` covers the hash of the log entry before it. */
export interface ProjectEvent {
  readonly seq: number
  readonly at: number
  readonly version: number
  readonly actor: Actor
  readonly body: NewProjectEvent
  readonly hash: string
}

/** When it happened: its own time where it has one, for a hook or another machine tells of it later. Never after its recording. */
export function happenedAt({ at, body }: Pick<ProjectEvent, 'at' | 'body'>): number {
  const own = ownTime(body)
  return own !== null && Number.isFinite(own) && own > 0 && own < at ? own : at
}

function ownTime(event: NewProjectEvent): number | null {
  const { kind } = event
  if (kind === 'attempt.opened') return event.attempt.openedAt
  if (kind === 'session.opened') return event.session.openedAt
  if (kind === 'session.continued' || kind === 'session.closed') return event.at ?? null
  if (kind === 'turn.opened') return event.turn.openedAt
  if (kind === 'turn.closed') return event.closedAt
  if (kind === 'edits.reported') return latest(event.edits.map(({ at }) => at))
  if (kind === 'commands.seen') return latest(event.commands.map(({ from, to }) => to ?? from))
  return kind === 'capture.lost' ? event.to : null
}

function latest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.max(...times)
}

export interface ProjectEventSubject {
  readonly missionId: string | null
  readonly taskId: string | null
}

/** The mission and the task that something happened to; a task alone where its mission is not said. */
export function eventSubject(event: NewProjectEvent): ProjectEventSubject {
  if ('mission' in event) return { missionId: event.mission.id, taskId: null }
  if ('phase' in event) return { missionId: event.phase.missionId, taskId: null }
  if ('task' in event) return { missionId: event.task.missionId, taskId: event.task.id }
  if ('attempt' in event) return event.attempt
  if ('decision' in event) return event.decision
  if ('issue' in event) return event.issue
  if ('progress' in event) return event.progress
  if ('item' in event) return event.item
  if (event.kind === 'run.created') return event.run
  if (event.kind === 'review.sent') {
    const { subject } = event.review
    const isOne = subject.kind === 'task'
    return {
      missionId: subject.kind === 'since' ? null : subject.missionId,
      taskId: isOne ? subject.taskId : null,
    }
  }
  if (event.kind === 'review.replied') return event.reply
  if ('note' in event) return { missionId: null, taskId: event.note.taskId }
  return {
    missionId: 'missionId' in event ? event.missionId : null,
    taskId: 'taskId' in event ? event.taskId : null,
  }
}
