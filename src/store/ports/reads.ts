import type { AttemptMeasurement, Outcome, ProjectEvent } from '../../events/domain/project-event.ts'
import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { Visit } from '../../gate/domain/evidence.ts'
import type {
  CommandResult,
  EventIdempotencyKey,
  RunApproval,
  RunEvent,
  RunRecord,
  RunRefusal,
  RunStatus,
  SettingName,
  StoredArtifact,
} from '../../gate/domain/run.ts'
import type { Actor } from '../../kernel/actor.ts'
import type {
  AttemptId,
  CaptureSessionId,
  CommandResultId,
  MilestoneId,
  MissionId,
  PhaseId,
  RunId,
  SessionId,
  TaskId,
  TokenId,
  TurnId,
} from '../../kernel/id.ts'
import type { LineStep, StepPosition } from '../../lines/domain/step.ts'
import type { Notice } from '../../notifications/domain/notice.ts'
import type { NoticeState, Notification } from '../../notifications/domain/notification.ts'
import type { Member, Person, SignInSession, Token } from '../../people/domain/identity.ts'
import type { Claim, Milestone, Note, PlannedTask, PlanSpan, TaskStatus } from '../../plan/domain/plan.ts'
import type { StatRecords } from '../../reports/domain/stats.ts'
import type { ChangeKind, MissionChange, ReportedChange } from '../../track/domain/changes.ts'
import type { OpenTask } from '../../track/domain/completion.ts'
import type { Mission, MissionStatus, Phase, PhaseWithWork } from '../../track/domain/mission.ts'
import type { Decision, InboxItem, InboxItemKind, Issue, Progress } from '../../track/domain/records.ts'
import type {
  Attempt,
  AttemptStatus,
  Correction,
  Dependency,
  PastAttempt,
  Resolution,
  SnapshotLocation,
  Task,
  TaskHistory,
} from '../../track/domain/task.ts'

/** A part of a list. `before` continues after an item already seen, newest first. */
export interface PageRequest {
  readonly limit: number
  /** Only items with a lower seq. */
  readonly before?: number
}

export interface Page<Item> {
  readonly items: readonly SequencedItem<Item>[]
  /** How many there are in all, whatever the limit. */
  readonly total: number
}

/** An item with the journal position that orders it. */
export interface SequencedItem<Item> {
  readonly seq: number
  readonly item: Item
}

/** What the tasks of a phase came to. */
export interface PhaseCounts {
  readonly phaseId: PhaseId
  readonly tasks: number
  readonly firstStart: number | null
  readonly lastEnd: number | null
  readonly openAttempts: number
}

export interface MissionTotals {
  readonly tasks: number
  readonly distinctFilesChanged: number
  readonly tokensInput: number
  readonly tokensOutput: number
}

export interface MissionCounts {
  readonly openAttempts: number
  readonly openBlockers: number
  readonly doneTasks: number
  readonly toDoTasks: number
}

export interface MissionListing {
  readonly mission: Mission
  readonly now: MissionCounts
  readonly phases: readonly PhaseWithWork[]
}

/** Who worked in a mission, what changed, and what waits there. */
export interface MissionOverview extends MissionLineCounts {
  /** The last at work first. */
  readonly agents: readonly { readonly name: string; readonly working: boolean }[]
  /** Open holds of every kind. */
  readonly waiting: number
}

/** What a mission did in one work tree. */
export interface MissionTree {
  /** Its first attempt there, whatever became of it. */
  readonly first: Attempt | null
  /** The attempt that ended last, with what was measured then. */
  readonly lastEnded: Attempt | null
  /** When the attempts that are open there began, milliseconds since the epoch. */
  readonly openSince: readonly number[]
  readonly recorded: readonly MissionChange[]
}

/** What a mission's changes come to in all its work trees, a path once; lines that could not be counted are left out. */
export interface MissionLineCounts {
  readonly files: number
  /** Null where files changed and the lines of none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
}

export interface MissionReads {
  /** The tops of the work trees that its attempts were in, in the order of the first ones. */
  treesOf(missionId: MissionId): Promise<readonly string[]>
  tree(missionId: MissionId, top: string): Promise<MissionTree>
  /** Those of these tasks that had an attempt of the mission in a work tree. */
  tasksInTree(missionId: MissionId, top: string, among: readonly TaskId[]): Promise<ReadonlySet<TaskId>>
  /** Its attempt that ended last in a work tree, with what was measured then. */
  lastEnded(missionId: MissionId, top: string): Promise<Attempt | null>
  lines(missionId: MissionId): Promise<MissionLineCounts>
  find(id: string): Promise<Mission | null>
  /** The names of missions, at most 200. */
  named(ids: readonly MissionId[]): Promise<ReadonlyMap<MissionId, string>>
  /** Newest first. */
  list(
    request: PageRequest & { readonly statuses?: readonly MissionStatus[]; readonly search?: string },
  ): Promise<Page<Mission>>
  /** The same missions, each with what it has now, in the same order: a fixed number of queries for all. */
  listed(missions: readonly Mission[]): Promise<readonly MissionListing[]>
  /** Of each of at most 200 missions: three queries for all. */
  glances(missionIds: readonly MissionId[]): Promise<ReadonlyMap<string, MissionOverview>>
  /** By sort order, then number. */
  phases(missionId: MissionId): Promise<readonly PhaseWithWork[]>
  phase(missionId: MissionId, number: number): Promise<Phase | null>
  phaseById(id: PhaseId): Promise<Phase | null>
  tallies(missionId: MissionId): Promise<readonly PhaseCounts[]>
  now(missionId: MissionId): Promise<MissionCounts>
  totals(missionId: MissionId): Promise<MissionTotals>
  /** Ids that begin with a prefix, at most `limit`, for the CLI's short ids and for completion. */
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

export interface PlanFilter {
  /** Phases and tasks of a mission, of the project's own plan, or of both that are open. Absent: everything. */
  readonly owner?: PlanSpan
  readonly phaseId?: PhaseId
  readonly milestoneId?: MilestoneId
  /** A claim that expired does not keep a task in progress. */
  readonly status?: TaskStatus
  readonly role?: string
  /** To do, not held, every dependency done and settled. */
  readonly ready?: boolean
  readonly blocked?: boolean
  /** Everything that waits for nothing. */
  readonly unblocked?: boolean
  /** Without a role. */
  readonly unassigned?: boolean
  /** Words that are all in title or description, case-insensitive. */
  readonly search?: string
  /** Claims that expired before it do not hold a task any more. */
  readonly now: number
}

export interface PlanPage {
  readonly tasks: readonly PlannedTask[]
  readonly total: number
}

/** A task with as little as graphs need. */
export interface GraphTaskRow {
  readonly id: TaskId
  readonly name: string
  readonly phaseId: PhaseId | null
  readonly milestoneId: MilestoneId | null
  readonly parentTaskId: TaskId | null
  readonly role: string | null
  readonly assignee: string | null
  readonly status: TaskStatus
  readonly dropped: boolean
  /** Done, and what depends on it waits for a person. */
  readonly unsettled: boolean
  readonly held: boolean
  readonly sortOrder: number | null
  readonly seq: number
  readonly missionId: MissionId | null
  readonly dependsOn: readonly TaskId[]
}

export interface PlanReads {
  /** The project's own first, then mission by mission; by sort order, then number or creation; at most 1000. */
  phases(owner: PlanSpan): Promise<readonly Phase[]>
  phase(id: string): Promise<Phase | null>
  /** In the order of their phases, then creation; at most 1000. */
  milestones(filter: { readonly owner?: PlanSpan; readonly phaseId?: PhaseId }): Promise<readonly Milestone[]>
  milestone(id: string): Promise<Milestone | null>
  task(id: string): Promise<PlannedTask | null>
  /** By the phase's order, then sort order, then creation; `after` continues behind a task. */
  tasks(filter: PlanFilter, request: { readonly limit: number; readonly after?: TaskId }): Promise<PlanPage>
  /** How many tasks of a phase are not done. */
  undoneInPhase(phaseId: PhaseId): Promise<number>
  /** The tasks of a phase that are not done: those in progress first, then in list order; at most 40. */
  openInPhase(phaseId: PhaseId): Promise<readonly OpenTask[]>
  /** The ready task with the longest chain of unfinished dependents, then in list order. */
  next(filter: {
    readonly owner?: PlanSpan
    readonly role?: string
    /** Without a role. */
    readonly roleless?: boolean
    /** The caller's name and role: what is assigned to another is left out. Absent: for anyone. */
    readonly assignees?: readonly string[]
    readonly now: number
  }): Promise<PlannedTask | null>
  dependsOn(taskId: TaskId, dependency: TaskId): Promise<boolean>
  /** The chain of dependencies that leads from one task to another, both included; null when there is none. */
  chain(from: TaskId, to: TaskId): Promise<readonly TaskId[] | null>
  /** The task that a claim with this token was of, running or ended. */
  taskOfToken(token: string): Promise<TaskId | null>
  /** Tasks whose claim expired at or before a time, at most 100. */
  expiredClaims(now: number): Promise<readonly PlannedTask[]>
  notes(taskId: TaskId, request: PageRequest): Promise<Page<Note>>
  /** Those of these ids that exist, oldest first. */
  notesWithIds(ids: readonly string[]): Promise<readonly Note[]>
  /** Every task of a plan, for diagrams and export, at most `limit`, in list order. */
  graph(owner: PlanSpan | undefined, limit: number, now: number): Promise<readonly GraphTaskRow[]>
  /** Tasks outside a plan that one of its tasks depends on, or that depend on one. */
  neighbors(
    owner: PlanSpan,
    limit: number,
    now: number,
  ): Promise<readonly (GraphTaskRow & { readonly ready: boolean })[]>
  /** The roles that the project declared, in order of declaration. */
  roles(): Promise<readonly string[]>
}

/** What is known of a closed attempt besides the attempt itself. */
export interface AttemptEnd {
  readonly outcome: Outcome
  /** Without the changes: those are paged. */
  readonly evidence: Omit<AttemptMeasurement, 'changes'>
  readonly inputHash: string
  readonly answer: Readonly<Record<string, unknown>>
  readonly counts: FileChangeCounts
}

export interface FileChangeCounts {
  readonly added: number
  readonly modified: number
  readonly deleted: number
  readonly renamed: number
}

/** A task with its last attempt, as lists show it. */
export interface TaskLine {
  readonly task: Task
  readonly phaseNumber: number | null
  readonly attempt: Attempt | null
  readonly counts: FileChangeCounts | null
  readonly scopeMatches: boolean | null
}

export interface TaskFilter {
  readonly missionId?: MissionId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Started or changed at or after, milliseconds since the epoch. */
  readonly since?: number
}

/** What was measured at the end of an attempt, in numbers. */
export interface AttemptMeasurementTotals {
  readonly measurement: AttemptMeasurement['measurement']
  readonly scopeMatches: boolean | null
  readonly outOfScope: number
  /** Which attempt at its task it is. */
  readonly attempt: number
  /** Null where they could not be measured. */
  readonly files: number | null
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

/** A task as a card shows it. */
export interface TaskCard {
  readonly task: Task
  readonly missionName: string | null
  readonly claim: Claim | null
  /** The last one. */
  readonly attempt: Attempt | null
  /** How far it is, in percent, as was said last. */
  readonly progress: number | null
  readonly measured: AttemptMeasurementTotals | null
}

export interface TaskReads {
  find(id: string): Promise<Task | null>
  /** The names of tasks, at most 200. */
  named(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, string>>
  attempt(id: string): Promise<Attempt | null>
  /** The attempts at a task, first to last, at most 100. */
  attempts(taskId: TaskId): Promise<readonly Attempt[]>
  openAttempt(taskId: TaskId): Promise<Attempt | null>
  lastAttempt(taskId: TaskId): Promise<Attempt | null>
  end(attemptId: AttemptId): Promise<AttemptEnd | null>
  /** Those of these attempts that ended with a measurement. */
  measured(ids: readonly AttemptId[]): Promise<ReadonlyMap<AttemptId, AttemptMeasurementTotals>>
  /** Those of these tasks that exist, in the order given. */
  cards(ids: readonly string[]): Promise<readonly TaskCard[]>
  /** The attempts at a task that ended, newest first. */
  past(taskId: TaskId, limit: number): Promise<readonly PastAttempt[]>
  /** What was said of an attempt after its end, first to last, at most 100. */
  corrections(attemptId: AttemptId): Promise<readonly Correction[]>
  /** What a task depends on, at most 100. */
  dependencies(taskId: TaskId): Promise<readonly Dependency[]>
  /** Beside tasks in a list: what they wait for, who holds them, what came of them. */
  histories(ids: readonly TaskId[], now: number): Promise<ReadonlyMap<TaskId, TaskHistory>>
  /** The measured changes of an attempt, out of scope first, then by path. */
  changes(
    attemptId: AttemptId,
    request: { readonly limit: number; readonly offset: number },
  ): Promise<readonly ReportedChange[]>
  /** The attempts that were measured to have changed some paths, by their own names or those before. */
  changedBy(
    paths: readonly string[],
  ): Promise<readonly { readonly path: string; readonly attemptId: AttemptId }[]>
  /** The subtasks of a task in the order in which they were made, at most 500. */
  subtasks(taskId: TaskId): Promise<readonly TaskId[]>
  /** Subtasks with an open attempt. */
  openSubtasks(taskId: TaskId): Promise<readonly Task[]>
  /** Whether an attempt of a mission is open besides this one. */
  isOtherOpen(missionId: MissionId, besides: AttemptId): Promise<boolean>
  /** Open attempts of a mission, or of the whole project without one, at most 10,000. */
  openAttempts(missionId?: MissionId): Promise<readonly Attempt[]>
  /** Those open attempts that called last, in the order in which they were begun, and how many there are. */
  atWork(limit: number): Promise<{ readonly attempts: readonly Attempt[]; readonly total: number }>
  /** Open attempts whose last call was at or before a time and that have no open hold of kind stale_attempt, at most 50. */
  silentAttempts(lastCall: number): Promise<readonly Attempt[]>
  /** Attempts in a work tree that were open at some time since `since`, oldest first, at most 200. */
  attemptsInTree(top: string, since: number): Promise<readonly Attempt[]>
  /** The chain of parents of a task, nearest first. */
  ancestors(taskId: TaskId): Promise<readonly TaskId[]>
  /** Newest first. */
  list(filter: TaskFilter, request: PageRequest): Promise<Page<TaskLine>>
  /** Planned tasks of a mission that nobody finished, in order of planning, at most 100. */
  planned(missionId: MissionId): Promise<readonly Task[]>
  /** Every snapshot that an open attempt, or one closed since `since`, still names. */
  keptSnapshots(since: number): Promise<readonly SnapshotLocation[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

/** A task as a timeline shows it: what it is called, where it belongs, how it stands. */
export interface TimelineTask {
  readonly id: TaskId
  readonly name: string
  /** Its home in the mission, else where it was last worked on there. */
  readonly phaseId: PhaseId | null
  readonly parentTaskId: TaskId | null
  readonly standing: 'ready' | 'blocked' | 'in_progress' | 'done'
  readonly resolution: Resolution | null
}

export interface TimelineAttempt {
  readonly id: AttemptId
  readonly taskId: TaskId
  readonly number: number
  readonly agentName: string | null
  readonly status: AttemptStatus
  readonly openedAt: number
  readonly closedAt: number | null
  /** Null until the attempt was measured. */
  readonly counts: FileChangeCounts | null
  readonly scopeMatches: boolean | null
  readonly measurement: 'exact' | 'partial' | 'unknown' | null
}

/** What an attempt changed, in lines; lines that could not be counted are left out. */
export interface ChangedLines {
  /** Null where none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
  readonly outOfScope: number
}

/** What became of a path in a mission, from the state at its first attempt to the state at its last end. */
export interface MissionFile {
  readonly path: string
  readonly change: ChangeKind
  /** Out when one attempt found it so; null when none declared areas. */
  readonly scope: 'in' | 'out' | null
  /** Null where they could not be counted. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission wrote there too. */
  readonly others: boolean
  readonly attempts: number
  /** The last task that changed it; null where only its new name is not of an attempt. */
  readonly taskId: TaskId | null
}

export interface TimelineReads {
  /** The tasks of a mission, in the order of its plan. */
  tasks(missionId: MissionId, limit: number): Promise<readonly TimelineTask[]>
  /** The last attempts in a mission, oldest first. */
  attempts(missionId: MissionId, limit: number): Promise<readonly TimelineAttempt[]>
  /** Of the same attempts; one that changed nothing is not among them. */
  lines(missionId: MissionId, limit: number): Promise<ReadonlyMap<AttemptId, ChangedLines>>
  /** The files that attempts in a mission changed, out of scope first, then by path. */
  files(missionId: MissionId, limit: number): Promise<readonly MissionFile[]>
  /** How many attempts there are in all. */
  attemptsTotal(missionId: MissionId): Promise<number>
}

export interface RecordFilter {
  readonly missionId?: MissionId
  readonly taskId?: TaskId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Said, or for a closed hold answered, at or after, milliseconds since the epoch. */
  readonly since?: number
}

/** What agents said: newest first. `unblocking` leaves out the issues that wait for a person. */
export interface RecordReads {
  decisions(filter: RecordFilter, request: PageRequest): Promise<Page<Decision>>
  issues(filter: RecordFilter & { readonly unblocking?: boolean }, request: PageRequest): Promise<Page<Issue>>
  progress(filter: RecordFilter, request: PageRequest): Promise<Page<Progress>>
  issue(id: string): Promise<Issue | null>
}

export interface InboxItemFilter extends RecordFilter {
  readonly kinds?: readonly InboxItemKind[]
  readonly status?: 'open' | 'closed'
}

/** A hold with the issue that opened it. */
export interface InboxItemLine {
  readonly hold: InboxItem
  readonly issue: Issue | null
  /** Who acted when it was opened; null where it is not recorded yet. */
  readonly opener: Actor | null
}

export interface InboxItemReads {
  find(id: string): Promise<InboxItem | null>
  /** Who acted when it was opened. */
  opener(id: InboxItem['id']): Promise<Actor | null>
  /** Open ones oldest first, closed ones newest first; `before` is then `after` for open ones. */
  list(filter: InboxItemFilter, request: PageRequest): Promise<Page<InboxItemLine>>
  ofIssue(issueId: string): Promise<InboxItem | null>
  ofAttempt(attemptId: string): Promise<readonly InboxItem[]>
  /** Open holds of a task, oldest first, at most 100. */
  ofTask(taskId: TaskId): Promise<readonly InboxItem[]>
  /** Open holds of a run, oldest first, at most 100. */
  ofRun(runId: string): Promise<readonly InboxItem[]>
  /** The ended holds of a run that were answered in words, newest first. */
  answeredOfRun(runId: string, limit: number): Promise<readonly InboxItem[]>
  /** The open question whether a command may run, by the hash of what is asked. */
  openCommand(hash: string): Promise<InboxItem | null>
  /** Of such hashes the last question that a person said yes or no to, unless that was taken back since. */
  answeredCommands(hashes: readonly string[]): Promise<readonly InboxItem[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

export interface RunFilter {
  readonly status?: RunStatus
  readonly missionId?: MissionId
  readonly taskId?: TaskId
  readonly processId?: string
}

export interface RunSubject {
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
}

/** More attempts at one subject than this are not read. */
export const maxAttempts = 1_000

export interface AttemptChanges extends Pick<AttemptMeasurement, 'unreadable'> {
  readonly attemptId: AttemptId
  readonly measurement: AttemptMeasurement['measurement'] | null
  readonly changes: readonly ScopedPath[]
}

/** `scope` null: no areas were declared. */
export type ScopedPath = Pick<ReportedChange, 'path' | 'from' | 'scope'>

/** A run with all that its engine looks at. */
export interface LoadedRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly visits: readonly Visit[]
  readonly artifacts: readonly StoredArtifact[]
}

export interface RunReads {
  find(id: string): Promise<RunRecord | null>
  /** A fixed number of queries, however long the run is. The definition is parsed once per process and hash. */
  load(id: string): Promise<LoadedRun | null>
  /** Newest first. */
  list(filter: RunFilter, request: PageRequest): Promise<Page<RunRecord>>
  /** Active runs of a mission, and of the tasks at home there or worked on there, at most 100. */
  gating(missionId: MissionId): Promise<readonly RunRecord[]>
  /**
   * Runs of the same that ended failed or cancelled, without a later run of the same definition and subject that
   * succeeded; those of dropped tasks left out. Oldest first, at most 100.
   */
  lost(missionId: MissionId): Promise<readonly RunRecord[]>
  definition(hash: string): Promise<ProcessDefinition | null>
  /** What moved a run, newest first. */
  history(runId: RunId, request: PageRequest): Promise<Page<RunEvent>>
  /** What gave a run this revision; null for the first. */
  eventAt(runId: RunId, revision: number): Promise<RunEvent | null>
  /** The edges that files were handed in from, by the run's revision; those of the record's own machine are not in it. */
  edgesOf(runId: RunId): Promise<ReadonlyMap<number, string>>
  refusals(runId: RunId, request: PageRequest): Promise<Page<RunRefusal>>
  /** How often this event was refused with this code since the run came to this revision's state; with the same tried. */
  refusalsAlike(
    runId: RunId,
    refused: {
      readonly event: string
      readonly code: string
      readonly since: number
      readonly tried?: RunRefusal['tried']
    },
  ): Promise<number>
  /** What the owner's key is bound to in a run; null when it is free, even where another has the same. */
  repeat(
    runId: RunId,
    key: Required<Pick<EventIdempotencyKey, 'key' | 'owner'>>,
  ): Promise<EventIdempotencyKey | null>
  /** Oldest first, at most 1000. */
  approvals(runId: RunId): Promise<readonly RunApproval[]>
  /**
   * The last result of a command line in a folder on a tree, or on any tree. One that a runner handed in counts whatever
   * its folder is called there.
   */
  commandResult(
    command: Pick<CommandResult, 'run' | 'folder'> & { readonly by?: 'runner' },
    tree?: string,
  ): Promise<CommandResult | null>
  /** The commands that were run for a run and have ended, oldest first. */
  commandsOf(runId: RunId, limit: number): Promise<readonly CommandResult[]>
  runningCommands(): Promise<readonly CommandResult[]>
  /** All that a command printed; null where that is in its result. */
  commandOutput(id: CommandResultId): Promise<StoredOutput | null>
  /** Those that are kept of commands which ended before; the size is that of their texts. */
  outputsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** The attempts at a task, or in a mission, first to last, at most 1000. */
  attemptsOf(subject: RunSubject): Promise<readonly Attempt[]>
  /**
   * The measured changes of closed attempts, at most 20,000, all `unknown` when there are more; `measurement` null
   * while an attempt has no end.
   */
  changesOf(attemptIds: readonly AttemptId[]): Promise<readonly AttemptChanges[]>
  /** What the project set, by name; what is not there has its default. */
  settings(): Promise<ReadonlyMap<SettingName, string>>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

export interface ChainCheck {
  readonly facts: number
  /** The first seq whose hash does not follow from the facts before it; null when the chain holds. */
  readonly brokenAt: number | null
}

/** What is kept of a token or a session beside the facts. */
export interface StoredSecret {
  /** SHA-256, hexadecimal. */
  readonly hash: string
  /** When it was last used, at most a minute off; null where it never was. */
  readonly usedAt: number | null
}

/** A membership as it is listed: with the person, and since when. */
export interface MemberListing {
  readonly member: Member
  readonly person: Person
}

export interface TokenListing {
  readonly token: Token
  readonly person: Person
  readonly usedAt: number | null
}

export interface SignInSessionListing {
  readonly session: SignInSession
  readonly person: Person
}

/** Members are those of the project that is asked about; persons, tokens and sessions are the whole server's. */
/** A project of a database as everybody who may see it finds it. */
export interface ProjectListing {
  readonly id: string
  /** As it stands in addresses: lower case, digits and dashes. */
  readonly name: string
  /** Whether people gave it that name; otherwise it is its folder's. */
  readonly named: boolean
  readonly facts: number
  /** Open holds: what waits for people. */
  readonly waiting: number
  readonly openAttempts: number
  /** When the last fact was recorded; null where there is none. */
  readonly lastFactAt: number | null
}

export interface IdentityReads {
  /** The id of the project that is asked about; empty where nothing was recorded in it. */
  readonly project: string
  /** Every project of the database but the reserved one, in the order of their names; at most 1000. */
  projects(): Promise<readonly ProjectListing[]>
  person(id: string): Promise<Person | null>
  /** Who has this id, this e-mail address or this name; at most 10. */
  personsCalled(words: string): Promise<readonly Person[]>
  personOf(issuer: string, subject: string): Promise<Person | null>
  /** Oldest first, at most 1000. */
  persons(): Promise<readonly Person[]>
  /** How many admins there are that are not disabled. */
  admins(): Promise<number>
  /** Oldest first, at most 1000. */
  members(): Promise<readonly MemberListing[]>
  member(personId: string): Promise<Member | null>
  /** How many owners the project has that are not disabled. */
  owners(): Promise<number>
  /** In which projects a person is what; at most 1000. */
  memberships(personId: string): Promise<readonly { readonly projectId: string; readonly member: Member }[]>
  token(id: string): Promise<Token | null>
  /** Tokens that are not revoked, of one person or of all, newest first; at most 1000. */
  /** The valid tokens that were made with these, directly or through others. */
  tokensMadeWith(ids: readonly string[]): Promise<readonly Token[]>
  /** The valid tokens that a person made for other people. */
  tokensMadeForOthers(personId: string): Promise<readonly Token[]>
  tokens(of: { readonly personId?: string; readonly revoked?: boolean }): Promise<readonly TokenListing[]>
  session(id: string): Promise<SignInSession | null>
  /** Sessions that neither ended nor are too old, newest first; at most 1000. */
  sessions(of: { readonly personId?: string; readonly now: number }): Promise<readonly SignInSessionListing[]>
  /** Null for what was revoked or ended, or came without its secret, as from an export. */
  secret(of: TokenId | SessionId): Promise<StoredSecret | null>
}

export interface NotificationReads {
  /** In the order in which they were added, with the facts that did; at most 200. */
  all(): Promise<readonly SequencedItem<Notification>[]>
  /** Null for what came without it, as from an export, and for a desktop. */
  address(id: string): Promise<{ readonly url: string; readonly secret: string | null } | null>
  /** How far the journal was read for notices; null where it was not yet. */
  cursor(): Promise<number | null>
  /** What is to be sent, each notification's in order: the first 100 of each. */
  waiting(): Promise<readonly NoticeDelivery[]>
  notice(id: string): Promise<NoticeDelivery | null>
  /** The last one of a notification that ended so. */
  last(id: string, state: NoticeState): Promise<NoticeDelivery | null>
  /** Which of these holds are open. */
  openAmong(holds: readonly string[]): Promise<ReadonlySet<string>>
}

/** What somebody is told by a notification, and how that went. Times are milliseconds since the epoch. */
export interface NoticeDelivery {
  readonly id: string
  readonly notificationId: string
  readonly seq: number
  readonly about: Notice
  readonly cameAt: number
  readonly state: NoticeState
  /** As it is sent, from the first try on; null before. */
  readonly body: string | null
  readonly tries: number
  readonly dueAt: number
  /** Somebody tries it until then. */
  readonly leasedUntil: number
  readonly endedAt: number | null
  readonly trouble: string | null
}

/** A snapshot of a work tree that the journal knows of. */
export interface TreeBoundary {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly place: SnapshotLocation
}

/** An attempt that made lines, with what it was for. */
export interface LineAuthor {
  readonly attempt: Attempt
  readonly taskName: string
  readonly goal: string | null
  readonly missionName: string | null
  /** As its client's hooks told; null where they did not. */
  readonly model: string | null
  /** The client's session that it is from, as the client itself names it; null where hooks told of none. */
  readonly session: { readonly client: string; readonly name: string } | null
}

/** A turn of an agent that made lines without a task. */
export interface TurnAuthor {
  readonly turnId: TurnId
  readonly sessionId: CaptureSessionId
  readonly client: string
  readonly model: string | null
}

export interface LineReads {
  /** What the hashes of the project's lines begin with: the same wherever its journal goes. */
  salt(): Promise<string>
  /** The last snapshot of a work tree at the start or the end of an attempt or of a turn, until a time. */
  lastBoundary(tree: string, until?: number): Promise<TreeBoundary | null>
  /** When the first lines were recorded, milliseconds since the epoch. */
  since(): Promise<number | null>
  /** Of which files lines were recorded, in order. */
  paths(most: number): Promise<readonly string[]>
  /** The steps of some paths, also those that gave them another name. */
  stepsOf(paths: readonly string[]): Promise<readonly LineStep[]>
  /** The steps that some lines are marks of, those with the most first. */
  stepsMarked(marks: readonly string[], limit: number): Promise<readonly LineStep[]>
  makers(ids: readonly string[]): Promise<readonly LineAuthor[]>
  /** Of turns of agents, by their ids. */
  turnMakers(ids: readonly string[]): Promise<readonly TurnAuthor[]>
  /** How many lines that are not blank each of the last 2,000 attempts with lines added net at its end. */
  addedBy(): Promise<readonly { readonly attemptId: string; readonly lines: number }[]>
  /** The steps with hashes that attempts or turns made, or may have made. */
  stepsMadeBy(makers: readonly string[]): Promise<readonly StepPosition[]>
}

export interface EventLogReads {
  /** Facts with `seq > after`, in order. */
  since(after: number, limit: number): Promise<readonly ProjectEvent[]>
  /** Facts with `seq < before`, newest first. */
  latest(request: { readonly before?: number; readonly limit: number }): Promise<readonly ProjectEvent[]>
  /** The last seq; 0 before the first fact. */
  head(): Promise<number>
  /** The last seq before a time, milliseconds since the epoch; 0 where there is none. */
  seqBefore(time: number): Promise<number>
  /** When the first of what came after a seq happened; null where nothing did. */
  timeAfter(seq: number): Promise<number | null>
  /** Hashes the whole journal again. */
  verify(): Promise<ChainCheck>
}

/** A machine where agents work, as it was last heard of. */
export interface RemoteMachineRecord {
  readonly id: string
  readonly name: string
  /** The name of the token that it came with. */
  readonly token: string
  readonly version: string
  readonly seenAt: number
}

export interface StoredOutput {
  /** Null where it was removed because its time was over. */
  readonly text: string | null
  readonly bytes: number
  readonly removedAt: number | null
}

export interface StoredDiff {
  /** Null where it was removed because its time was over. */
  readonly text: string | null
  /** Of the text. */
  readonly sha256: string
  readonly bytes: number
  /** Whether there was more of it. */
  readonly cut: boolean
}

export interface RemoteMachineReads {
  /** The last seen first. */
  all(): Promise<readonly RemoteMachineRecord[]>
  /** Null for one that was never heard of. */
  heard(id: string): Promise<RemoteMachineRecord | null>
  diff(attemptId: string): Promise<StoredDiff | null>
  /** Those that are kept of attempts which ended before; the size is that of their texts. */
  diffsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** Until when a command is believed to run; null where nobody said so. */
  leasedUntil(commandId: string): Promise<number | null>
}

export interface StatsFilter {
  /** Only what ended at or after, milliseconds since the epoch. */
  readonly since: number | null
  readonly missionId: MissionId | null
  /** Most rows of each kind, newest first. */
  readonly limit: number
}

export interface StatReads {
  /** What figures are made of, by a fixed number of queries. `isCut` says that older rows were left out. */
  records(scope: StatsFilter): Promise<{ readonly records: StatRecords; readonly isCut: boolean }>
}
