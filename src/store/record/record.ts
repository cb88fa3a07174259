import type { Kysely } from 'kysely'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { beforeFirst, eventRows } from '../../events/log/event-log.ts'
import { sealLineHashes } from '../../events/log/line-seals.ts'
import { withAgentName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { IdSource, ProjectId } from '../../kernel/id.ts'
import { processEnd } from '../../kernel/process-end.ts'
import { isServerEventKind, serverProject } from '../../people/domain/identity.ts'
import { writeSecretRows } from '../../people/tables/secret.ts'
import { makeHeights } from '../../plan/tables/dependency.ts'
import { assertProjectNotEnded, type ProjectState, projectState } from '../../project/tables/project-end.ts'
import { renameProject } from '../../project/tables/project-name.ts'
import { toWellFormed } from '../fingerprint.ts'
import type { DecidedChangeSet, RecordRequest, SideWrite } from '../ports/store.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import { projectEventIntoTables } from '../tables/projections.ts'
import { insertRow, prepareQuery, splitIntoBatches } from '../tables/query.ts'
import { readsOf } from '../tables/reads.ts'
import type { ReadScope, Tables } from '../tables/tables.ts'
import { storeAnswer, storedAnswer } from './idempotency.ts'
import { markRootSeen, type ResolvedProject } from './project.ts'

export interface RecordResult<Answer> {
  readonly answer: Answer
  /** As it is now. Null when nothing was written and there is no project yet. */
  readonly project: ResolvedProject | null
  /** The last log entry of the log, by which it is told whether this was committed. Null when there was no log entry. */
  readonly last: { readonly seq: number; readonly head: string } | null
}

/** Runs inside the one write transaction, which holds the project until it ends. */
export async function record<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: RecordTarget,
): Promise<RecordResult<Answer>> {
  const decision = await decideWithReads(db, request, place)
  return 'recorded' in decision ? decision.recorded : append(db, request, place, decision)
}

/** One of several that are recorded in one transaction. */
export interface BatchMember {
  readonly request: RecordRequest<unknown>
  readonly place: RecordTarget & { readonly found: ResolvedProject }
}

export interface BatchOutcome {
  /** Of each member, in order: what was recorded, or the refusal of that one alone. */
  readonly results: readonly PromiseSettledResult<RecordResult<unknown>>[]
  /** The last log entry of all. */
  readonly last: RecordResult<unknown>['last']
}

/**
 * The same for several records of one project, one after the other: each sees what those before it wrote. A member that
 * is refused has written nothing and holds up nobody; any other error is one of all.
 */
export async function recordGroup(
  db: Kysely<Tables>,
  members: readonly BatchMember[],
  locked: Promise<void>,
): Promise<BatchOutcome> {
  const results: PromiseSettledResult<RecordResult<unknown>>[] = []
  let last: RecordResult<unknown>['last'] = null
  for (const { request, place } of members) {
    const decision = await decideWithReads(db, request, { ...place, locked }).catch(refusal)
    if (decision instanceof Failure) {
      results.push({ status: 'rejected', reason: decision })
      continue
    }
    const value = 'recorded' in decision ? decision.recorded : await append(db, request, place, decision)
    results.push({ status: 'fulfilled', value })
    last = value.last ?? last
  }
  return { results, last }
}

function refusal(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}

export interface RecordTarget {
  readonly root: string
  readonly ids: IdSource
  readonly found: ResolvedProject | null
  readonly project?: string
  /** The question for the lock, where what is asked next goes out behind it. */
  readonly locked?: Promise<void>
}

type RecordOutcome<Answer> =
  /** Answered before, under the same idempotency key. */
  | { readonly recorded: RecordResult<Answer> }
  | {
      readonly project: AppendTarget['project']
      readonly state: ProjectState | null
      readonly decided: DecidedChangeSet<Answer>
    }

/** Writes nothing. */
async function decideWithReads<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: RecordTarget,
): Promise<RecordOutcome<Answer>> {
  const { idempotency } = request
  const { found } = place
  const project = found
    ? { ...found, exists: true }
    : { id: place.project ?? place.ids.next('project'), rootKnown: false, exists: false }
  const reads = readsOf({ db, projectId: project.id })
  const asked = Promise.all([
    idempotency && found ? storedAnswer(db, found.id, idempotency) : null,
    projectState(db, project.id),
  ])
  asked.catch(() => undefined) // without the lock, what is said of it comes first
  await place.locked
  const [stored, state] = await asked
  if (stored) return { recorded: { answer: stored.answer as Answer, project: found, last: null } } // stored as this very answer
  if (state && request.reopens !== true) assertProjectNotEnded(state)
  const decided = await request.decide(reads)
  if (project.id === serverProject) assertServerEvents(decided.events)
  return { project, state, decided }
}

async function append<Answer>(
  db: Kysely<Tables>,
  { idempotency: key, actor: caller, at }: RecordRequest<Answer>,
  { root, found }: RecordTarget,
  { project, state, decided }: Exclude<RecordOutcome<Answer>, { readonly recorded: unknown }>,
): Promise<RecordResult<Answer>> {
  const { events } = decided
  const idempotency = 'refused' in decided ? undefined : key
  const actor = withAgentName(caller, decided.agentName)
  const beside = decided.beside ?? []
  const isWritten = events.length > 0 || idempotency !== undefined || beside.length > 0
  const last = isWritten ? await appendEvents({ db, root, project, state }, events, { actor, at }) : null
  for (const one of beside) if (one.kind === 'project made') await createProject(db, one, { actor, at })
  await writeSecretRows({ db, projectId: project.id }, beside)
  const answer = await answerTo(decided, { db, projectId: project.id })
  if (!isWritten) return { answer, project: found, last }
  if ('binds' in decided && decided.binds) {
    const { idempotency: bound, answer: stored } = decided.binds
    await storeAnswer(db, bound, { projectId: project.id, answer: stored, seq: last?.seq ?? 0, at })
  }
  if (idempotency)
    await storeAnswer(db, idempotency, { projectId: project.id, answer, seq: last?.seq ?? 0, at })
  return { answer, project: { id: project.id, rootKnown: true }, last: events.length > 0 ? last : null }
}

async function answerTo<Answer>(decided: DecidedChangeSet<Answer>, scope: ReadScope): Promise<Answer> {
  if ('answerFrom' in decided) return decided.answerFrom(readsOf(scope))
  // A refusal has none: the caller is told why.
  return 'answer' in decided ? decided.answer : (null as Answer)
}

/** Whatever asks for it: nothing is worked at in the reserved project. */
function assertServerEvents(events: readonly NewProjectEvent[]): void {
  const strange = events.find(({ kind }) => !isServerEventKind(kind))
  if (!strange) return
  throw new Failure('REFUSED', `The reserved project "${serverProject}" holds only people and tokens.`, {
    reason: 'project_name_reserved',
    hint: 'An admin can create a project: waymark project add <name>. Work in that one.',
  })
}

/** A project of its own beside the one that is written to, which nobody else can know yet. */
async function createProject(
  db: Kysely<Tables>,
  { id, name, events }: Extract<SideWrite, { readonly kind: 'project made' }>,
  by: RecordAuthor,
): Promise<void> {
  await appendEvents(
    { db, root: '', project: { id, rootKnown: true, exists: false }, state: null },
    events,
    by,
  )
  await renameProject(db, id, name)
}

export interface AppendTarget {
  readonly db: Kysely<Tables>
  readonly root: string
  /** The id that the project gets if it is not there yet. */
  readonly project: ResolvedProject & { readonly exists: boolean }
  /** How far it has come; null for a new one. */
  readonly state: ProjectState | null
}

type RecordAuthor = Pick<RecordRequest<unknown>, 'actor' | 'at'>

/** Applies what happened and appends it to the log, the log entries last. Answers the last one. */
async function appendEvents(
  log: AppendTarget,
  events: readonly NewProjectEvent[],
  by: RecordAuthor,
): Promise<RecordHead> {
  // What was gathered may lack what could no longer be measured.
  processEnd.throwIfAborted()
  const { db, root, project, state } = log
  const id = project.id as ProjectId // a brand
  const all: readonly NewProjectEvent[] = project.exists
    ? events
    : [{ kind: 'project.created', id, root }, ...events]
  const head = state ? { seq: state.seq, head: state.hash } : { seq: 0, head: beforeFirst }
  const heightsLater = all.filter(({ kind }) => kind === 'dependency.added').length > fewLinks
  const pause = createYielder()
  for (const [index, event] of all.entries()) {
    const key = { projectId: id, seq: head.seq + 1 + index }
    const projecting = { db, ...key, at: by.at, actor: by.actor, heightsLater }
    // As the log keeps it, so that the tables are the same when they are restored from there.
    await projectEventIntoTables(projecting, toWellFormed(event))
    const waits = pause()
    if (waits) await waits
  }
  if (heightsLater) await makeHeights({ db, projectId: id })
  if (project.exists && !project.rootKnown) await markRootSeen({ db, projectId: id, at: by.at }, root)
  let last = head
  for (const batch of splitIntoBatches(sealLineHashes(all))) {
    const rows = eventRows({ projectId: id, ...by }, batch, last)
    const row = rows.at(-1)
    if (row && rows.length === 1) await insertRow(db, 'project_event', { ...row })
    else await db.insertInto('project_event').values(rows).execute()
    if (row) last = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await advanced(db, last.seq, last.head, id)
  return last
}

const advanced = prepareQuery((db, seq: number, head: string, id: string) =>
  db.updateTable('project').set({ seq, head }).where('id', '=', id),
)

/** With more, as an import has them, the heights of tasks are made once. */
export const fewLinks = 20

interface RecordHead {
  readonly seq: number
  readonly head: string
}
