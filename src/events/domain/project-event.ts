import type { GuardEvent } from '../../gate/domain/git-guard/guarded-command.ts'
import type { GateEvent } from '../../gate/domain/run.ts'
import type { InboxItem, InboxItemAnswer } from '../../inbox/domain/inbox-item.ts'
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
  WorkElsewhere,
} from '../../track/domain/changes.ts'
import type { Landed } from '../../track/domain/landed.ts'
import type { FileLossEvent } from '../../track/domain/losses.ts'
import type { Mission, MissionEnding, Phase } from '../../track/domain/mission.ts'
import type { Decision, Issue, Progress } from '../../track/domain/records.ts'
import type { Attempt, SnapshotLocation, Task, TaskOutcome } from '../../track/domain/task.ts'
import type { TreeWriteEvent } from '../../track/domain/tree-write.ts'
import type { Verdict } from '../../track/domain/verdict.ts'

/** An agent's claims at completion, kept apart from measurements. */
export interface Outcome {
  readonly summary: string
  readonly achievements: readonly string[]
  readonly limitations: readonly string[]
  readonly nextSteps: readonly string[]
  readonly manualReviewNeeded: boolean
  readonly manualReviewReason: string | null
  /** The reasons for files out of scope. */
  readonly unexpected?: readonly { readonly path: string; readonly why: string }[]
  /** Why no file had to change. */
  readonly noChangeReason?: string
  /** Files whose tests check less than before, on purpose. */
  readonly weakened?: readonly string[]
  /** Changed files that are not its own. */
  readonly notMine?: readonly string[]
  /** The answers to the criteria of the task. */
  readonly criteria?: readonly CriterionAnswer[]
  readonly packagesAdded: readonly string[]
  readonly packagesRemoved: readonly string[]
  readonly commandsExecuted: readonly string[]
  readonly testsStatus: 'passed' | 'failed' | 'not_run' | null
  /** Tokens, as counted by the agent. */
  readonly tokensInput: number | null
  readonly tokensOutput: number | null
}

export interface CriterionAnswer {
  readonly criterion: string
  readonly met: boolean
  readonly how: string | null
}

/** The measurement of an ended attempt. */
export interface AttemptMeasurement {
  readonly measurement: 'exact' | 'partial' | 'unknown'
  readonly changes: readonly ReportedChange[]
  readonly ignored: {
    readonly added: readonly string[]
    readonly modified: readonly string[]
    readonly deleted: readonly string[]
  }
  readonly scope: ScopeSummary
  /** Absent if empty, like the next four. */
  readonly contested?: readonly ContestedFile[]
  readonly commits?: readonly AttemptCommit[]
  readonly claimedPaths?: readonly ClaimedPath[]
  /** Changed paths that everyone denies who may have changed them. */
  readonly deniedByAll?: readonly string[]
  /** Changed paths that are others' by the agents' words, so that their lines are not the attempt's. */
  readonly released?: readonly string[]
  /** Changed paths of which the agents' words leave open whose they are. */
  readonly uncertain?: readonly string[]
  /** Paths that changed, and that a person's restore or undo wrote over since. */
  readonly overwritten?: readonly string[]
  /** Files whose uncommitted lines from before the attempt are gone. */
  readonly removedWork?: readonly string[]
  /** Why not everything could be measured. */
  readonly doubts?: readonly string[]
  /** Paths that its agent denied after the end. */
  readonly denied?: readonly string[]
  /** Areas that the agent added when it completed the task. */
  readonly widened?: readonly string[]
  /** The changed rows of the mission's changes; null where they could not be measured. */
  readonly mission?: readonly MissionChange[] | null
  /** Work outside this work tree's files; only measured where the changes do not show what was claimed. */
  readonly elsewhere?: WorkElsewhere
  /** Unreadable folders, and files whose change exists only in git: guards accept neither. */
  readonly unreadable?: readonly string[]
  readonly warnings: readonly string[]
  readonly endSnapshot: SnapshotLocation | null
}

/** All events. A new member only compiles with its projection and its wording. */
export type NewProjectEvent =
  | NewPlanEvent
  | GateEvent
  | GuardEvent
  | TreeWriteEvent
  | FileLossEvent
  | IdentityEvent
  | NotificationLogEvent
  | CaptureEvent
  | ReviewEvent
  | { readonly kind: 'project.created'; readonly id: ProjectId; readonly root: string }
  /** Closes the project for writing. `to` is where it continues, if the person named it. */
  | { readonly kind: 'project.ended'; readonly to: string | null }
  /** Reopens the project, here or where it was imported. */
  | { readonly kind: 'project.reopened'; readonly location: string }
  | { readonly kind: 'mission.started'; readonly mission: Mission }
  | {
      readonly kind: 'mission.ended'
      readonly missionId: MissionId
      readonly status: MissionEnding
      readonly summary: string | null
      readonly achievements: readonly string[]
      readonly limitations: readonly string[]
      /** Failed gating runs that a person completed it despite. */
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
  /** Where the lines of a task are, whenever that changed. */
  | {
      readonly kind: 'landing.measured'
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly landed: Landed
    }
  | { readonly kind: 'attempt.opened'; readonly attempt: Attempt }
  | {
      readonly kind: 'attempt.closed'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly status: TaskOutcome
      readonly outcome: Outcome
      readonly evidence: AttemptMeasurement
      /** Null for a failed attempt, which claims nothing. */
      readonly verdict: Verdict | null
      /** Hash of the input, to recognize an identical repeat. */
      readonly inputHash: string
      /** The caller's answer, for an identical repeat. */
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
      /** A correction after its end; claims and measurements stay unchanged. */
      readonly kind: 'attempt.corrected'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly text: string
      readonly agentName: string | null
    }
  | {
      /** Its agent changed the words of a completion; they were judged again on the same measurement. */
      readonly kind: 'attempt.amended'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly status: TaskOutcome
      readonly outcome: Outcome
      readonly verdict: Verdict | null
      readonly agentName: string | null
      /** As of a completion. */
      readonly inputHash: string
      readonly answer: Readonly<Record<string, unknown>>
    }
  | {
      /** Uncertain files leave those of an ended attempt: another one claims them, or its own agent denies them. */
      readonly kind: 'files.settled'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly paths: readonly string[]
      /** The names of those who may have changed them. */
      readonly candidates: readonly string[]
      readonly cause: 'claimed' | 'denied'
    }
  | {
      /** A check ran on exactly the content of a completion, later; or words settled whose files are. */
      readonly kind: 'verdict.changed'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly verdict: Verdict
      /** The files that were settled; absent after a check. */
      readonly released?: readonly string[]
    }
  | {
      /** An attempt is resumed by its agent or a person, and no longer stale. */
      readonly kind: 'attempt.continued'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
    }
  /** Line changes of a work tree between two snapshots. */
  | { readonly kind: 'lines.recorded'; readonly span: RecordedSpan }
  /** The hashes of some lines were removed by a person; their movements stay. */
  | { readonly kind: 'lines.forgotten'; readonly subject: string; readonly steps: readonly StepPosition[] }
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
      /** A person's answer in one word; absent if it closed by itself or was not recorded. */
      readonly action?: InboxItemAnswer
      /** A person's decision about a command; absent if the item closed by itself. */
      readonly decided?: true
    }

/** A log entry with its position. `hash` covers the previous entry's hash. */
export interface ProjectEvent {
  readonly seq: number
  readonly recordedAt: number
  readonly version: number
  readonly actor: Actor
  readonly body: NewProjectEvent
  readonly hash: string
}

/** The time of the event, which hooks and machines may report later. Never after its recording. */
export function happenedAt({ recordedAt, body }: Pick<ProjectEvent, 'recordedAt' | 'body'>): number {
  const own = ownTime(body)
  return own !== null && Number.isFinite(own) && own > 0 && own < recordedAt ? own : recordedAt
}

function ownTime(event: NewProjectEvent): number | null {
  const { kind } = event
  if (kind === 'attempt.opened') return event.attempt.openedAt
  if (kind === 'session.opened') return event.session.openedAt
  if (kind === 'session.continued' || kind === 'session.closed') return event.reportedAt ?? null
  if (kind === 'turn.opened') return event.turn.openedAt
  if (kind === 'turn.closed') return event.closedAt
  if (kind === 'command.guarded') return event.command.guardedAt
  if (kind === 'tree.written') return event.write.writtenAt
  if (kind === 'edits.reported') return latest(event.edits.map(({ reportedAt }) => reportedAt))
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

/** The mission and task of an event; only the task if the event has no mission. */
export function eventSubject(event: NewProjectEvent): ProjectEventSubject {
  if ('mission' in event) return { missionId: event.mission.id, taskId: null }
  if ('phase' in event) return { missionId: event.phase.missionId, taskId: null }
  if ('task' in event) return { missionId: event.task.missionId, taskId: event.task.id }
  if ('attempt' in event) return event.attempt
  if ('decision' in event) return event.decision
  if ('issue' in event) return event.issue
  if ('progress' in event) return event.progress
  if ('item' in event) return event.item
  if ('write' in event) return event.write
  if ('loss' in event) return event.loss
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
