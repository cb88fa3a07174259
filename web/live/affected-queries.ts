import type { Frame, FrameEntity, InputOf, OperationName } from '../../src/surfaces/http/client/client.ts'
import type { IdentityFrameKind } from './feed.ts'

interface QueryDependency {
  /** The kinds of entities that an answer shows. */
  readonly of: readonly FrameEntity[] | 'everything'
  /** The field of the input that names what the query is about, and the field of a frame's entity that may name another. */
  readonly about?: { readonly input: string; readonly data: string }
  /** What is there already may change as it likes. */
  readonly created?: true
}

const plan = ['task', 'phase', 'milestone', 'mission', 'workflow', 'inbox', 'setting'] as const
const ofMission = { input: 'id', data: 'mission_id' } as const
const ofTask = { input: 'id', data: 'task_id' } as const
const ofRun = { input: 'run_id', data: 'run_id' } as const

/** What the page of a run is read again for. */
const shownRun: QueryDependency = {
  of: ['run', 'task', 'phase', 'mission', 'workflow', 'inbox', 'issue', 'progress', 'command', 'setting'],
  about: { input: 'id', data: 'run_id' },
}

/** What each query that a page shows is read again for. A query that is not here is not live. */
const table = {
  status: { of: ['project', 'writing', 'mission', 'workflow', 'task', 'inbox'] },
  machine_list: { of: ['mission', 'workflow', 'task', 'inbox', 'progress', 'decision'] },
  board: { of: ['task', 'mission', 'workflow', 'inbox', 'progress', 'setting'] },
  inbox: { of: ['inbox', 'issue', 'task', 'mission', 'workflow', 'run', 'command', 'note', 'setting'] },
  list_missions: { of: ['mission', 'workflow', 'task', 'phase', 'inbox'] },
  mission_timeline: { of: 'everything', about: ofMission },
  mission_changes: { of: ['task'], about: ofMission },
  get_context: { of: ['decision'], about: { input: 'mission_id', data: 'mission_id' } },
  plan_show: { of: plan },
  plan_dependencies: { of: plan },
  show: { of: 'everything', about: ofTask },
  taskman_task_note_list: { of: ['note', 'task'], about: ofTask },
  changes: { of: 'everything' },
  review_show: { of: ['review', 'task', 'inbox', 'mission', 'workflow', 'run', 'setting'] },
  diff: { of: [] },
  provenance_stats: { of: [] },
  blame: { of: ['lines', 'task', 'mission', 'workflow'] },
  why: { of: ['lines', 'task', 'mission', 'workflow', 'decision', 'inbox'] },
  sessions: { of: ['captured_session', 'turn'] },
  sessions_show: { of: ['turn'], about: { input: 'id', data: 'session_id' } },
  sessions_diff: { of: [] },
  search: { of: ['mission', 'workflow', 'task', 'run'], created: true },
  log: { of: 'everything' },
  stats: { of: ['task', 'mission', 'workflow', 'inbox', 'run'] },
  doctor: { of: [] },
  state_gate_list_runs: { of: ['run'] },
  process_list: { of: ['run', 'process'] },
  process_show: { of: ['run', 'process', 'command'] },
  // Persons, tokens and sessions are the server's: see `listenToIdentities` in feed.ts.
  member_list: { of: ['member', 'person'] },
  person_list: { of: ['person', 'member'] },
  token_list: { of: ['token', 'person', 'member'] },
  notify_list: { of: ['notification'] },
  setting_list: { of: ['setting'] },
  command_list: { of: ['command', 'inbox'] },
  session_list: { of: ['session', 'token', 'person'] },
  run_history: { of: ['run', 'inbox', 'command'], about: ofRun },
} as const satisfies Partial<Record<OperationName, QueryDependency>>

export type LiveQueryName = keyof typeof table

/** Whether a query shows persons, tokens or sessions of the server. */
export function isAffectedByIdentities(name: LiveQueryName, kinds: readonly IdentityFrameKind[]): boolean {
  const { of }: QueryDependency = table[name]
  return of !== 'everything' && kinds.some((kind) => of.includes(kind))
}

/** Whether a log entry may have changed what a query answers. */
export function isAffectedBy<Name extends LiveQueryName>(
  name: Name,
  input: InputOf<Name>,
  { event, data }: Frame,
): boolean {
  const own = input as Readonly<Record<string, unknown>>
  const isRun = name === 'show' && String(own['id']).startsWith('run-')
  const { of, about, created }: QueryDependency = isRun ? shownRun : table[name]
  const [entity, happened] = event.split(':')
  if (of !== 'everything' && !of.some((kind) => kind === entity)) return false
  if (created && happened !== 'created') return false
  if (!about) return true
  const other = data?.[about.data]
  return typeof other !== 'string' || other.startsWith(String(own[about.input])) // an address may have the beginning of an id
}
