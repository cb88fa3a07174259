import type { OutputOf } from '../../src/surfaces/http/client/client.ts'

// What the dashboard shows, by name. Every type is that of an answer: the operations say what it has.

export type BoardColumn = keyof OutputOf<'board'>['columns']
export type BoardCard = OutputOf<'board'>['columns'][BoardColumn][number]
export type MeasurementData = NonNullable<BoardCard['measured']>
export type InboxItemData = OutputOf<'inbox'>['items'][number]
/** An inbox item with its evidence. */
export type InboxCard = Omit<InboxItemData, 'evidence'> & NonNullable<InboxItemData['evidence']>

export type MissionData = OutputOf<'list_missions'>['missions'][number]
export type TaskData = Extract<OutputOf<'show'>, { kind: 'task' }>
export type AttemptData = TaskData['attempts'][number]
export type TaskLinks = NonNullable<TaskData['links']>
export type LinkedTask = TaskLinks['depends_on'][number]
export type NoteData = OutputOf<'taskman_task_note_list'>['notes'][number]
export type RestoreData = OutputOf<'restore'>
export type ChangesData = OutputOf<'changes'>
export type ChangeData = ChangesData['changes'][number]

export type Timeline = OutputOf<'mission_timeline'>
export type MissionFileData = OutputOf<'mission_changes'>['files'][number]
export type PlanPhase = OutputOf<'plan_show'>['phases'][number]
export type PlanTask = PlanPhase['tasks'][number]
export type ProjectStatus = OutputOf<'status'>
export type LogEntry = OutputOf<'log'>['events'][number]
export type WorkingAttempt = ProjectStatus['running'][number]
export type RemoteMachineData = OutputOf<'machine_list'>['machines'][number]

export type ReviewData = OutputOf<'review_show'>
export type ReviewFileRow = ReviewData['files'][number]
export type ReviewCommentData = ReviewData['comments'][number]
export type ReviewDraft = ReviewData['drafts'][number]
export type ReviewedFileData = OutputOf<'review_file'>

export type BlameData = OutputOf<'blame'>
export type LineWhy = OutputOf<'why'>

export type SessionData = OutputOf<'sessions'>['sessions'][number]
export type TurnData = OutputOf<'sessions_show'>['turns'][number]

export type RunData = OutputOf<'state_gate_list_runs'>['runs'][number]
export type RunPage = Extract<OutputOf<'show'>, { kind: 'run' }>
export type TransitionOption = RunPage['transitions'][number]
export type StateMachineData = RunPage['machine']
export type RunHistory = OutputOf<'run_history'>
export type RunEventData = RunHistory['events'][number]
export type RunRefusalData = RunHistory['refusals'][number]
export type RunApprovalData = RunHistory['approvals'][number]
export type Process = OutputOf<'process_show'>
export type ProcessSourceData = NonNullable<Process['source']>
export type ListedProcess = OutputOf<'process_list'>['processes'][number]

export type MemberData = OutputOf<'member_list'>['members'][number]
export type PersonData = OutputOf<'person_list'>['people'][number]
export type TokenData = OutputOf<'token_list'>['tokens'][number]
export type CreatedToken = OutputOf<'token_create'>
export type Invitation = OutputOf<'invitation_create'>
export type SignInSessionData = OutputOf<'session_list'>['sessions'][number]
