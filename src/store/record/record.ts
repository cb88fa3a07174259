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
  /** The current project. Null when nothing was written and there is no project yet. */
  readonly project: ResolvedProject | null
  /** The last log entry, which identifies the commit, and the number that it added. Null without log entries. */
  readonly last: (RecordHead & { readonly added: number }) | null
}

/** Runs inside the one write transaction, which locks the project until it ends. */
export async function record<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: RecordTarget,
): Promise<RecordResult<Answer>> {
  const decision = await decideWithReads(db, request, place)
  return 'recorded' in decision ? decision.recorded : append(db, request, place, decision)
}

/** One of several records in one transaction. */
export interface BatchMember {
  readonly request: RecordRequest<unknown>
  readonly place: RecordTarget & { readonly found: ResolvedProject }
}

export interface BatchOutcome {
  /** For each member, in order: its result, or its own refusal. */
  readonly results: readonly PromiseSettledResult<RecordResult<unknown>>[]
  /** The last log entry of all. */
  readonly last: RecordResult<unknown>['last']
}

/** Records several requests of one project in order; each sees the earlier ones' writes. A refused member writes nothing, other errors fail all. */
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
  /** The pending lock: later queries are sent behind it. */
  readonly locked?: Promise<void>
}

type RecordOutcome<Answer> =
  /** A repeat under the same idempotency key. */
  | { readonly recorded: RecordResult<Answer> }
  | {
      readonly project: AppendTarget['project']
      readonly state: ProjectState | null
      readonly decided: DecidedChangeSet<Answer>
    }

/** Only reads. */
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
  const idempotencyAndState = Promise.all([
    idempotency && found ? storedAnswer(db, found.id, idempotency) : null,
    projectState(db, project.id),
  ])
  idempotencyAndState.catch(() => undefined) // an error of the lock is reported first
  await place.locked
  const [stored, state] = await idempotencyAndState
  if (stored) return { recorded: { answer: stored.answer as Answer, project: found, last: null } } // stored as this answer type
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
  const isProvisional = 'isProvisional' in decided && decided.isProvisional === true
  const idempotency = 'refused' in decided || isProvisional ? undefined : key
  const actor = withAgentName(caller, decided.agentName)
  const sideWrites = decided.sideWrites ?? []
  const isWritten = events.length > 0 || idempotency !== undefined || sideWrites.length > 0
  const last = isWritten ? await appendEvents({ db, root, project, state }, events, { actor, at }) : null
  for (const one of sideWrites) if (one.kind === 'project made') await createProject(db, one, { actor, at })
  await writeSecretRows({ db, projectId: project.id }, sideWrites)
  const answer = await answerTo(decided, { db, projectId: project.id })
  if (!isWritten) return { answer, project: found, last: null }
  if ('binds' in decided && decided.binds) {
    const { idempotency: bound, answer: stored } = decided.binds
    await storeAnswer(db, bound, { projectId: project.id, answer: stored, seq: last?.seq ?? 0, at })
  }
  if (idempotency)
    await storeAnswer(db, idempotency, { projectId: project.id, answer, seq: last?.seq ?? 0, at })
  const added = events.length
  return {
    answer,
    project: { id: project.id, rootKnown: true },
    last: last && added > 0 ? { ...last, added } : null,
  }
}

async function answerTo<Answer>(decided: DecidedChangeSet<Answer>, scope: ReadScope): Promise<Answer> {
  if ('answerFrom' in decided) return decided.answerFrom(readsOf(scope))
  // A refusal has no answer: its failure is thrown.
  return 'answer' in decided ? decided.answer : (null as Answer)
}

/** The reserved project accepts only server events, whoever calls. */
function assertServerEvents(events: readonly NewProjectEvent[]): void {
  const unexpected = events.find(({ kind }) => !isServerEventKind(kind))
  if (!unexpected) return
  throw new Failure('REFUSED', `The reserved project "${serverProject}" holds only people and tokens.`, {
    reason: 'project_name_reserved',
    hint: 'An admin can create a project: waymark project add <name>. Work in that one.',
  })
}

/** A new project, created within a write to another one. */
async function createProject(
  db: Kysely<Tables>,
  { id, name, events }: Extract<SideWrite, { readonly kind: 'project made' }>,
  author: RecordAuthor,
): Promise<void> {
  await appendEvents(
    { db, root: '', project: { id, rootKnown: true, exists: false }, state: null },
    events,
    author,
  )
  await renameProject(db, id, name)
}

export interface AppendTarget {
  readonly db: Kysely<Tables>
  readonly root: string
  /** The id that a new project gets. */
  readonly project: ResolvedProject & { readonly exists: boolean }
  /** The end of its log; null for a new one. */
  readonly state: ProjectState | null
}

type RecordAuthor = Pick<RecordRequest<unknown>, 'actor' | 'at'>

/** Applies the events to the tables and appends them to the log. Returns the end of the log. */
async function appendEvents(
  log: AppendTarget,
  events: readonly NewProjectEvent[],
  author: RecordAuthor,
): Promise<RecordHead> {
  // A measurement that was cut off by the process ending may be incomplete.
  processEnd.throwIfAborted()
  const { db, root, project, state } = log
  const id = project.id as ProjectId // a brand
  const all: readonly NewProjectEvent[] = project.exists
    ? events
    : [{ kind: 'project.created', id, root }, ...events]
  const head = state ? { seq: state.seq, head: state.hash } : { seq: 0, head: beforeFirst }
  const heightsLater = all.filter(({ kind }) => kind === 'dependency.added').length > maxIncrementalLinks
  const pause = createYielder()
  for (const [index, event] of all.entries()) {
    const key = { projectId: id, seq: head.seq + 1 + index }
    const projecting = { db, ...key, at: author.at, actor: author.actor, heightsLater }
    // In the form of the log, so that a restore yields the same tables.
    await projectEventIntoTables(projecting, toWellFormed(event))
    const waits = pause()
    if (waits) await waits
  }
  if (heightsLater) await makeHeights({ db, projectId: id })
  if (project.exists && !project.rootKnown) await markRootSeen({ db, projectId: id, at: author.at }, root)
  let last = head
  for (const batch of splitIntoBatches(sealLineHashes(all))) {
    const rows = eventRows({ projectId: id, ...author }, batch, last)
    const row = rows.at(-1)
    if (row && rows.length === 1) await insertRow(db, 'project_event', { ...row })
    else await db.insertInto('project_event').values(rows).execute()
    if (row) last = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await advanceProject(db, last.seq, last.head, id)
  return last
}

const advanceProject = prepareQuery((db, seq: number, head: string, id: string) =>
  db.updateTable('project').set({ seq, head }).where('id', '=', id),
)

/** Above this limit, as in an import, task heights are computed once at the end. */
export const maxIncrementalLinks = 20

interface RecordHead {
  readonly seq: number
  readonly head: string
}
