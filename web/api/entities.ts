import type { OutputOf } from '../../src/surfaces/http/client/client.ts'

// What the dashboard shows, by name. Every type is that of an answer: the operations say what it has.

export type BoardColumn = keyof OutputOf<'board'>['columns']
export type BoardCard = OutputOf<'board'>['columns'][BoardColumn][number]
export type Measured = NonNullable<BoardCard['measured']>
export type InboxItem = OutputOf<'inbox'>['holds'][number]
/** An inbox item with its evidence. */
export type InboxCard = Omit<InboxItem, 'evidence'> & NonNullable<InboxItem['evidence']>

export type Mission = OutputOf<'list_missions'>['missions'][number]
export type TaskDetail = Extract<OutputOf<'show'>, { kind: 'task' }>
export type AttemptDetail = TaskDetail['attempts'][number]
export type TaskLinks = NonNullable<TaskDetail['links']>
export type LinkedTask = TaskLinks['depends_on'][number]
export type Changes = OutputOf<'changes'>
export type Change = Changes['changes'][number]

export type Timeline = OutputOf<'mission_timeline'>
export type MissionFile = OutputOf<'mission_changes'>['files'][number]
export type PlanPhase = OutputOf<'plan_show'>['phases'][number]
export type PlanTask = PlanPhase['tasks'][number]
export type ProjectStatus = OutputOf<'status'>
export type JournalFact = OutputOf<'log'>['facts'][number]
export type WorkingAttempt = ProjectStatus['running'][number]
export type Edge = OutputOf<'edge_list'>['edges'][number]
export type Names = OutputOf<'search'>

export type ReviewShown = OutputOf<'review_show'>
export type ShownFile = ReviewShown['files'][number]
export type ReviewComment = ReviewShown['comments'][number]
export type ReviewDraft = ReviewShown['drafts'][number]
export type ReviewedFile = OutputOf<'review_file'>

export type BlamedFile = OutputOf<'blame'>
export type LineWhy = OutputOf<'why'>

export type Session = OutputOf<'sessions'>['sessions'][number]
export type Turn = OutputOf<'sessions_show'>['turns'][number]

export type Run = OutputOf<'state_gate_list_runs'>['runs'][number]
export type RunPage = Extract<OutputOf<'show'>, { kind: 'run' }>
export type Way = RunPage['ways'][number]
export type Machine = RunPage['machine']
export type RunHistory = OutputOf<'run_history'>
export type RunEvent = RunHistory['events'][number]
export type RunRefusal = RunHistory['refusals'][number]
export type RunApproval = RunHistory['approvals'][number]
export type Process = OutputOf<'process_show'>
export type ProcessSource = NonNullable<Process['source']>
export type ListedProcess = OutputOf<'process_list'>['processes'][number]

export type Member = OutputOf<'member_list'>['members'][number]
export type Person = OutputOf<'person_list'>['persons'][number]
export type Token = OutputOf<'token_list'>['tokens'][number]
export type MadeToken = OutputOf<'token_create'>
export type Invitation = OutputOf<'invitation_create'>
export type SignedIn = OutputOf<'session_list'>['sessions'][number]
